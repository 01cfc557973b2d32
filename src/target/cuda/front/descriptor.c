/* descriptor.c -- T.create_tma_descriptor and T.tma_load: boxes of a tensor, by hand.
 *
 * The map itself is made at the launch, from what copies need; a descriptor is what it says: a view
 * of the tensor, the box, the swizzle.  T.tma_load is one instruction of the thread that runs it:
 * who expects the bytes, and where, is the kernel's to say. */
#include "front/builtin.h"

enum { TYPE, RANK, ADDRESS, LISTS, RANK_LIMIT = 5 };
enum { SHAPE, STRIDE, BOX, STEP, NLIST };              /* one number for each dimension */
enum { INTERLEAVE, SWIZZLE, PROMOTION, FILL, NWORD };  /* after them */
enum { PROMOTE_256 = 3 };

/* CUtensorMapDataType: bits of an element. */
static const int type_bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32};

static int64_t constant(BuiltinCall *c, int i, const char *what)
{
    int64_t v;
    if (!expr_is_int(rest_expr(c, i), &v))
        call_fail(c, "%s must be known at compile time [argument-type]", what);
    return v;
}

static int64_t only(BuiltinCall *c, int i, const char *what, int64_t want)
{
    int64_t v = constant(c, i, what);
    if (v != want)
        call_fail(c, "%s must be %lld, not %lld [unsupported-here]", what, (long long)want,
                  (long long)v);
    return v;
}

/* ---- the descriptor -------------------------------------------------------------------------- */

static Buffer *tensor_at(BuiltinCall *c, int i)
{
    const Value *v = &c->rest[i];
    const Expr *e = v->kind == V_EXPR && v->u.expr->op == EX_ADDR ? v->u.expr : NULL;
    Buffer *b = v->kind == V_BUFFER ? v->u.buf : e ? e->u.buf : NULL;

    for (int d = 0; e && d < e->nkid; d++)
        if (!expr_is_zero(e->kid[d]))
            b = NULL;
    if (!b || b->scope != MEM_GLOBAL)
        call_fail(c, "global_addr must be a tensor's data [argument-type]");
    return b;
}

/* The tensor as the descriptor sees it, outermost dimension first. */
static Buffer *view_of(BuiltinCall *c, Buffer *b, int rank)
{
    Ir *ir = c->ev->ir;
    const Expr *shape[RANK_LIMIT], *stride[RANK_LIMIT], *dense = expr_int(ir, 1);
    const Expr *bytes = expr_int(ir, dtype_bits(b->type) / 8);
    bool dense_only = true, same = b->rank == rank && !b->stride;

    for (int i = 0; i < rank; i++) {
        int d = rank - 1 - i;
        shape[d] = rest_expr(c, LISTS + SHAPE * rank + i);
        stride[d] = expr_floordiv(ir, rest_expr(c, LISTS + STRIDE * rank + i), bytes);
        dense_only &= stride[d] == dense;
        same &= d < b->rank && shape[d] == b->shape[d];
        dense = expr_mul(ir, dense, shape[d]);
    }
    if (stride[rank - 1] != expr_int(ir, 1))
        call_fail(c, "the first stride must be the bytes of an element [argument-type]");
    if (!dense_only)
        call_fail(c, "the strides are not those of a tensor without gaps [unsupported-here]");
    return same ? b : make_view(c, b, rank, shape, b->type).u.buf;
}

Value do_create_tma_descriptor(BuiltinCall *c)
{
    Eval *ev = c->ev;
    int64_t type, rank;

    call_kernel(c);
    rank = c->nrest > RANK ? constant(c, RANK, "rank") : 0;
    if (rank < 1 || rank > RANK_LIMIT || c->nrest != LISTS + NLIST * rank + NWORD)
        call_fail(c, "takes data_type, rank, global_addr, four lists of rank numbers, and "
                  "interleave, swizzle, l2_promotion, oob_fill [argument-count]");
    Buffer *b = tensor_at(c, ADDRESS);
    type = constant(c, TYPE, "data_type");
    if (type < 0 || type >= COUNT(type_bits) || type_bits[type] != dtype_bits(b->type))
        call_fail(c, "data_type %lld is not of '%s', whose elements have %d bits [argument-type]",
                  (long long)type, b->name, dtype_bits(b->type));
    int words = LISTS + NLIST * (int)rank;
    only(c, words + INTERLEAVE, "interleave", 0);
    only(c, words + FILL, "oob_fill", 0);
    if (constant(c, words + PROMOTION, "l2_promotion") != PROMOTE_256)
        diag_ignored(ev->diag, c->span, "l2_promotion", "tensor maps ask for 256 bytes [ignored]");
    Value box[RANK_LIMIT];
    for (int i = 0; i < rank; i++) {
        only(c, LISTS + STEP * (int)rank + i, "smem_stride", 1);
        box[rank - 1 - i] = value_int(constant(c, LISTS + BOX * (int)rank + i, "smem_box"));
    }
    Object *o = NEW(ev->arena, Object);
    o->name = "tma_descriptor";
    map_init_text(&o->fields, ev->arena);
    object_set(ev, o, "tensor", value_buffer(view_of(c, b, (int)rank)));
    object_set(ev, o, "box", value_seq(ev, V_TUPLE, box, (int)rank));
    object_set(ev, o, "swizzle", value_int(constant(c, words + SWIZZLE, "swizzle")));
    return (Value){.kind = V_OBJECT, .u.object = o};
}

