/* scan.c -- T.cumsum, T.cummax: inclusive scan along one dimension, perhaps from its end.
 *
 * Meaning   the running value is carried unrounded and rounded where it is kept.  src and dst may
 *           be one buffer.
 * Layout    dst lies as the source does.
 * Lowering  along the contiguous dimension a scalar runs; along another one each row is the
 *           one before it combined with its source. */
#include "op/op.h"
#include "sim/sim.h"

enum { SRC, DST };
enum { DIM, REVERSE };

bool scan_shape(Kernel *k, const Stmt *t, Scan *x)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int64_t dim = tile_arg_int(t, DIM, 0);
    x->r = reduction_find(t->u.tile.text);
    if (x->r == NULL || x->r->abs || (x->r->op != EX_ADD && x->r->op != EX_MAX)) {
        diag_error(k->diag, t->span, "there is no scan 'cum%s' [reduce-op]",
                   t->u.tile.text ? t->u.tile.text : "");
        return false;
    }
    if (dim < -src->buf->rank || dim >= src->buf->rank) {
        diag_error(k->diag, t->span,
                   "cum%s along dimension %lld of '%s', which has %d [reduce-dim]", t->u.tile.text,
                   (long long)dim, src->buf->name, src->buf->rank);
        return false;
    }
    x->dim = (int)(dim < 0 ? dim + src->buf->rank : dim);
    x->reverse = tile_arg_int(t, REVERSE, 0) != 0;
    bool same = src->buf->rank == dst->buf->rank;
    for (int d = 0; same && d < src->buf->rank; d++) {
        int64_t a = region_extent_int(src, d), b = region_extent_int(dst, d);
        same = a < 0 || b < 0 || a == b;
    }
    if (same)
        return true;
    Str a, b;
    str_init(&a, k->arena);
    str_init(&b, k->arena);
    region_text(&a, src);
    region_text(&b, dst);
    diag_error(k->diag, t->span, "cum%s of %s cannot go to %s: the shapes differ [reduce-shape]",
               t->u.tile.text, a.s, b.s);
    return false;
}

static void scan_check(Kernel *k, const Stmt *t)
{
    Scan x;
    for (int i = SRC; i <= DST; i++) {
        const Buffer *b = t->u.tile.region[i].buf;
        if (b->scope == MEM_GLOBAL || b->scope == MEM_BARRIER || b->scope == MEM_VAR) {
            diag_error(k->diag, t->span, "a scan works on tiles; '%s' is %s [reduce-scope]",
                       b->name, mem_name(b->scope));
            return;
        }
    }
    scan_shape(k, t, &x);
}

static void scan_infer(Infer *in, const Stmt *t)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    if (in->asking || src->buf->scope != MEM_FRAGMENT || dst->buf->scope != MEM_FRAGMENT ||
        src->buf == dst->buf || !region_is_whole(src) || !region_is_whole(dst))
        return;
    const Layout *a = infer_get(in, src->buf), *b = infer_get(in, dst->buf);
    if (a && !b && layout_is_fragment(a))
        infer_set(in, dst->buf, a, t);
    else if (b && !a && layout_is_fragment(b))
        infer_set(in, src->buf, b, t);
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    const Region *src, *dst;
    Scan x;
    Nest rest;            /* over the dimensions that are not scanned */
    int of[RANK_MOST];    /* dimension of each loop of rest */
} Lower;

static void open_rest(Lower *l)
{
    const Expr *extent[RANK_MOST];
    int n = 0;
    for (int d = 0; d < l->src->buf->rank; d++)
        if (d != l->x.dim && region_extent_int(l->src, d) != 1) {
            l->of[n] = d;
            extent[n++] = l->src->extent[d];
        }
    nest_open(l->k, &l->rest, n, extent);
}

/* The element of r at step `i` of the scan. */
static void point(Lower *l, const Region *r, const Expr *i, const Expr **at)
{
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = r->at[d];
    for (int j = 0; j < l->rest.n; j++)
        at[l->of[j]] = expr_add(l->ir, r->at[l->of[j]], l->rest.at[j]);
    if (l->x.reverse) {
        const Expr *last = expr_sub(l->ir, r->extent[l->x.dim], expr_int(l->ir, 1));
        i = expr_sub(l->ir, last, i);
    }
    at[l->x.dim] = expr_add(l->ir, r->at[l->x.dim], i);
}

static const Expr *get(Lower *l, const Region *r, const Expr *i, DType t)
{
    const Expr *at[RANK_MOST];
    point(l, r, i, at);
    const Expr *v = expr_load(l->ir, r->buf, at, r->buf->rank);
    return expr_cast(l->ir, t, expr_cast(l->ir, l->dst->buf->type, v));
}

static const Stmt *put(Lower *l, const Expr *i, const Expr *v)
{
    const Expr *at[RANK_MOST];
    point(l, l->dst, i, at);
    return stmt_store(l->ir, l->t->span, l->dst->buf, at, l->dst->buf->rank,
                      expr_cast(l->ir, l->dst->buf->type, v));
}

