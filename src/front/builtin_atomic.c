/* builtin_atomic.c -- atomic updates of one element or of a tile. */
#include "front/builtin.h"

static const char *const orders[] = {"relaxed", "consume", "acquire",
                                     "release", "acq_rel", "seq_cst", NULL};

static const char *order_of(BuiltinCall *c, int i)
{
    return arg_given(c, i) ? arg_word(c, i, orders, " [memory-order]") : NULL;
}

static bool is_tile(const Value *v)
{
    return (v->kind == V_BUFFER && v->u.buf->rank > 0) || (v->kind == V_REGION && !v->is_element);
}

static Var *old_value(BuiltinCall *c, const Buffer *b)
{
    return var_new(c->ev->ir, "old", b->type, c->span);
}

static void check_dst(BuiltinCall *c, const Buffer *b)
{
    if (b->scope != MEM_GLOBAL && b->scope != MEM_SHARED)
        arg_fail(c, 0, "must be in global or shared memory; '%s' is in %s [atomic-scope]",
                 b->name, mem_name(b->scope));
}

/* The element form: dst[i] op= value; the old value when asked for. */
static Value element(BuiltinCall *c, AtomicOp op, const char *order, bool want_old)
{
    Ir *ir = c->ev->ir;
    bool is_element;
    Region dst = arg_region(c, 0, &is_element);
    check_dst(c, dst.buf);
    const Expr *v = cast_value(c->ev, c->arg_span[1], dst.buf->type, 1, &c->arg[1],
                               call_what(c, 1));
    Var *old = want_old ? old_value(c, dst.buf) : NULL;
    call_emit(c, stmt_atomic(ir, c->span, op, dst.buf, dst.at, dst.buf->rank, v, order, old));
    return old ? value_expr(c->ev, expr_var(ir, old)) : value_none();
}

/* A destination that is only a start takes the value's extents. */
static Region tile_dst(BuiltinCall *c, const Region *value)
{
    bool is_element;
    Region dst = arg_region(c, 0, &is_element);
    check_dst(c, dst.buf);
    if (!is_element || !value)
        return dst;
    int n = dst.buf->rank, m = value->buf->rank;
    const Expr **extent = NEWN(c->ev->arena, const Expr *, n + 1);
    for (int d = 0; d < n; d++)
        extent[d] = d < n - m ? expr_int(c->ev->ir, 1) : value->extent[d - (n - m)];
    for (int d = 0; d < m - n; d++)
        if (!region_extent_is(value, d, 1))
            arg_fail(c, 1, "has extents %s, too many dimensions for '%s' [copy-shape]",
                     extents_text(c->ev, value), dst.buf->name);
    dst.extent = extent;
    return dst;
}

static Value tile(BuiltinCall *c, const char *kind, const char *order, bool use_tma, int notes)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    Region r[2];
    const Expr *scalar = NULL;
    int n = 0;
    if (is_tile(&c->arg[1])) {
        bool is_element;
        r[n++] = arg_region(c, 1, &is_element);
        r[n] = tile_dst(c, &r[0]);
    } else {
        r[n] = tile_dst(c, NULL);
        scalar = cast_value(c->ev, c->arg_span[1], r[n].buf->type, 1, &c->arg[1], call_what(c, 1));
    }
    n++;
    if (order)
        hints_text(c->ev, &h, "memory_order", order);
    if (use_tma)
        diag_ignored(c->ev->diag, c->span, "use_tma",
                     "threads add the tile element by element [ignored]");
    notes_dict(c, notes, &h);
    return call_emit(c, stmt_tile(ir, c->span, &op_atomic, n, r, scalar != NULL, &scalar, kind, h));
}

static Value update(BuiltinCall *c, AtomicOp op, const char *kind, int tma, int notes)
{
    call_kernel(c);
    const char *order = order_of(c, 2);
    bool want_old = arg_bool(c, 3);
    if (!is_tile(&c->arg[0]) && !is_tile(&c->arg[1]))
        return element(c, op, order, want_old);
    if (want_old)
        arg_fail(c, 3, "is for single elements, not for tiles [atomic-tile]");
    return tile(c, kind, order, tma >= 0 && arg_bool(c, tma), notes);
}

Value do_atomic_add(BuiltinCall *c) { return update(c, ATOMIC_ADD, "add", 4, 5); }
Value do_atomic_max(BuiltinCall *c) { return update(c, ATOMIC_MAX, "max", -1, 4); }
Value do_atomic_min(BuiltinCall *c) { return update(c, ATOMIC_MIN, "min", -1, 4); }

