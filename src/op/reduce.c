/* reduce.c -- T.reduce_sum and its kin along one dimension.
 *
 * Meaning   elements are cast to the result's type and combined; a float sum is rounded once, at
 *           the end.  clear=False combines the result once with what dst held.
 * Layout    dst is the source's fragment with `dim` reduced, replicated over dim's threads.
 * Lowering  along the contiguous dimension a scalar accumulates; along another one the rows
 *           are combined into dst, so that the inner loop is contiguous either way. */
#include "op/op.h"
#include "sim/sim.h"

enum { SRC, DST };
enum { DIM, CLEAR, BATCH, NAN_PROPAGATE };

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool shape_error(Kernel *k, const Stmt *t, int dim)
{
    Str a, b;
    str_init(&a, k->arena);
    str_init(&b, k->arena);
    region_text(&a, &t->u.tile.region[SRC]);
    region_text(&b, &t->u.tile.region[DST]);
    diag_error(k->diag, t->span,
               "reduce_%s of %s along dimension %d cannot go to %s: the result keeps the other "
               "dimensions [reduce-shape]", t->u.tile.text, a.s, dim, b.s);
    return false;
}

bool reduce_shape(Kernel *k, const Stmt *t, Reduce *x)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int dst_dim[RANK_MOST], ndst = region_dims(dst, dst_dim);
    int64_t dim = tile_arg_int(t, DIM, -1);
    if (dim < -src->buf->rank || dim >= src->buf->rank) {
        diag_error(k->diag, t->span,
                   "reduce_%s along dimension %lld of '%s', which has %d [reduce-dim]",
                   t->u.tile.text, (long long)dim, src->buf->name, src->buf->rank);
        return false;
    }
    x->dim = (int)(dim < 0 ? dim + src->buf->rank : dim);
    x->r = reduction_find(t->u.tile.text);
    x->clear = tile_arg_int(t, CLEAR, 1) != 0;
    x->nan = tile_arg_int(t, NAN_PROPAGATE, 0) != 0;
    x->nkept = 0;
    for (int d = 0; d < src->buf->rank; d++) {
        if (d == x->dim || region_extent_int(src, d) == 1)
            continue;
        if (x->nkept >= ndst)
            return shape_error(k, t, x->dim);
        x->from[x->nkept] = d;
        x->to[x->nkept] = dst_dim[x->nkept];
        int64_t a = region_extent_int(src, d), b = region_extent_int(dst, dst_dim[x->nkept]);
        if (a >= 0 && b >= 0 && a != b)
            return shape_error(k, t, x->dim);
        x->nkept++;
    }
    return x->nkept == ndst || shape_error(k, t, x->dim);
}

static void reduce_check(Kernel *k, const Stmt *t)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    Reduce x = {.r = reduction_find(t->u.tile.text)};
    if (x.r == NULL) {
        diag_error(k->diag, t->span, "there is no reduction '%s' [reduce-op]",
                   t->u.tile.text ? t->u.tile.text : "");
        return;
    }
    for (int i = SRC; i <= DST; i++) {
        const Buffer *b = t->u.tile.region[i].buf;
        if (b->scope == MEM_GLOBAL || b->scope == MEM_BARRIER) {
            diag_error(k->diag, t->span, "reduce works on tiles; '%s' is %s; T.copy it to one "
                       "first [reduce-scope]",
                       b->name, mem_name(b->scope));
            return;
        }
    }
    if (x.r->ints && (dtype_is_float(src->buf->type) || dtype_is_float(dst->buf->type)))
        diag_error(k->diag, t->span, "reduce_%s needs integers, not %s [reduce-dtype]",
                   t->u.tile.text,
                   dtype_name(dtype_is_float(src->buf->type) ? src->buf->type : dst->buf->type));
    if (dtype_is_float(src->buf->type) && dtype_is_int(dst->buf->type))
        diag_error(k->diag, t->span, "%s of '%s' would lose their fractions in %s of '%s' "
                   "[reduce-dtype]", dtype_name(src->buf->type), src->buf->name,
                   dtype_name(dst->buf->type), dst->buf->name);
    reduce_shape(k, t, &x);
}

