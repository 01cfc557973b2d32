/* any_of.c -- T.any_of, T.all_of: is any (is every) element of a region not zero?
 *
 * Lowering  one scalar over a serial nest. */
#include "op/op.h"
#include "sim/sim.h"

enum { SRC, DST };

static bool wants_all(const Stmt *t)
{
    return t->u.tile.text && strcmp(t->u.tile.text, "all") == 0;
}

static void any_of_check(Kernel *k, const Stmt *t)
{
    if (!t->u.tile.text || (strcmp(t->u.tile.text, "any") != 0 && !wants_all(t)))
        diag_error(k->diag, t->span, "neither any_of nor all_of [tile-operand]");
    if (t->u.tile.region[DST].buf->scope != MEM_VAR)
        diag_error(k->diag, t->span, "%s_of gives a scalar; '%s' is %s [tile-operand]",
                   t->u.tile.text, t->u.tile.region[DST].buf->name,
                   mem_name(t->u.tile.region[DST].buf->scope));
}

static const Stmt *any_of_lower(Kernel *k, const Stmt *t)
{
    const Region *r = &t->u.tile.region[SRC];
    Buffer *dst = t->u.tile.region[DST].buf;
    Ir *ir = k->ir;
    const Expr *at[RANK_MOST], *was = expr_cast(ir, DT_BOOL, scalar_get(k, dst));
    bool all = wants_all(t);
    Nest n;
    nest_open(k, &n, r->buf->rank, r->extent);
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = expr_add(ir, r->at[d], n.at[d]);
    const Expr *v = expr_load(ir, r->buf, at, r->buf->rank);
    const Expr *set = expr_binary(ir, EX_NE, v, expr_zero(ir, r->buf->type));
    const Stmt *s = scalar_set(k, t->span, dst, expr_binary(ir, all ? EX_AND : EX_OR, was, set));
    s = nest_close(k, t->span, &n, LOOP_SERIAL, s);
    return stmt_seq(ir, scalar_set(k, t->span, dst, expr_bool(ir, all)), s);
}

static void any_of_simulate(Sim *m, const Stmt *t)
{
    SimRegion src = sim_region(m, t, &t->u.tile.region[SRC]);
    SimRegion dst = sim_region(m, t, &t->u.tile.region[DST]);
    bool all = wants_all(t), found = all, floats = dtype_is_float(src.buf->type);
    int64_t at[RANK_MOST] = {0}, zero[RANK_MOST] = {0};
    if (!sim_region_empty(&src))
        do {
            Value1 v;
            sim_get(m, t, &src, at, &v);
            bool set = floats ? v.f != 0 : v.i != 0;
            found = all ? found && set : found || set;
        } while (sim_next(src.rank, src.extent, at));
    sim_put(m, t, &dst, zero, value_cast(DT_BOOL, dst.buf->type, (Value1){.i = found}));
}

const TileOp op_any_of = {
    .name = "any_of",
    .id = OP_any_of,
    .traits = TILE_WALKS | TILE_FOR_ALL,
    .by_owner = 1u << DST,
    .params = "src: region, dst: scalar",
    .doc = "is any (all: is every) element not zero",
    .nregion = 2,
    .check = any_of_check,
    .effects = "rw",
    .infer = infer_nothing,
    .lower = any_of_lower,
    .simulate = any_of_simulate,
};
