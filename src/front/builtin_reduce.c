/* builtin_reduce.c -- reductions, scans, reducers and votes over tiles. */
#include "front/builtin.h"

static const char *const reduce_words[] = {"sum", "abssum", "max", "absmax", "min",
                                           "bitand", "bitor", "bitxor", NULL};

static int reduce_dim(BuiltinCall *c, int i, int rank)
{
    int64_t d = arg_int(c, i);
    if (d < -rank || d >= rank)
        arg_fail(c, i, "is %lld, but the tile has %d dimension%s [reduce-dim]", (long long)d, rank,
                 rank == 1 ? "" : "s");
    return (int)(d < 0 ? d + rank : d);
}

/* Do the extents that are not 1 follow each other alike?  A row of a tile is such a region. */
static bool same_without_ones(const Region *src, const Region *dst, int dim)
{
    int d = 0, e = 0;

    while (d < src->buf->rank || e < dst->buf->rank) {
        if (d < src->buf->rank && (d == dim || region_extent_is(src, d, 1)))
            d++;
        else if (e < dst->buf->rank && region_extent_is(dst, e, 1))
            e++;
        else if (d == src->buf->rank || e == dst->buf->rank ||
                 !expr_may_equal(src->extent[d++], dst->extent[e++]))
            return false;
    }
    return true;
}

/* out is src without the dimension, or with 1 there; a tile of one dimension leaves one element. */
static void check_reduced(BuiltinCall *c, const Region *src, const Region *dst, int dim)
{
    int n = src->buf->rank, m = dst->buf->rank;
    bool ok = m == n || m == n - 1 || (n == 1 && m == 1);
    bool kept = m == n;
    for (int d = 0, e = 0; ok && d < n; d++) {
        if (d == dim) {
            if (kept)
                ok = region_extent_is(dst, e++, 1);
            continue;
        }
        ok = expr_may_equal(src->extent[d], dst->extent[e++]);
    }
    if (!ok && !same_without_ones(src, dst, dim))
        call_fail(c, "%s of '%s' reduced along dimension %d does not give %s of '%s' "
                  "[reduce-shape]",
                  extents_text(c->ev, src), src->buf->name, dim, extents_text(c->ev, dst),
                  dst->buf->name);
}

/* How many results threads exchange between two barriers. */
static int64_t arg_batch(BuiltinCall *c, int i)
{
    int64_t n = i >= 0 ? arg_int(c, i) : 1;

    if (n <= 0)
        arg_fail(c, i, "must be positive, not %lld [argument-type]", (long long)n);
    if (n > 1)
        diag_ignored(c->ev->diag, c->span, "the exchange between threads", "batch=%lld: all "
                     "results of a tile are exchanged together [ignored]", (long long)n);
    return n;
}

/* A part of a fragment lies where the whole does, so results go there from a tile of their own:
 * only a loop over the part is run by those who hold it.  NULL: out is no such part. */
static Buffer *own_results(BuiltinCall *c, const Region *out)
{
    if (out->buf->scope != MEM_FRAGMENT || region_is_whole(out) || region_nelem(out) <= 0)
        return NULL;
    return trace_buffer(c->ev, c->span, out->buf->type, MEM_FRAGMENT, out->buf->rank, out->extent);
}

typedef struct { int dim, clear, batch, nan, annotations; } Slots; /* -1: not in the signature */

static Value reduce(BuiltinCall *c, const char *kind, Slots s)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    call_kernel(c);
    Region r[2] = {arg_tile(c, 0), arg_tile(c, 1)};
    if (r[0].buf->rank == 0)
        arg_fail(c, 0, "has no dimension to reduce [reduce-dim]");
    int dim = reduce_dim(c, s.dim, r[0].buf->rank);
    check_reduced(c, &r[0], &r[1], dim);
    DType t = r[0].buf->type;
    if (!strncmp(kind, "bit", 3) && dtype_is_float(t))
        arg_fail(c, 0, "must hold integers, not %s [reduce-dtype]", dtype_name(t));
    int64_t batch = arg_batch(c, s.batch);
    bool clear = s.clear < 0 || arg_bool(c, s.clear);
    const Expr *arg[4] = {
        expr_int(ir, dim),
        expr_bool(ir, clear),
        expr_int(ir, batch),
        expr_bool(ir, s.nan >= 0 && arg_bool(c, s.nan)),
    };
    notes_dict(c, s.annotations, &h);
    const Region out = r[1];
    Buffer *own = own_results(c, &out);
    if (own)
        r[1] = region_whole(ir, own);
    if (own && !clear)
        emit_region_copy(c, &out, &r[1]);
    Value v = call_emit(c, stmt_tile(ir, c->span, &op_reduce, 2, r, 4, arg, kind, h));
    if (own)
        emit_region_copy(c, &r[1], &out);
    return v;
}