static void reduce_access(const Stmt *t, AccessFn *see, void *arg)
{
    see(arg, &t->u.tile.region[SRC], ACC_READ);
    see(arg, &t->u.tile.region[DST],
        tile_arg_int(t, CLEAR, 1) ? ACC_WRITE : (Access)(ACC_READ | ACC_WRITE));
}

/* Results that go to memory: whole rows with few threads, so that their parts meet in one warp. */
static void infer_rows(Infer *in, const Stmt *t)
{
    const Buffer *b = t->u.tile.region[SRC].buf;
    int64_t shape[RANK_MOST], w = kernel_access(in->k, b->type);
    if (in->level != INFER_COMMON || infer_get(in, b) || b->rank == 0 || in->nthread == 1 ||
        !buffer_static_shape(b, shape))
        return;
    while (shape[b->rank - 1] % w != 0)
        w /= 2;
    infer_set(in, b, fragment_rows_best(in->ir, b->rank, shape, in->nthread, w,
                                        kernel_warp(in->k)), t);
}

enum { ASKED_MOST = 64 };

/* Which of many elements a thread holds it could only find out by asking for each: then the result
 * is had by way of shared memory, and lies as well in any other layout. */
static bool asks_for_each(Ir *ir, const Layout *l)
{
    const Expr *at[RANK_MOST + 1], *guard;

    return layout_points(l) > ASKED_MOST && !fragment_inverse(ir, l, at, &guard);
}

/* Where a result lies best if its source lies so; NULL: there is no such layout. */
static const Layout *layout_of_result(Kernel *k, const Stmt *t, const Layout *from)
{
    const Region *dst = &t->u.tile.region[DST];
    Reduce x = {.r = reduction_find(t->u.tile.text)};
    int64_t shape[RANK_MOST];

    if (from == NULL || !layout_is_fragment(from) || !reduce_shape(k, t, &x))
        return NULL;
    const Layout *r = fragment_reduce(k->ir, from, x.dim);
    if (r && r->rank != dst->buf->rank)
        r = buffer_static_shape(dst->buf, shape) ? layout_reshape(k->ir, r, dst->buf->rank, shape)
                                                 : NULL;
    return r;
}

static bool reduce_scatters(Kernel *k, const Stmt *t, const Layout *from)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    bool whole = region_is_whole(src) && region_is_whole(dst);
    const Layout *r = whole ? layout_of_result(k, t, from) : NULL;

    return r && asks_for_each(k->ir, r);
}

static void reduce_infer(Infer *in, const Stmt *t)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];

    if (in->asking || src->buf->scope != MEM_FRAGMENT)
        return; /* results go to any layout, though to this one best */
    if (dst->buf->scope != MEM_FRAGMENT) {
        infer_rows(in, t);
        return;
    }
    if (!region_is_whole(src) || !region_is_whole(dst) || infer_get(in, dst->buf))
        return;
    const Layout *r = layout_of_result(in->k, t, infer_get(in, src->buf));
    if (r && !asks_for_each(in->ir, r))
        infer_set(in, dst->buf, r, t);
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    const Region *src, *dst;
    Reduce x;
    Nest kept;
    Var *var;            /* along the reduced dimension */
    const Expr *along;
    const Expr *from[RANK_MOST], *to[RANK_MOST];
} Lower;

/* Variables are made in the order of their loops, as a reader of the dump will make them: sums are
 * sorted by it. */
