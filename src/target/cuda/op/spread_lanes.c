/* spread_lanes.c -- T.tcgen05_cp_warpx4(src, dst): words of scales to all quarters of the lanes of
 * tensor memory.
 *
 * Meaning   word 128 * i + 4 * l + c of src goes to column first + 4 * i + c of lane l of each 32.
 * Layout    asks for none.
 * Lowering  a parallel nest over the lanes and columns; a target has an instruction. */
#include "op/op.h"
#include "sim/sim.h"

enum { SRC, DST, LANES = 128, QUARTER = 32, EACH = 4 };

static void spread_lanes_check(Kernel *k, const Stmt *t)
{
    const Region *r = t->u.tile.region;
    int64_t n = region_nelem(&r[SRC]), lanes = region_extent_int(&r[DST], r[DST].buf->rank - 2);
    int64_t cols = region_extent_int(&r[DST], r[DST].buf->rank - 1);

    if (r[DST].buf->rank < 2 || lanes != LANES || n <= 0 || n != cols * QUARTER || n % LANES ||
        dtype_bits(r[SRC].buf->type) != 32 || r[DST].buf->type != r[SRC].buf->type)
        diag_error(k->diag, t->span, "words of 32 bits, whole 128s of them, go to 128 lanes, four "
                   "columns for each 128: '%s' and '%s' are not so [copy-shape]",
                   r[SRC].buf->name, r[DST].buf->name);
}

static void spread_lanes_access(const Stmt *t, AccessFn *see, void *arg)
{
    see(arg, &t->u.tile.region[SRC], ACC_READ);
    see(arg, &t->u.tile.region[DST], ACC_WRITE);
}

static const Stmt *spread_lanes_lower(Kernel *k, const Stmt *t)
{
    Ir *ir = k->ir;
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int last = dst->buf->rank - 1, from = src->buf->rank - 1;
    const Expr *extent[2] = {dst->extent[last - 1], dst->extent[last]};
    const Expr *at[RANK_MOST], *read[RANK_MOST], *each = expr_int(ir, EACH);
    Nest n;

    nest_open(k, &n, 2, extent);
    for (int d = 0; d <= last; d++)
        at[d] = d < last - 1 ? dst->at[d] : expr_add(ir, dst->at[d], n.at[d - (last - 1)]);
    const Expr *word = expr_mul(ir, expr_floordiv(ir, n.at[1], each), expr_int(ir, LANES));
    const Expr *lane = expr_floormod(ir, n.at[0], expr_int(ir, QUARTER));
    word = expr_add(ir, word, expr_mul(ir, lane, each));
    word = expr_add(ir, word, expr_floormod(ir, n.at[1], each));
    for (int d = from; d >= 0; d--) { /* its place in src, row by row */
        read[d] = expr_add(ir, src->at[d], d ? expr_floormod(ir, word, src->extent[d]) : word);
        word = expr_floordiv(ir, word, src->extent[d]);
    }
    return nest_close(k, t->span, &n, LOOP_PARALLEL,
                      stmt_store(ir, t->span, dst->buf, at, dst->buf->rank,
                                 expr_load(ir, src->buf, read, src->buf->rank)));
}

/* Each block of a pair has words of its own. */
static void spread(Sim *m, const Stmt *t, int block)
{
    int64_t n = region_nelem(&t->u.tile.region[SRC]), at[RANK_MOST] = {0}, put[RANK_MOST] = {0};
    const Region *r = t->u.tile.region;

    if (tile_pairs(t) && !block)
        spread(m, t, 1);
    SimRegion from = tile_pairs(t) ? sim_pair_region(m, t, &r[SRC], block)
                                   : sim_region(m, t, &r[SRC]);
    SimRegion to = tile_pairs(t) ? sim_pair_region(m, t, &r[DST], block)
                                 : sim_region(m, t, &r[DST]);

    for (int64_t w = 0; w < n; w++, sim_next(from.rank, from.extent, at)) {
        Value1 v;
        sim_get(m, t, &from, at, &v);
        for (int q = 0; q < LANES / QUARTER; q++) {
            put[to.rank - 2] = q * QUARTER + w % LANES / EACH;
            put[to.rank - 1] = w / LANES * EACH + w % EACH;
            sim_put(m, t, &to, put, v);
        }
    }
}

static void spread_lanes_simulate(Sim *m, const Stmt *t)
{
    spread(m, t, 0);
}

const TileOp op_spread_lanes = {
    .name = "spread_lanes",
    .id = OP_spread_lanes,
    .traits = TILE_STAGES,
    .params = "src: region, dst: region",
    .doc = "words to four columns of 32 lanes for each 128 of them, the same for each quarter",
    .nregion = 2,
    .check = spread_lanes_check,
    .access = spread_lanes_access,
    .infer = infer_nothing,
    .lower = spread_lanes_lower,
    .simulate = spread_lanes_simulate,
};
