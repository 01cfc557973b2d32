/* tensor.c -- tensor memory by hand: words of scales on their way to it, tiles given back. */
#include "front/builtin.h"
#include "op/op.h"

Value do_alloc_tmem(BuiltinCall *c)
{
    Value v = alloc_tile(c, MEM_TMEM);
    if (v.u.buf->rank < 2)
        arg_fail(c, 0, "must have at least 2 dimensions, not %d [tile-shape]", v.u.buf->rank);
    return v;
}

Value do_deallocate_tmem(BuiltinCall *c)
{
    call_kernel(c);
    Buffer *b = arg_buffer(c, 0);
    if (b->scope != MEM_TMEM)
        arg_fail(c, 0, "must come from T.alloc_tmem [argument-type]");
    return value_none(); /* storage is given back at the end of the block in any case */
}

/* T.tcgen05_cp_warpx4: words of scales to tensor memory, for the GEMMs that the thread starts after
 * it. */
Value do_tcgen05_cp(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Hints h = {0};
    call_kernel(c);
    Region r[2] = {arg_tile(c, 0), region_whole(ir, arg_buffer(c, 1))};
    int last = r[1].buf->rank - 1;
    if (r[1].buf->scope != MEM_TMEM)
        arg_fail(c, 1, "must come from T.alloc_tmem [argument-type]");
    if (arg_pair(c, 3))
        hints_int(c->ev, &h, "pair", 1);
    hints_int(c->ev, &h, "async", 1);
    const Expr **at = NEWN(ir->arena, const Expr *, last + 1);
    const Expr **extent = NEWN(ir->arena, const Expr *, last + 1);
    memcpy(at, r[1].at, sizeof *at * (size_t)(last + 1));
    memcpy(extent, r[1].extent, sizeof *at * (size_t)(last + 1));
    at[last] = arg_index(c, 2);
    extent[last] = expr_int(ir, region_nelem(&r[0]) / 32);
    r[1].at = at;
    r[1].extent = extent;
    call_emit(c, stmt_tile(ir, c->span, &op_spread_lanes, 2, r, 0, NULL, NULL, h));
    return value_none();
}

/* T.tcgen05_sf_warp_transpose: in each 128 words, as 4 x 32, rows become columns. */
Value do_scale_transpose(BuiltinCall *c)
{
    enum { ALL = 128, ROW = 32, EACH = 4 };
    Ir *ir = c->ev->ir;
    call_kernel(c);
    Region r = arg_tile(c, 0);
    int64_t n = region_nelem(&r);
    int last = r.buf->rank - 1;
    if (last < 0 || n <= 0 || n % ALL || region_extent_int(&r, last) != n ||
        dtype_bits(r.buf->type) != 32)
        arg_fail(c, 0, "must be a row of words of 32 bits, whole 128s of them [copy-shape]");
    const Expr *all = expr_int(ir, n), *at[2][RANK_MOST], *i[2];
    Buffer *own = trace_buffer(c->ev, c->span, r.buf->type, MEM_FRAGMENT, 1, &all);
    Var *v[2] = {var_new(ir, "i", DT_I32, c->span), var_new(ir, "i", DT_I32, c->span)};
    for (int side = 0; side < 2; side++) {
        i[side] = expr_var(ir, v[side]);
        for (int d = 0; d < last; d++)
            at[side][d] = r.at[d];
    }
    const Expr *in = expr_floormod(ir, i[1], expr_int(ir, ALL));
    const Expr *turned = expr_add(ir, expr_sub(ir, i[1], in), expr_add(
        ir, expr_mul(ir, expr_floormod(ir, in, expr_int(ir, ROW)), expr_int(ir, EACH)),
        expr_floordiv(ir, in, expr_int(ir, ROW))));
    at[0][last] = expr_add(ir, r.at[last], i[0]);
    at[1][last] = expr_add(ir, r.at[last], turned);
    const Stmt *s[2] = {
        stmt_store(ir, c->span, own, &i[0], 1, expr_load(ir, r.buf, at[0], last + 1)),
        stmt_store(ir, c->span, r.buf, at[1], last + 1, expr_load(ir, own, &i[1], 1))};
    for (int side = 0; side < 2; side++)
        call_emit(c, stmt_for(ir, c->span, LOOP_PARALLEL, v[side], expr_int(ir, 0), all,
                              (Hints){0}, s[side]));
    return value_none();
}

static Value descriptor(BuiltinCall *c, DType t)
{
    const Expr *shape[1] = {expr_int(c->ev->ir, 1)};
    call_kernel(c);
    return value_buffer(trace_buffer(c->ev, c->span, t, MEM_DESCRIPTOR, 1, shape));
}

Value do_alloc_descriptor(BuiltinCall *c)
{
    static const char *const kinds[] = {"wgmma", "tcgen05_smem", "tcgen05_instr", NULL};
    arg_word(c, 0, kinds, " [argument-type]");
    return descriptor(c, arg_dtype(c, 1, NULL));
}

Value do_alloc_desc(BuiltinCall *c)
{
    return descriptor(c, arg_dtype(c, 0, NULL));
}
