/* transpose.c -- T.transpose(src, dst): dst[j, i] = src[i, j] between tiles.
 *
 * Layout    asks for none.
 * Lowering  a parallel nest that stores along dst's rows. */
#include "op/op.h"
#include "sim/sim.h"

enum { SRC, DST };

static bool matrix_dims(Kernel *k, const Stmt *t, const Region *r, int *dim)
{
    int n = r->buf->rank;
    for (int d = 0; d < n - 2; d++)
        if (region_extent_int(r, d) != 1)
            n = 0;
    if (n < 2) {
        diag_error(k->diag, t->span, "transpose needs two dimensions of '%s' [copy-shape]",
                   r->buf->name);
        return false;
    }
    dim[0] = n - 2;
    dim[1] = n - 1;
    return true;
}

static bool transpose_dims(Kernel *k, const Stmt *t, int *sd, int *dd)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    if (!matrix_dims(k, t, src, sd) || !matrix_dims(k, t, dst, dd))
        return false;
    for (int i = 0; i < 2; i++) {
        int64_t a = region_extent_int(src, sd[i]), b = region_extent_int(dst, dd[1 - i]);
        if (a >= 0 && b >= 0 && a != b) {
            diag_error(k->diag, t->span,
                       "transpose: dimension %d of '%s' is %lld, dimension %d of '%s' is %lld "
                       "[copy-shape]", sd[i], src->buf->name, (long long)a, dd[1 - i],
                       dst->buf->name, (long long)b);
            return false;
        }
    }
    return true;
}

static void transpose_check(Kernel *k, const Stmt *t)
{
    int sd[2], dd[2];
    if (t->u.tile.region[SRC].buf == t->u.tile.region[DST].buf)
        diag_error(k->diag, t->span, "transpose cannot work in place ('%s') [transpose-alias]",
                   t->u.tile.region[SRC].buf->name);
    transpose_dims(k, t, sd, dd);
}

static void transpose_access(const Stmt *t, AccessFn *see, void *arg)
{
    see(arg, &t->u.tile.region[SRC], ACC_READ);
    see(arg, &t->u.tile.region[DST], ACC_WRITE);
}

static const Stmt *transpose_lower(Kernel *k, const Stmt *t)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int sd[2], dd[2];
    if (!transpose_dims(k, t, sd, dd))
        diag_throw(k->diag);
    const Expr *extent[2] = {dst->extent[dd[0]], dst->extent[dd[1]]};
    const Expr *from[RANK_MOST], *to[RANK_MOST];
    Nest n;
    nest_open(k, &n, 2, extent);
    for (int d = 0; d < src->buf->rank; d++)
        from[d] = src->at[d];
    for (int d = 0; d < dst->buf->rank; d++)
        to[d] = dst->at[d];
    for (int i = 0; i < 2; i++) {
        from[sd[i]] = expr_add(k->ir, src->at[sd[i]], n.at[1 - i]);
        to[dd[i]] = expr_add(k->ir, dst->at[dd[i]], n.at[i]);
    }
    const Expr *v = expr_load(k->ir, src->buf, from, src->buf->rank);
    const Stmt *s = stmt_store(k->ir, t->span, dst->buf, to, dst->buf->rank,
                               expr_cast(k->ir, dst->buf->type, v));
    return nest_close(k, t->span, &n, LOOP_PARALLEL, s);
}

static void transpose_simulate(Sim *m, const Stmt *t)
{
    int sd[2], dd[2];
    if (!transpose_dims(sim_kernel(m), t, sd, dd))
        diag_throw(sim_kernel(m)->diag);
    SimRegion src = sim_region(m, t, &t->u.tile.region[SRC]);
    SimRegion dst = sim_region(m, t, &t->u.tile.region[DST]);
    int64_t si[RANK_MOST] = {0}, di[RANK_MOST] = {0};
    for (int64_t i = 0; i < src.extent[sd[0]]; i++)
        for (int64_t j = 0; j < src.extent[sd[1]]; j++) {
            Value1 v;
            si[sd[0]] = di[dd[1]] = i;
            si[sd[1]] = di[dd[0]] = j;
            sim_get(m, t, &src, si, &v);
            sim_put(m, t, &dst, di, value_cast(src.buf->type, dst.buf->type, v));
        }
}

const TileOp op_transpose = {
    .name = "transpose",
    .id = OP_transpose,
    .params = "src: region, dst: region",
    .doc = "dst[j, i] = src[i, j]",
    .nregion = 2,
    .check = transpose_check,
    .access = transpose_access,
    .infer = infer_nothing,
    .lower = transpose_lower,
    .simulate = transpose_simulate,
};
