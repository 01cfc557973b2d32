/* transpose.c -- T.transpose(src, dst): dst[…, j, i] = src[…, i, j] between tiles.
 *
 * Layout    asks for none.
 * Lowering  a parallel nest that stores along dst's rows. */
#include "op/op.h"
#include "sim/sim.h"

enum { SRC, DST };

/* The last two dimensions change places; those before them go along, or are 1. */
typedef struct {
    int nbatch;      /* leading dimensions, the same on both sides */
    int src[2], dst[2];
} Dims;

static int longest(const Region *r)
{
    int n = 0;
    for (int d = 0; d < r->buf->rank - 2; d++)
        if (region_extent_int(r, d) != 1)
            n = d + 1;
    return n;
}

static bool disagree(Kernel *k, const Stmt *t, int a, int b)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int64_t x = region_extent_int(src, a), y = region_extent_int(dst, b);

    if (x < 0 || y < 0 || x == y)
        return false;
    diag_error(k->diag, t->span,
               "transpose: dimension %d of '%s' is %lld, dimension %d of '%s' is %lld "
               "[copy-shape]",
               a, src->buf->name, (long long)x, b, dst->buf->name, (long long)y);
    return true;
}

static bool transpose_dims(Kernel *k, const Stmt *t, Dims *dims)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int n = src->buf->rank, m = dst->buf->rank;

    if (n < 2 || m < 2 || (n != m && (longest(src) || longest(dst)))) {
        diag_error(k->diag, t->span, "transpose needs two dimensions of '%s' [copy-shape]",
                   n < 2 || longest(src) ? src->buf->name : dst->buf->name);
        return false;
    }
    *dims = (Dims){MAX(longest(src), longest(dst)), {n - 2, n - 1}, {m - 2, m - 1}};
    for (int d = 0; d < dims->nbatch; d++)
        if (disagree(k, t, d, d))
            return false;
    return !disagree(k, t, n - 2, m - 1) && !disagree(k, t, n - 1, m - 2);
}

static void transpose_check(Kernel *k, const Stmt *t)
{
    Dims dims;
    if (t->u.tile.region[SRC].buf == t->u.tile.region[DST].buf)
        diag_error(k->diag, t->span, "transpose cannot work in place ('%s') [transpose-alias]",
                   t->u.tile.region[SRC].buf->name);
    transpose_dims(k, t, &dims);
}

static const Stmt *transpose_lower(Kernel *k, const Stmt *t)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    const Expr *extent[RANK_MOST], *from[RANK_MOST], *to[RANK_MOST];
    Dims dims;
    Nest n;

    if (!transpose_dims(k, t, &dims))
        diag_throw(k->diag);
    for (int d = 0; d < dims.nbatch; d++)
        extent[d] = dst->extent[d];
    for (int i = 0; i < 2; i++)
        extent[dims.nbatch + i] = dst->extent[dims.dst[i]];
    nest_open(k, &n, dims.nbatch + 2, extent);
    for (int d = 0; d < src->buf->rank; d++)
        from[d] = d < dims.nbatch ? expr_add(k->ir, src->at[d], n.at[d]) : src->at[d];
    for (int d = 0; d < dst->buf->rank; d++)
        to[d] = d < dims.nbatch ? expr_add(k->ir, dst->at[d], n.at[d]) : dst->at[d];
    for (int i = 0; i < 2; i++) {
        from[dims.src[i]] = expr_add(k->ir, src->at[dims.src[i]], n.at[dims.nbatch + 1 - i]);
        to[dims.dst[i]] = expr_add(k->ir, dst->at[dims.dst[i]], n.at[dims.nbatch + i]);
    }
    const Expr *v = expr_load(k->ir, src->buf, from, src->buf->rank);
    const Stmt *s = stmt_store(k->ir, t->span, dst->buf, to, dst->buf->rank,
                               expr_cast(k->ir, dst->buf->type, v));
    return nest_close(k, t->span, &n, LOOP_PARALLEL, s);
}

static void transpose_simulate(Sim *m, const Stmt *t)
{
    Dims dims;
    if (!transpose_dims(sim_kernel(m), t, &dims))
        diag_throw(sim_kernel(m)->diag);
    SimRegion src = sim_region(m, t, &t->u.tile.region[SRC]);
    SimRegion dst = sim_region(m, t, &t->u.tile.region[DST]);
    int64_t si[RANK_MOST] = {0}, di[RANK_MOST] = {0};
    do {
        Value1 v;
        for (int d = 0; d < dims.nbatch; d++)
            di[d] = si[d];
        for (int i = 0; i < 2; i++)
            di[dims.dst[1 - i]] = si[dims.src[i]];
        sim_get(m, t, &src, si, &v);
        sim_put(m, t, &dst, di, value_cast(src.buf->type, dst.buf->type, v));
    } while (sim_next(src.rank, src.extent, si));
}

const TileOp op_transpose = {
    .name = "transpose",
    .id = OP_transpose,
    .traits = TILE_WALKS | TILE_BY_ELEMENT,
    .params = "src: region, dst: region",
    .doc = "dst[j, i] = src[i, j]",
    .nregion = 2,
    .check = transpose_check,
    .effects = "rw",
    .infer = infer_nothing,
    .lower = transpose_lower,
    .simulate = transpose_simulate,
};