Value do_reduce(BuiltinCall *c)
{
    const char *kind = arg_word(c, 2, reduce_words, " [reduce-op]");
    return reduce(c, kind, (Slots){3, 4, 5, 6, 7});
}

/* T.reduce_<kind>: the signatures are those with clear, with nan_propagate, and abssum's own. */
Value do_reduce_sum(BuiltinCall *c)
{
    return reduce(c, c->b->name + strlen("reduce_"), (Slots){2, 3, 4, -1, 5});
}

Value do_reduce_max(BuiltinCall *c)
{
    return reduce(c, c->b->name + strlen("reduce_"), (Slots){2, 3, 4, 5, 6});
}

Value do_reduce_abssum(BuiltinCall *c)
{
    return reduce(c, "abssum", (Slots){2, -1, 3, -1, 4});
}

static Value scan(BuiltinCall *c, const char *kind)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    call_kernel(c);
    Region r[2] = {arg_tile(c, 0), arg_tile(c, arg_given(c, 1) ? 1 : 0)};
    int n = r[0].buf->rank;
    if (n < 1 || n > 2)
        arg_fail(c, 0, "must have 1 or 2 dimensions, not %d [reduce-shape]", n);
    bool same = r[1].buf->rank == n;
    for (int d = 0; same && d < n; d++)
        same = expr_may_equal(r[0].extent[d], r[1].extent[d]);
    if (!same)
        call_fail(c, "%s of '%s' and %s of '%s' differ [reduce-shape]",
                  extents_text(c->ev, &r[0]), r[0].buf->name, extents_text(c->ev, &r[1]),
                  r[1].buf->name);
    const Expr *arg[2] = {expr_int(ir, reduce_dim(c, 2, n)), expr_bool(ir, arg_bool(c, 3))};
    notes_dict(c, 4, &h);
    return call_emit(c, stmt_tile(ir, c->span, &op_scan, 2, r, 2, arg, kind, h));
}

Value do_cumsum(BuiltinCall *c) { return scan(c, "sum"); }
Value do_cummax(BuiltinCall *c) { return scan(c, "max"); }

/* ---- reducers -------------------------------------------------------------------------------- */

static Region reducer_region(BuiltinCall *c, bool *is_element)
{
    Region r = arg_region(c, 0, is_element);
    if (r.buf->scope != MEM_REDUCER)
        arg_fail(c, 0, "must come from T.alloc_reducer, not '%s' [argument-type]", r.buf->name);
    return r;
}

Value do_reducer_init(BuiltinCall *c)
{
    bool is_element;
    call_kernel(c);
    Region r = reducer_region(c, &is_element);
    const Expr *seed = NULL;
    if (c->arg[1].kind == V_EXPR && c->arg[1].u.expr->type != r.buf->type)
        arg_fail(c, 1, "is of %s, which does not match reducer '%s' of %s [reducer-dtype]",
                 dtype_name(c->arg[1].u.expr->type), r.buf->name, dtype_name(r.buf->type));
    if (arg_given(c, 1))
        seed = cast_value(c->ev, c->arg_span[1], r.buf->type, 1, &c->arg[1], call_what(c, 1));
    return call_emit(c, stmt_tile(c->ev->ir, c->span, &op_reducer_init, 1, &r, 1, &seed, NULL,
                           (Hints){0}));
}

Value do_reducer_update(BuiltinCall *c)
{
    bool is_element;
    call_kernel(c);
    Region r = reducer_region(c, &is_element);
    if (!is_element && r.buf->rank > 0)
        arg_fail(c, 0, "must be one element of the reducer, as in acc[i] [argument-type]");
    const Expr *v = cast_value(c->ev, c->arg_span[1], r.buf->type, 1, &c->arg[1], call_what(c, 1));
    return call_emit(c, stmt_tile(c->ev->ir, c->span, &op_reducer_update, 1, &r, 1, &v, NULL,
                           (Hints){0}));
}