static const Stmt *lower_scalar(Lower *l)
{
    DType t = accumulate_type(l->dst->buf->type);
    Span at = l->t->span;
    Buffer *acc = kernel_scalar(l->k, "run", t, at);
    Var *v = var_new(l->ir, "r", DT_I32, NO_SPAN);
    const Expr *i = expr_var(l->ir, v), *now = scalar_get(l->k, acc);
    const Expr *next = reduction_combine(l->ir, l->x.r, false, now, get(l, l->src, i, t));
    const Stmt *body = stmt_seq(l->ir, scalar_set(l->k, at, acc, next), put(l, i, now));
    const Stmt *s = scalar_set(l->k, at, acc, reduction_identity(l->ir, l->x.r, t));
    s = stmt_seq(l->ir, s, stmt_for(l->ir, at, LOOP_SERIAL, v, expr_int(l->ir, 0),
                                    l->src->extent[l->x.dim], (Hints){0}, body));
    return nest_close(l->k, at, &l->rest, LOOP_PARALLEL, s);
}

static const Stmt *lower_rows(Lower *l)
{
    DType t = l->dst->buf->type;
    Span at = l->t->span;
    const Expr *zero = expr_int(l->ir, 0), *one = expr_int(l->ir, 1);
    const Stmt *first = put(l, zero, get(l, l->src, zero, t));
    first = nest_close(l->k, at, &l->rest, LOOP_PARALLEL, first);
    Var *v = var_new(l->ir, "r", DT_I32, NO_SPAN);
    const Expr *i = expr_var(l->ir, v);
    open_rest(l);
    const Expr *before = get(l, l->dst, expr_sub(l->ir, i, one), t);
    const Stmt *s =
        put(l, i, reduction_combine(l->ir, l->x.r, false, before, get(l, l->src, i, t)));
    s = nest_close(l->k, at, &l->rest, LOOP_PARALLEL, s);
    s = stmt_for(l->ir, at, LOOP_SERIAL, v, one, expr_sub(l->ir, l->src->extent[l->x.dim], one),
                 (Hints){0}, s);
    return stmt_seq(l->ir, first, s);
}

static const Stmt *scan_lower(Kernel *k, const Stmt *t)
{
    Lower l = {.k = k, .ir = k->ir, .t = t, .src = &t->u.tile.region[SRC],
               .dst = &t->u.tile.region[DST]};
    if (!scan_shape(k, t, &l.x))
        diag_throw(k->diag);
    open_rest(&l);
    bool last = l.rest.n == 0 || l.of[l.rest.n - 1] < l.x.dim;
    bool narrow = accumulate_type(l.dst->buf->type) != l.dst->buf->type;
    return last || narrow || kernel_on_warps(k) ? lower_scalar(&l) : lower_rows(&l);
}

/* ---- meaning --------------------------------------------------------------------------------- */

static void scan_line(Sim *m, const Stmt *t, const Scan *x, const SimRegion *src,
                      const SimRegion *dst, int64_t *at)
{
    DType to = dst->buf->type;
    Value1 acc = sim_value(m, reduction_identity(sim_kernel(m)->ir, x->r, to));
    int64_t n = src->extent[x->dim];
    for (int64_t i = 0; i < n; i++) {
        Value1 v;
        at[x->dim] = x->reverse ? n - 1 - i : i;
        sim_get(m, t, src, at, &v);
        acc = value_reduce(x->r, false, to, acc, value_cast(src->buf->type, to, v));
        v = acc;
        if (dtype_is_float(to))
            v.f = value_round(to, v.f);
        sim_put(m, t, dst, at, v);
    }
    at[x->dim] = 0;
}

static void scan_simulate(Sim *m, const Stmt *t)
{
    Scan x;
    if (!scan_shape(sim_kernel(m), t, &x))
        diag_throw(sim_kernel(m)->diag);
    SimRegion src = sim_region(m, t, &t->u.tile.region[SRC]);
    SimRegion dst = sim_region(m, t, &t->u.tile.region[DST]);
    int64_t at[RANK_MOST] = {0}, extent[RANK_MOST];
    if (sim_region_empty(&src))
        return;
    memcpy(extent, src.extent, sizeof extent);
    extent[x.dim] = 1;
    do
        scan_line(m, t, &x, &src, &dst, at);
    while (sim_next(src.rank, extent, at));
}

const TileOp op_scan = {
    .name = "scan",
    .id = OP_scan,
    .traits = TILE_WALKS,
    .params = "src: region, dst: region, dim: int, reverse: bool",
    .doc = "inclusive running sum or maximum along one dimension",
    .nregion = 2,
    .check = scan_check,
    .effects = "rw",
    .infer = scan_infer,
    .lower = scan_lower,
    .simulate = scan_simulate,
};