static void open_loops(Lower *l, bool rows)
{
    const Expr *extent[RANK_MOST];
    for (int i = 0; i < l->x.nkept; i++)
        extent[i] = l->src->extent[l->x.from[i]];
    nest_open(l->k, &l->kept, l->x.nkept, extent);
    l->var = var_new(l->ir, "r", DT_I32, NO_SPAN);
    l->along = expr_var(l->ir, l->var);
    for (int i = 0; rows && !l->x.clear && i < l->x.nkept; i++)
        if (l->x.from[i] > l->x.dim) {
            l->kept.var[i] = var_new(l->ir, l->kept.var[i]->name, DT_I32, NO_SPAN);
            l->kept.at[i] = expr_var(l->ir, l->kept.var[i]);
        }
    for (int d = 0; d < l->src->buf->rank; d++)
        l->from[d] = l->src->at[d];
    for (int d = 0; d < l->dst->buf->rank; d++)
        l->to[d] = l->dst->at[d];
    for (int i = 0; i < l->x.nkept; i++) {
        int a = l->x.from[i], b = l->x.to[i];
        l->from[a] = expr_add(l->ir, l->src->at[a], l->kept.at[i]);
        l->to[b] = expr_add(l->ir, l->dst->at[b], l->kept.at[i]);
    }
    l->from[l->x.dim] = expr_add(l->ir, l->src->at[l->x.dim], l->along);
}

static const Expr *term(Lower *l, DType t)
{
    const Expr *v = expr_load(l->ir, l->src->buf, l->from, l->src->buf->rank);
    return reduction_term(l->ir, l->x.r, t, expr_cast(l->ir, l->dst->buf->type, v));
}

static const Expr *old_value(Lower *l, DType t)
{
    return expr_cast(l->ir, t, expr_load(l->ir, l->dst->buf, l->to, l->dst->buf->rank));
}

static const Stmt *put(Lower *l, const Expr *v)
{
    return stmt_store(l->ir, l->t->span, l->dst->buf, l->to, l->dst->buf->rank,
                      expr_cast(l->ir, l->dst->buf->type, v));
}

static const Stmt *along_loop(Lower *l, const Stmt *body)
{
    return stmt_for(l->ir, l->t->span, LOOP_SERIAL, l->var, expr_int(l->ir, 0),
                    l->src->extent[l->x.dim], (Hints){0}, body);
}

static const Stmt *lower_scalar(Lower *l)
{
    DType t = accumulate_type(l->dst->buf->type);
    Span at = l->t->span;
    Buffer *acc = kernel_scalar(l->k, "acc", t, at);
    const Expr *now = scalar_get(l->k, acc);
    const Expr *next = reduction_combine(l->ir, l->x.r, l->x.nan, now, term(l, t));
    const Stmt *s = scalar_set(l->k, at, acc, reduction_identity(l->ir, l->x.r, t));
    s = stmt_seq(l->ir, s, along_loop(l, scalar_set(l->k, at, acc, next)));
    if (!l->x.clear)
        now = reduction_combine(l->ir, l->x.r, l->x.nan, old_value(l, t), now);
    s = stmt_seq(l->ir, s, put(l, now));
    return nest_close(l->k, at, &l->kept, LOOP_PARALLEL, s);
}

/* Kept dimensions before the reduced one stay outside, those after it go inside. */
static const Stmt *lower_rows(Lower *l)
{
    DType t = l->dst->buf->type;
    Nest outer = l->kept, inner = l->kept;
    outer.n = 0;
    while (outer.n < l->x.nkept && l->x.from[outer.n] < l->x.dim)
        outer.n++;
    inner.n = l->x.nkept - outer.n;
    for (int i = 0; i < inner.n; i++) {
        inner.var[i] = l->kept.var[outer.n + i];
        inner.extent[i] = l->kept.extent[outer.n + i];
    }
    const Expr *next = reduction_combine(l->ir, l->x.r, l->x.nan, old_value(l, t), term(l, t));
    const Stmt *s = nest_close(l->k, l->t->span, &inner, LOOP_PARALLEL, put(l, next));
    s = along_loop(l, s);
    if (l->x.clear) {
        const Stmt *init = put(l, reduction_identity(l->ir, l->x.r, t));
        s = stmt_seq(l->ir, nest_close(l->k, l->t->span, &inner, LOOP_PARALLEL, init), s);
    }
    return nest_close(l->k, l->t->span, &outer, LOOP_PARALLEL, s);
}

