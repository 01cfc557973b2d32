/* fill.c -- T.fill(dst, value), T.clear(dst): set every element of a region.
 *
 * Layout    asks for none: dst keeps what its other users need.
 * Lowering  a parallel nest of stores; elements outside a global buffer are dropped. */
#include "op/op.h"
#include "ir/config.h"
#include "sim/sim.h"

enum { DST };
enum { VALUE };

static void fill_check(Kernel *k, const Stmt *t)
{
    const Buffer *b = t->u.tile.region[DST].buf;
    if (b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER)
        diag_error(k->diag, t->span, "fill cannot write the barrier '%s' [copy-scope]", b->name);
    if (t->u.tile.narg < 1 || t->u.tile.arg[VALUE] == NULL)
        diag_error(k->diag, t->span, "fill needs a value [tile-operand]");
    else if (t->u.tile.arg[VALUE]->lanes != 1)
        diag_error(k->diag, t->span, "fill takes a scalar, not a vector [tile-operand]");
}

static const Stmt *fill_lower(Kernel *k, const Stmt *t)
{
    const Region *r = &t->u.tile.region[DST];
    const Expr *at[RANK_MOST], *extent[RANK_MOST], *guard = NULL;
    int dim[RANK_MOST], ndim = region_dims(r, dim);
    Nest n;
    for (int i = 0; i < ndim; i++)
        extent[i] = r->extent[dim[i]];
    nest_open(k, &n, ndim, extent);
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = r->at[d];
    for (int i = 0; i < ndim; i++)
        at[dim[i]] = expr_add(k->ir, r->at[dim[i]], n.at[i]);
    if (r->buf->scope == MEM_GLOBAL && !config_on(k->func, CONFIG_disable_safe_memory_legalize)) {
        Facts *f = kernel_facts(k);
        nest_facts(k, &n, f);
        guard = region_guard(k->ir, f, r->buf, at);
    }
    const Expr *value = expr_cast(k->ir, r->buf->type, t->u.tile.arg[VALUE]);
    const Stmt *s = guard
        ? stmt_store_guarded(k->ir, t->span, r->buf, at, r->buf->rank, value, guard)
        : stmt_store(k->ir, t->span, r->buf, at, r->buf->rank, value);
    return nest_close(k, t->span, &n, LOOP_PARALLEL, s);
}

static void fill_simulate(Sim *m, const Stmt *t)
{
    SimRegion r = sim_region(m, t, &t->u.tile.region[DST]);
    const Expr *e = t->u.tile.arg[VALUE];
    Value1 v = value_cast(e->type, r.buf->type, sim_value(m, e));
    int64_t at[RANK_MOST] = {0};
    if (sim_region_empty(&r))
        return;
    do
        sim_put(m, t, &r, at, v);
    while (sim_next(r.rank, r.extent, at));
}

const TileOp op_fill = {
    .name = "fill",
    .id = OP_fill,
    .traits = TILE_FILLS | TILE_BY_ELEMENT | TILE_STAGES,
    .params = "dst: region, value: scalar",
    .doc = "set every element of a region",
    .nregion = 1,
    .check = fill_check,
    .effects = "w",
    .infer = infer_nothing,
    .lower = fill_lower,
    .simulate = fill_simulate,
};