Value do_atomic_or(BuiltinCall *c)
{
    bool is_element;
    call_kernel(c);
    Region dst = arg_region(c, 0, &is_element);
    if (!dtype_is_int(dst.buf->type))
        arg_fail(c, 0, "must hold integers, not %s [argument-type]", dtype_name(dst.buf->type));
    return element(c, ATOMIC_OR, order_of(c, 2), false);
}

/* The i-th of neighbours: from a start, or as a T.Ramp names them. */
static const Expr *neighbour(Ir *ir, const Expr *at, int i)
{
    return at->lanes > i && at->lanes > 1 ? expr_lane(ir, at, i)
                                          : expr_add(ir, at, expr_int(ir, i));
}

/* Lanes of a value: of a vector, or consecutive elements from a start. */
static const Expr *lane(BuiltinCall *c, int i, DType t)
{
    Ir *ir = c->ev->ir;
    const Value *v = &c->arg[1];
    if (v->kind != V_REGION && !(v->kind == V_BUFFER && v->u.buf->rank > 0)) {
        const Expr *e = arg_expr(c, 1);
        if (e->lanes > 1 && i >= e->lanes)
            arg_fail(c, 1, "has only %d lanes [lanes]", e->lanes);
        return expr_cast(ir, t, e->lanes > 1 ? expr_lane(ir, e, i) : e);
    }
    bool is_element;
    Region r = arg_region(c, 1, &is_element);
    const Expr *at[RANK_MOST];
    int n = r.buf->rank;
    for (int d = 0; d < n; d++)
        at[d] = r.at[d];
    at[n - 1] = neighbour(ir, at[n - 1], i);
    return expr_cast(ir, t, expr_load(ir, r.buf, at, n));
}

/* Neighbours along the last dimension; each lane is atomic on its own. */
static Value lanes(BuiltinCall *c, int n)
{
    Ir *ir = c->ev->ir;
    bool is_element, want_old = arg_bool(c, 2);
    const Expr *at[RANK_MOST], *old[4];
    call_kernel(c);
    Region dst = arg_region(c, 0, &is_element);
    check_dst(c, dst.buf);
    int rank = dst.buf->rank;
    if (rank == 0)
        arg_fail(c, 0, "has no dimension to take %d elements from [copy-shape]", n);
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < rank; d++)
            at[d] = dst.at[d];
        at[rank - 1] = neighbour(ir, at[rank - 1], i);
        Var *v = want_old ? old_value(c, dst.buf) : NULL;
        call_emit(c, stmt_atomic(ir, c->span, ATOMIC_ADD, dst.buf, at, rank,
                                 lane(c, i, dst.buf->type), NULL, v));
        old[i] = v ? expr_var(ir, v) : NULL;
    }
    return want_old ? value_expr(c->ev, expr_vector(ir, old, n)) : value_none();
}

Value do_atomic_addx2(BuiltinCall *c) { return lanes(c, 2); }
Value do_atomic_addx4(BuiltinCall *c) { return lanes(c, 4); }

/* One of those that such an access can have. */
static const char *order_among(BuiltinCall *c, int i, const char *const *words)
{
    const char *order = arg_given(c, i) ? arg_text(c, i) : NULL;
    for (int k = 0; order && words[k]; k++)
        if (!strcmp(words[k], order))
            return order_of(c, i);
    if (order)
        diag_fail(c->ev->diag, c->arg_span[i], "%s does not support memory_order '%s' "
                  "[memory-order]", call_title(c), order);
    return order_of(c, i);
}

Value do_atomic_load(BuiltinCall *c)
{
    static const char *const words[] = {"relaxed", "consume", "acquire", "seq_cst", NULL};
    Ir *ir = c->ev->ir;
    bool is_element;
    call_kernel(c);
    Region src = arg_region(c, 0, &is_element);
    check_dst(c, src.buf);
    const char *order = order_among(c, 1, words);
    Var *v = old_value(c, src.buf);
    call_emit(c, stmt_atomic(ir, c->span, ATOMIC_LOAD, src.buf, src.at, src.buf->rank, NULL, order,
                             v));
    return value_expr(c->ev, expr_var(ir, v));
}

Value do_atomic_store(BuiltinCall *c)
{
    static const char *const words[] = {"relaxed", "release", "seq_cst", NULL};
    call_kernel(c);
    return element(c, ATOMIC_STORE, order_among(c, 2, words), false);
}