static const Stmt *reduce_lower(Kernel *k, const Stmt *t)
{
    Lower l = {.k = k, .ir = k->ir, .t = t, .src = &t->u.tile.region[SRC],
               .dst = &t->u.tile.region[DST]};
    l.x.r = reduction_find(t->u.tile.text);
    if (l.x.r == NULL || !reduce_shape(k, t, &l.x))
        diag_throw(k->diag);
    bool last = l.x.nkept == 0 || l.x.from[l.x.nkept - 1] < l.x.dim;
    bool narrow = accumulate_type(l.dst->buf->type) != l.dst->buf->type;
    bool rows = !last && !narrow && !kernel_on_warps(k);
    open_loops(&l, rows);
    return rows ? lower_rows(&l) : lower_scalar(&l);
}

/* ---- meaning --------------------------------------------------------------------------------- */

static Value1 reduce_one(Sim *m, const Stmt *t, const Reduce *x, const SimRegion *src, int64_t *at)
{
    DType from = src->buf->type, to = t->u.tile.region[DST].buf->type;
    Value1 acc = sim_value(m, reduction_identity(sim_kernel(m)->ir, x->r, to));
    DType arg[1] = {to};
    for (int64_t i = 0; i < src->extent[x->dim]; i++) {
        Value1 v;
        at[x->dim] = i;
        sim_get(m, t, src, at, &v);
        v = value_cast(from, to, v);
        if (x->r->abs && to != DT_BOOL)
            v = value_math(MATH_ABS, to, arg, &v);
        acc = value_reduce(x->r, x->nan, to, acc, v);
    }
    return acc;
}

static void reduce_simulate(Sim *m, const Stmt *t)
{
    Reduce x = {.r = reduction_find(t->u.tile.text)};
    if (!reduce_shape(sim_kernel(m), t, &x))
        diag_throw(sim_kernel(m)->diag);
    SimRegion src = sim_region(m, t, &t->u.tile.region[SRC]);
    SimRegion dst = sim_region(m, t, &t->u.tile.region[DST]);
    DType to = dst.buf->type;
    int64_t extent[RANK_MOST], loop[RANK_MOST] = {0}, si[RANK_MOST] = {0}, di[RANK_MOST] = {0};
    for (int i = 0; i < x.nkept; i++) {
        extent[i] = src.extent[x.from[i]];
        if (extent[i] <= 0)
            return;
    }
    do {
        for (int i = 0; i < x.nkept; i++) {
            si[x.from[i]] = loop[i];
            di[x.to[i]] = loop[i];
        }
        Value1 v = reduce_one(m, t, &x, &src, si), old;
        if (!x.clear) {
            sim_get(m, t, &dst, di, &old);
            v = value_reduce(x.r, x.nan, to, old, v);
        }
        if (dtype_is_float(to))
            v.f = value_round(to, v.f);
        sim_put(m, t, &dst, di, v);
    } while (sim_next(x.nkept, extent, loop));
}

static double reduce_flops(const Stmt *t)
{
    int64_t n = region_nelem(&t->u.tile.region[SRC]);
    return n > 0 ? (double)n : 0;
}

const TileOp op_reduce = {
    .name = "reduce",
    .id = OP_reduce,
    .traits = TILE_WALKS,
    .by_owner = 1u << DST,
    .params = "src: region, dst: region, dim: int, clear: bool, batch: int, nan_propagate: bool",
    .doc = "combine the elements along one dimension; clear=False combines with the old result",
    .nregion = 2,
    .check = reduce_check,
    .access = reduce_access,
    .infer = reduce_infer,
    .scatters = reduce_scatters,
    .lower = reduce_lower,
    .simulate = reduce_simulate,
    .flops = reduce_flops,
};