/* ---- a load ---------------------------------------------------------------------------------- */

static const Value *field(BuiltinCall *c, const char *name)
{
    const Value *self = c->nrest ? &c->rest[0] : NULL;
    const Value *v = self && self->kind == V_OBJECT ? map_get(&self->u.object->fields, name) : NULL;
    if (!v)
        call_fail(c, "takes a descriptor of T.create_tma_descriptor first [argument-type]");
    return v;
}

static Region new_region(Ir *ir, Buffer *b)
{
    return (Region){b, NEWN(ir->arena, const Expr *, b->rank + 1),
                    NEWN(ir->arena, const Expr *, b->rank + 1)};
}

/* Elements of the box lie one after the other from the address on. */
static Region tile_region(BuiltinCall *c, const Expr *to, const Seq *box)
{
    Ir *ir = c->ev->ir;
    Region r = new_region(ir, to->u.buf);
    int64_t shape[RANK_MOST];
    int d = r.buf->rank - 1;
    bool whole = buffer_static_shape(r.buf, shape);

    for (int i = 0; i <= d; i++) {
        r.at[i] = to->kid[i];
        r.extent[i] = expr_int(ir, 1);
    }
    for (int i = box->n - 1; i >= 0; i--) {
        int64_t n = box->at[i].u.i;
        if (n == 1)
            continue;
        if (d < 0 || !whole || n > shape[d])
            call_fail(c, "a box of %lld elements does not fill rows of '%s' [copy-shape]",
                      (long long)n, r.buf->name);
        whole = n == shape[d];
        r.extent[d--] = expr_int(ir, n);
    }
    return r;
}

/* Bytes of the rows that the box's swizzle mode takes for its pattern; its tile is laid out so. */
static void pin_tile(BuiltinCall *c, Buffer *b, int64_t mode)
{
    static const int span[] = {0, 32, 64, 128};
    int64_t shape[RANK_MOST];
    BufferPlan *p = buffer_plan(call_kernel(c), b);

    if (mode < 0 || mode >= COUNT(span))
        call_fail(c, "swizzle must be 0 to 3, not %lld [argument-type]", (long long)mode);
    int has = p->pinned && p->layout
                  ? layout_swizzle_span(c->ev->ir, p->layout, dtype_bits(b->type)) : 0;
    if (has != span[mode])
        call_fail(c, "the box is swizzled by %d bytes, '%s' by %d: T.annotate_layout says how a "
                  "tile lies [layout-kind]", span[mode], b->name, has);
    if (!p->pinned && buffer_static_shape(b, shape)) {
        p->layout = layout_row_major(c->ev->ir, b->rank, shape);
        p->pinned = true;
    }
}

static Region barrier_region(BuiltinCall *c, const Value *v)
{
    Region r = v->kind == V_BUFFER   ? region_whole(c->ev->ir, v->u.buf)
               : v->kind == V_REGION ? *v->u.region : (Region){0};
    if (!r.buf || (r.buf->scope != MEM_BARRIER && r.buf->scope != MEM_CLUSTER_BARRIER))
        call_fail(c, "the second argument must be a barrier of T.alloc_barrier [argument-type]");
    return r;
}

/* (descriptor, barrier, address, coordinates from the contiguous dimension on, eviction policy) */
Value do_tma_load(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Buffer *b = field(c, "tensor")->u.buf;
    const Seq *box = field(c, "box")->u.seq;
    const Isa *isa = ir->words->isa_find("tma.load");
    int n = c->nrest - 3;

    call_threads(c);
    if (n != b->rank && n != b->rank + 1)
        call_fail(c, "takes a descriptor, a barrier, an address and %d coordinates "
                  "[argument-count]", b->rank);
    const Expr *to = c->rest[2].kind == V_EXPR ? rest_expr(c, 2) : NULL;
    if (!to || to->op != EX_ADDR || to->u.buf->scope != MEM_SHARED)
        call_fail(c, "the third argument must be the address of an element of shared memory "
                  "[argument-type]");
    Region *r = NEWN(ir->arena, Region, 3);
    r[0] = tile_region(c, to, box);
    r[1] = new_region(ir, b);
    r[2] = barrier_region(c, &c->rest[1]);
    for (int d = 0; d < b->rank; d++) {
        r[1].at[d] = rest_expr(c, 3 + b->rank - 1 - d);
        r[1].extent[d] = expr_int(ir, box->at[d].u.i);
    }
    pin_tile(c, r[0].buf, field(c, "swizzle")->u.i);
    const Expr **arg = NEWN(ir->arena, const Expr *, 2);
    int64_t policy = n > b->rank ? constant(c, 3 + b->rank, "eviction_policy") : 0;
    if (policy < 0 || policy > 2)
        call_fail(c, "eviction_policy must be 0 to 2, not %lld [argument-type]", (long long)policy);
    arg[0] = expr_int(ir, 0);
    arg[1] = expr_int(ir, policy);
    return call_emit(c, stmt_instr(ir, c->span, isa, 3, r, policy ? 2 : 0, arg, 0));
}
