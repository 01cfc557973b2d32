/* reducer.c -- T.alloc_reducer's epoch: init, one update per logical iteration, finalize.
 *
 * Meaning   the reducer holds the combination of its seed (once) and of every update (once each,
 *           however the loop is replicated); finalize gives it to dst.
 * Layout    asks for none.
 * Lowering  where one thread runs the block, the reducer is an ordinary accumulator. */
#include "op/op.h"
#include "sim/sim.h"

enum { REDUCER, DST };
enum { VALUE };

static const Reduction *word_of(const Stmt *t)
{
    return reduction_find(t->u.tile.region[REDUCER].buf->reducer);
}

static bool is_reducer(Kernel *k, const Stmt *t)
{
    const Buffer *b = t->u.tile.region[REDUCER].buf;
    if (b->scope != MEM_REDUCER || word_of(t) == NULL) {
        diag_error(k->diag, t->span,
                   "'%s' is not a reducer; make it with T.alloc_reducer [argument-type]", b->name);
        return false;
    }
    return true;
}

static const Expr *value_of(const Stmt *t)
{
    return t->u.tile.narg > VALUE ? t->u.tile.arg[VALUE] : NULL;
}

/* A nest over the region with value(at) stored at each point. */
static const Stmt *fill_region(Kernel *k, const Stmt *t, const Region *r, const Expr *value)
{
    const Expr *at[RANK_MOST];
    Nest n;
    nest_open(k, &n, r->buf->rank, r->extent);
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = expr_add(k->ir, r->at[d], n.at[d]);
    const Stmt *s = stmt_store(k->ir, t->span, r->buf, at, r->buf->rank, value);
    return nest_close(k, t->span, &n, LOOP_PARALLEL, s);
}

/* ---- init ------------------------------------------------------------------------------------ */

static void init_check(Kernel *k, const Stmt *t)
{
    is_reducer(k, t);
}

static const Expr *first_value(Ir *ir, const Stmt *t)
{
    DType type = t->u.tile.region[REDUCER].buf->type;
    return value_of(t) ? expr_cast(ir, type, value_of(t))
                       : reduction_identity(ir, word_of(t), type);
}

static const Stmt *init_lower(Kernel *k, const Stmt *t)
{
    return fill_region(k, t, &t->u.tile.region[REDUCER], first_value(k->ir, t));
}

static void init_simulate(Sim *m, const Stmt *t)
{
    SimRegion r = sim_region(m, t, &t->u.tile.region[REDUCER]);
    Value1 v = sim_value(m, first_value(sim_kernel(m)->ir, t));
    int64_t at[RANK_MOST] = {0};
    if (sim_region_empty(&r))
        return;
    do
        sim_put(m, t, &r, at, v);
    while (sim_next(r.rank, r.extent, at));
}

/* ---- update ---------------------------------------------------------------------------------- */

static void update_check(Kernel *k, const Stmt *t)
{
    if (is_reducer(k, t) && value_of(t) == NULL)
        diag_error(k->diag, t->span, "reducer_update needs a value [tile-operand]");
}

static void update_access(const Stmt *t, AccessFn *see, void *arg)
{
    see(arg, &t->u.tile.region[REDUCER], (Access)(ACC_READ | ACC_WRITE | ACC_REDUCE));
}

static const Stmt *update_lower(Kernel *k, const Stmt *t)
{
    const Region *r = &t->u.tile.region[REDUCER];
    const Reduction *word = word_of(t);
    const Expr *old = expr_load(k->ir, r->buf, r->at, r->buf->rank);
    const Expr *v = reduction_term(k->ir, word, r->buf->type, value_of(t));
    return stmt_store(k->ir, t->span, r->buf, r->at, r->buf->rank,
                      reduction_combine(k->ir, word, false, old, v));
}

static void update_simulate(Sim *m, const Stmt *t)
{
    SimRegion r = sim_region(m, t, &t->u.tile.region[REDUCER]);
    int64_t at[RANK_MOST] = {0};
    DType type = r.buf->type;
    Value1 old, v = value_cast(value_of(t)->type, type, sim_value(m, value_of(t)));
    sim_get(m, t, &r, at, &old);
    v = value_reduce(word_of(t), false, type, old, v);
    if (dtype_is_float(type))
        v.f = value_round(type, v.f);
    sim_put(m, t, &r, at, v);
}

/* ---- finalize -------------------------------------------------------------------------------- */

static void final_check(Kernel *k, const Stmt *t)
{
    RegionMatch m;
    if (is_reducer(k, t) && t->u.tile.nregion > 1)
        region_match(k, t->span, &t->u.tile.region[REDUCER], &t->u.tile.region[DST], &m);
}

static const Stmt *final_lower(Kernel *k, const Stmt *t)
{
    if (t->u.tile.nregion < 2)
        return NULL;
    const Region *src = &t->u.tile.region[REDUCER], *dst = &t->u.tile.region[DST];
    const Expr *from[RANK_MOST], *to[RANK_MOST];
    RegionMatch m;
    Nest n;
    if (!region_match(k, t->span, src, dst, &m))
        diag_throw(k->diag);
    nest_open(k, &n, m.n, m.extent);
    region_point(k->ir, src, &m, 0, n.at, from);
    region_point(k->ir, dst, &m, 1, n.at, to);
    const Expr *v = expr_load(k->ir, src->buf, from, src->buf->rank);
    const Stmt *s = stmt_store(k->ir, t->span, dst->buf, to, dst->buf->rank,
                               expr_cast(k->ir, dst->buf->type, v));
    return nest_close(k, t->span, &n, LOOP_PARALLEL, s);
}

static void final_simulate(Sim *m, const Stmt *t)
{
    if (t->u.tile.nregion > 1)
        sim_copy(m, t, &t->u.tile.region[REDUCER], &t->u.tile.region[DST]);
}

const TileOp op_reducer_init = {
    .name = "reducer_init",
    .id = OP_reducer_init,
    .epoch = EPOCH_OPENS,
    .params = "reducer: region, seed: scalar",
    .doc = "open an epoch of a reducer; the seed counts once",
    .nregion = 1,
    .check = init_check,
    .effects = "w",
    .infer = infer_nothing,
    .lower = init_lower,
    .simulate = init_simulate,
};

const TileOp op_reducer_update = {
    .name = "reducer_update",
    .id = OP_reducer_update,
    .traits = TILE_ITERATES,
    .epoch = EPOCH_ADDS,
    .params = "reducer: element, value: scalar",
    .doc = "one contribution of one logical iteration",
    .nregion = 1,
    .check = update_check,
    .access = update_access,
    .infer = infer_nothing,
    .lower = update_lower,
    .simulate = update_simulate,
};

const TileOp op_reducer_final = {
    .name = "reducer_final",
    .id = OP_reducer_final,
    .epoch = EPOCH_CLOSES,
    .params = "reducer: region, dst: region",
    .doc = "close the epoch into dst",
    .nregion = -1,
    .check = final_check,
    .effects = "rw",
    .infer = infer_nothing,
    .lower = final_lower,
    .simulate = final_simulate,
};