Value do_finalize_reducer(BuiltinCall *c)
{
    bool is_element;
    Hints h = {0};
    call_kernel(c);
    Region r[2] = {reducer_region(c, &is_element)};
    int n = 1;
    if (arg_given(c, 1)) {
        r[n++] = arg_tile(c, 1);
        bool same = r[0].buf->rank == r[1].buf->rank;
        for (int d = 0; same && d < r[0].buf->rank; d++)
            same = expr_may_equal(r[0].extent[d], r[1].extent[d]);
        if (!same)
            arg_fail(c, 1, "has extents %s, the reducer has %s [reduce-shape]",
                     extents_text(c->ev, &r[1]), extents_text(c->ev, &r[0]));
    }
    arg_batch(c, 2);
    notes_dict(c, 3, &h);
    return call_emit(c, stmt_tile(c->ev->ir, c->span, &op_reducer_final, n, r, 0, NULL, NULL, h));
}

/* ---- any_of, all_of -------------------------------------------------------------------------- */

static Value quantify(BuiltinCall *c, const char *kind)
{
    Ir *ir = c->ev->ir;
    call_kernel(c);
    Buffer *b = trace_buffer(c->ev, c->span, DT_BOOL, MEM_VAR, 0, NULL);
    b->name = ir_name(ir, kind);
    Region r[2] = {arg_tile(c, 0), region_whole(ir, b)};
    call_emit(c, stmt_tile(ir, c->span, &op_any_of, 2, r, 0, NULL, kind, (Hints){0}));
    return value_expr(c->ev, trace_let(c->ev, c->span, kind, expr_load(ir, b, NULL, 0)));
}

Value do_any_of(BuiltinCall *c) { return quantify(c, "any"); }
Value do_all_of(BuiltinCall *c) { return quantify(c, "all"); }

/* ---- T.comm_reducer and T.tvm_thread_allreduce ----------------------------------------------- */

/* What the user takes for the identity must be it: threads that hold nothing are left out. */
static void check_identity(BuiltinCall *c, const char *name, DType t, const Value *identity)
{
    Ir *ir = c->ev->ir;
    const Expr *is = reduction_identity(ir, reduction_find(name), t);
    if (cast_value(c->ev, c->arg_span[1], t, 1, identity, call_what(c, 1)) == is ||
        !strcmp(name, "max") || !strcmp(name, "min"))
        return; /* of max and min any value that is below or above all of them will do */
    arg_fail(c, 1, "is not the identity of '%s' [reduce-op]", name);
}

/* Which reduction a combiner is, found by applying it to two variables. */
Value do_comm_reducer(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Value *identity = &c->arg[1];
    DType t = DT_F32;
    if (value_is_seq(identity) && identity->u.seq->n == 1)
        identity = &identity->u.seq->at[0];
    if (identity->kind == V_EXPR)
        t = identity->u.expr->type;
    const Expr *x = expr_var(ir, var_new(ir, "x", t, c->span));
    const Expr *y = expr_var(ir, var_new(ir, "y", t, c->span));
    Value at[2] = {value_expr(c->ev, x), value_expr(c->ev, y)};
    Span spans[2] = {c->span, c->span};
    CallArgs args = {.span = c->span, .n = 2, .at = at, .spans = spans};
    Value made = eval_call(c->ev, c->span, &c->arg[0], &args);
    static const struct { ExprOp op; const char *name; } known[] = {
        {EX_ADD, "sum"}, {EX_MUL, "mul"}, {EX_MAX, "max"}, {EX_MIN, "min"},
        {EX_BITAND, "bitand"}, {EX_BITOR, "bitor"}, {EX_BITXOR, "bitxor"},
    };
    if (value_is_seq(&made) && made.u.seq->n == 1)
        made = made.u.seq->at[0];
    for (int i = 0; made.kind == V_EXPR && i < COUNT(known); i++) {
        if (dtype_is_float(t) && reduction_find(known[i].name)->ints)
            continue;
        if (made.u.expr == expr_binary(ir, known[i].op, x, y) ||
            made.u.expr == expr_binary(ir, known[i].op, y, x)) {
            check_identity(c, known[i].name, t, identity);
            return value_str(c->ev, known[i].name, strlen(known[i].name));
        }
    }
    arg_fail(c, 0, "must be x + y, x * y, T.max(x, y), T.min(x, y) or a bit operation [reduce-op]");
}

/* Through shared memory: every thread puts its value there and reads those it is reduced with. */
static const Expr *reduce_in_memory(BuiltinCall *c, Kernel *k, const Reduction *r,
                                    const Expr *value)
{
    Ir *ir = c->ev->ir;
    DType t = (DType)value->type;
    const Expr *size = expr_int(ir, kernel_block_threads(k)), *own = flat_thread(c), *at = own;
    Buffer *all = trace_buffer(c->ev, c->span, t, MEM_SHARED, 1, &size);
    Buffer *sum = trace_buffer(c->ev, c->span, t, MEM_VAR, 0, NULL);
    all->name = ir_name(ir, "parts");
    sum->name = ir_name(ir, "total");
    Var *loop[3] = {NULL};
    for (int i = 0; i < c->nrest; i++) {
        const Expr *e = rest_expr(c, i);
        int d = 0;
        while (d < 3 && !(k->thread[d] && e == expr_var(ir, k->thread[d])))
            d++;
        if (d == 3)
            call_fail(c, "reduces over thread indices of T.get_thread_binding [argument-type]");
        int stride = d == 0 ? 1 : d == 1 ? k->threads[0] : k->threads[0] * k->threads[1];
        loop[d] = var_new(ir, "lane", DT_I32, c->span);
        const Expr *move = expr_sub(ir, expr_var(ir, loop[d]), e);
        at = expr_add(ir, at, expr_mul(ir, move, expr_int(ir, stride)));
    }
    const Stmt *sync = stmt_sync(ir, c->span);
    call_emit(c, sync);
    call_emit(c, stmt_store(ir, c->span, all, &own, 1, value));
    call_emit(c, sync);
    call_emit(c, stmt_store(ir, c->span, sum, NULL, 0, reduction_identity(ir, r, t)));
    const Expr *more = reduction_combine(ir, r, false, expr_load(ir, sum, NULL, 0),
                                         expr_load(ir, all, &at, 1));
    const Stmt *s = stmt_store(ir, c->span, sum, NULL, 0, more);
    for (int d = 0; d < 3; d++)
        if (loop[d])
            s = stmt_for(ir, c->span, LOOP_SERIAL, loop[d], expr_int(ir, 0),
                         expr_int(ir, k->threads[d]), (Hints){0}, s);
    call_emit(c, s);
    return expr_load(ir, sum, NULL, 0);
}

/* (size, value, condition, out, thread…): out = the reduction of value over the threads. */
Value do_thread_allreduce(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Kernel *k = call_threads(c);
    const char *word = c->ev->trace->combiner;
    if (!word)
        call_fail(c, "stands inside `with T.attr(T.comm_reducer(…), \"reduce_scope\", …)` "
                  "[reduce-op]");
    if (arg_int(c, 0) != 1)
        arg_fail(c, 0, "must be 1: one value at a time [unsupported-here]");
    if (!arg_text(c, c->narg - 1) || strcmp(arg_text(c, c->narg - 1), "handle"))
        arg_fail(c, c->narg - 1, "must be \"handle\": the result is in the fourth argument "
                 "[argument-type]");
    if (c->nrest < 1 || c->nrest > 3)
        call_fail(c, "needs 1 to 3 thread indices after the result [argument-count]");
    bool is_element;
    Region out = arg_region(c, 3, &is_element);
    const Expr *arg[5] = {arg_expr(c, 1), arg_bool_expr(c, 2)}, *e;
    const Reduction *r = reduction_find(word);
    if (!machine_has(call_machine(c), HAS_THREADS)) {
        const Expr *none = reduction_identity(ir, r, (DType)arg[0]->type);
        e = reduce_in_memory(c, k, r, expr_select(ir, arg[1], arg[0], none));
    } else {
        for (int i = 0; i < c->nrest; i++)
            arg[2 + i] = rest_expr(c, i);
        e = call_intrin(c, INTRIN_ALLREDUCE, 2 + c->nrest, arg, 0, NULL, word,
                        (DType)arg[0]->type).u.expr;
    }
    e = expr_cast(ir, out.buf->type, e);
    return call_emit(c, stmt_store(ir, c->span, out.buf, out.at, out.buf->rank, e));
}
