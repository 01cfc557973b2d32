/* warp_scan.c -- T.cumsum and T.cummax between the registers of a warp's lanes.
 *
 * Each line of the tile goes to a group of lanes of one warp, vectors round-robin (fragment_rows
 * along the scanned dimension).  For every iteration a lane scans its own vector, the lanes scan
 * their totals by shuffles, and the last of them carries over to the next iteration:
 *
 *     run[v] = op(run[v - 1], run[v])                 its own
 *     t = run[last]; t = op(shfl_up(t, d), t) …       its lanes
 *     run[v] = op(op(carry, t of the lane before), run[v]); carry = op(carry, t of the last lane)
 *
 * A tile that lies otherwise in registers is brought there through shared memory. */
#include "pass/thread_nest.h"
#include "pass/warp_reduce.h"

enum { SRC, DST };
enum { SLOTS_MOST = 128 };

typedef struct {
    Kernel *k;
    Ir *ir;
    ThreadGroup who;
    const Stmt *t;
    const Region *src, *dst;
    Scan x;
    DType type;
    const Layout *rows;   /* over the whole region, the scanned dimension by lanes */
    int64_t lanes, width, iters, nslot;
    bool ragged;
    Buffer *run;          /* of one thread, by slot */
    Buffer *carry;
} Lines;

/* ---- the layout ------------------------------------------------------------------------------ */

typedef struct {
    int64_t lanes, width;
} Split;

/* The fewest slots; among those the most lanes. */
static Split split_lines(int64_t lines, int64_t length, int64_t nthread, int64_t width,
                         int64_t warp)
{
    Split best = {0, 0};
    int64_t least = 0;
    for (int64_t w = width; w >= 1; w /= 2) {
        for (int64_t lanes = 1; lanes <= MIN(warp, nthread); lanes *= 2) {
            int64_t groups = nthread / lanes;
            int64_t slots = (lines + groups - 1) / groups * w *
                            ((length + w * lanes - 1) / (w * lanes));
            if (!best.lanes || slots < least || (slots == least && w == best.width)) {
                least = slots;
                best = (Split){lanes, w};
            }
        }
    }
    return best;
}

static const Layout *line_layout(Ir *ir, int rank, const int64_t *extent, int dim, int64_t nthread,
                                 Split d)
{
    int64_t permuted[RANK_MOST];
    Map m;
    int n = 0;

    map_init(&m, ir->arena);
    for (int i = 0; i < rank; i++) {
        int to = i == dim ? rank - 1 : n++;
        permuted[to] = extent[i];
        map_set(&m, layout_axis(ir, to), expr_var(ir, layout_axis(ir, i)));
    }
    const Layout *l = fragment_rows(ir, rank, permuted, nthread, d.lanes, d.width);
    Layout want = *l;
    memcpy(want.extent, extent, sizeof *extent * (size_t)rank);
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    want.out[0] = expr_subst_map(ir, l->out[0], &m, NULL);
    return layout_make(ir, &want);
}

static Split split_region(Kernel *k, ThreadGroup who, const Region *r, int dim)
{
    int64_t nthread = group_threads(k, who), length = region_extent_int(r, dim);
    int64_t lines = region_nelem(r) / length;
    int64_t width = dim == r->buf->rank - 1 ? kernel_access(k, r->buf->type) : 1;
    while (length % width != 0)
        width /= 2;
    return split_lines(lines, length, nthread, width, group_lanes(k, who));
}

static const Layout *scan_layout(Kernel *k, ThreadGroup who, const Region *r, int dim)
{
    int64_t extent[RANK_MOST];
    for (int d = 0; d < r->buf->rank; d++)
        extent[d] = region_extent_int(r, d);
    return line_layout(k->ir, r->buf->rank, extent, dim, group_threads(k, who),
                       split_region(k, who, r, dim));
}

/* ---- what can be done this way --------------------------------------------------------------- */

static bool on_chip(const Buffer *b)
{
    return b->scope == MEM_FRAGMENT || b->scope == MEM_SHARED;
}

static bool scan_can_shuffle(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int64_t n = region_nelem(src), nthread = group_threads(k, who);
    Scan x;

    *why = "by each thread, then between lanes";
    if (!on_chip(src->buf) || !on_chip(dst->buf))
        *why = "not between tiles of the block";
    else if (n <= 0 || region_nelem(dst) != n)
        *why = "sizes are known at run time only";
    else if (src->buf->type != dst->buf->type)
        *why = "the types differ";
    else if (nthread < group_lanes(k, who) || n > SLOTS_MOST * nthread || !scan_shape(k, t, &x) ||
             fragment_slots(scan_layout(k, who, src, x.dim)) > SLOTS_MOST)
        *why = "the tile does not fit the registers";
    else
        return true;
    return false;
}

/* ---- statements ------------------------------------------------------------------------------ */

static const Expr *num(Lines *f, int64_t v)
{
    return expr_int(f->ir, v);
}

static const Expr *run_get(Lines *f, const Expr *q)
{
    return expr_load(f->ir, f->run, &q, 1);
}

static const Stmt *run_set(Lines *f, const Expr *q, const Expr *v)
{
    return stmt_store(f->ir, f->t->span, f->run, &q, 1, expr_cast(f->ir, f->type, v));
}

static const Expr *combine(Lines *f, const Expr *before, const Expr *after)
{
    return reduction_combine(f->ir, f->x.r, false, before, after);
}

static const Stmt *call(Lines *f, Intrin which, const Expr *v, const Expr *by, Var *bind)
{
    const Expr *arg[3] = {v, by, num(f, f->lanes)};
    return stmt_call(f->ir, f->t->span, which, 3, arg, 0, NULL, NULL, bind);
}

/* A region's element at loop point `at`. */
static void point(Lines *f, const Region *r, const Expr *const *at, const Expr **to)
{
    for (int d = 0; d < r->buf->rank; d++)
        to[d] = expr_add(f->ir, r->at[d], at[d]);
}

static const Stmt *copy_whole(Lines *f, Region from, Region to)
{
    return op_copy.lower(f->k, copy_plain(f->k, f->t->span, from, to,
                                          "between registers and shared memory"));
}

/* Does it lie as the lines do, or where any thread reaches it? */
static bool is_at_hand(Lines *f, const Region *r)
{
    const Layout *l = buffer_plan(f->k, r->buf)->layout;
    if (r->buf->scope == MEM_SHARED)
        return true;
    return l && layout_is_fragment(l) && region_is_whole(r) && fragment_is_equal(f->ir, l, f->rows);
}

/* r itself, or a shared tile in its place. */
static Region at_hand(Lines *f, const Region *r, bool *staged)
{
    *staged = !is_at_hand(f, r);
    if (!*staged)
        return *r;
    Buffer *b = kernel_buffer(f->k, arena_printf(f->ir->arena, "%s_lines", r->buf->name),
                              r->buf->type, MEM_SHARED, r->buf->rank, r->extent, f->t->span);
    return region_whole(f->ir, b);
}

static const Stmt *through_lines(Lines *f, const Region *r, bool load)
{
    Ir *ir = f->ir;
    const Expr *at[RANK_MOST];
    Nest n;

    nest_open(f->k, &n, r->buf->rank, r->extent);
    point(f, r, n.at, at);
    const Expr *slot = layout_offset(ir, f->rows, n.at);
    const Stmt *s =
        load ? run_set(f, slot, expr_load(ir, r->buf, at, r->buf->rank))
             : stmt_store(ir, f->t->span, r->buf, at, r->buf->rank,
                          expr_cast(ir, r->buf->type, run_get(f, slot)));
    LoopPlan plan = {.var = n.var[0], .layout = f->rows};
    vec_push(f->k->arena, &f->k->loops, plan);
    return nest_close(f->k, f->t->span, &n, LOOP_PARALLEL, s);
}

static const Stmt *clear_run(Lines *f)
{
    Var *q = var_new(f->ir, "q", DT_I32, f->t->span);
    const Stmt *s =
        run_set(f, expr_var(f->ir, q), reduction_identity(f->ir, f->x.r, f->type));
    return stmt_for(f->ir, f->t->span, LOOP_UNROLL, q, num(f, 0), num(f, f->nslot), (Hints){0}, s);
}

/* Slot v of the vector at q, in the order of the scan. */
static const Expr *in_order(Lines *f, const Expr *q, int64_t v)
{
    return expr_add(f->ir, q, num(f, f->x.reverse ? f->width - 1 - v : v));
}

/* The lane's number in the order of the scan. */
static const Expr *lane_number(Lines *f)
{
    Ir *ir = f->ir;
    const Expr *lane = expr_floormod(ir, thread_index(f->k, f->who), num(f, f->lanes));
    return f->x.reverse ? expr_sub(ir, num(f, f->lanes - 1), lane) : lane;
}

/* Totals of the lanes before each, and of all: bound to *before and *all. */
static const Stmt *scan_lanes(Lines *f, Buffer *total, Var *before, Var *all)
{
    Ir *ir = f->ir;
    Span at = f->t->span;
    Intrin up = f->x.reverse ? INTRIN_SHFL_DOWN : INTRIN_SHFL_UP;
    const Expr *lane = lane_number(f), *now = scalar_get(f->k, total);
    const Stmt *s = NULL;

    for (int64_t d = 1; d < f->lanes; d *= 2) {
        Var *other = var_new(ir, "other", f->type, at);
        const Expr *sum = combine(f, expr_var(ir, other), now);
        const Expr *has = expr_binary(ir, EX_GE, lane, num(f, d));
        s = stmt_seq(ir, s, call(f, up, now, num(f, d), other));
        s = stmt_seq(ir, s, scalar_set(f->k, at, total, expr_select(ir, has, sum, now)));
    }
    s = stmt_seq(ir, s, call(f, up, now, num(f, 1), before));
    const Expr *last = num(f, f->x.reverse ? 0 : f->lanes - 1);
    return stmt_seq(ir, s, call(f, INTRIN_SHFL, now, last, all));
}

/* One iteration: the vector at slot q of every lane. */
static const Stmt *scan_iter(Lines *f, const Expr *q, Buffer *total)
{
    Ir *ir = f->ir;
    Span at = f->t->span;
    const Expr *carry = scalar_get(f->k, f->carry), *base = carry, *next;
    const Stmt *s = NULL;

    for (int64_t v = 1; v < f->width; v++)
        s = stmt_seq(ir, s, run_set(f, in_order(f, q, v),
                                    combine(f, run_get(f, in_order(f, q, v - 1)),
                                            run_get(f, in_order(f, q, v)))));
    s = stmt_seq(ir, s, scalar_set(f->k, at, total, run_get(f, in_order(f, q, f->width - 1))));
    next = combine(f, carry, scalar_get(f->k, total));
    if (f->lanes > 1) {
        Var *before = var_new(ir, "before", f->type, at), *all = var_new(ir, "all", f->type, at);
        const Expr *first = expr_binary(ir, EX_EQ, lane_number(f), num(f, 0));
        s = stmt_seq(ir, s, scan_lanes(f, total, before, all));
        base = expr_select(ir, first, carry, combine(f, carry, expr_var(ir, before)));
        next = combine(f, carry, expr_var(ir, all));
    }
    Var *from = var_new(ir, "base", f->type, at);
    s = stmt_seq(ir, s, stmt_let(ir, at, from, base));
    for (int64_t v = 0; v < f->width; v++)
        s = stmt_seq(ir, s, run_set(f, in_order(f, q, v),
                                    combine(f, expr_var(ir, from),
                                            run_get(f, in_order(f, q, v)))));
    return stmt_seq(ir, s, scalar_set(f->k, at, f->carry, next));
}

static const Stmt *scan_slots(Lines *f)
{
    Ir *ir = f->ir;
    Span at = f->t->span;
    Var *line = var_new(ir, "line", DT_I32, at), *iter = var_new(ir, "iter", DT_I32, at);
    Buffer *total = kernel_scalar(f->k, "total", f->type, at);
    f->carry = kernel_scalar(f->k, "carry", f->type, at);
    const Expr *t = expr_var(ir, iter);

    if (f->x.reverse)
        t = expr_sub(ir, num(f, f->iters - 1), t);
    const Expr *q = expr_add(ir, expr_mul(ir, expr_var(ir, line), num(f, f->iters)), t);
    const Stmt *s = scan_iter(f, expr_mul(ir, q, num(f, f->width)), total);
    s = stmt_for(ir, at, LOOP_UNROLL, iter, num(f, 0), num(f, f->iters), (Hints){0}, s);
    s = stmt_seq(ir, scalar_set(f->k, at, f->carry, reduction_identity(ir, f->x.r, f->type)), s);
    return stmt_for(ir, at, LOOP_UNROLL, line, num(f, 0), num(f, f->nslot / (f->iters * f->width)),
                    (Hints){0}, s);
}

static void read_lines(Lines *f)
{
    int64_t nthread = group_threads(f->k, f->who), length = region_extent_int(f->src, f->x.dim);
    Split d = split_region(f->k, f->who, f->src, f->x.dim);

    f->rows = scan_layout(f->k, f->who, f->src, f->x.dim);
    f->lanes = d.lanes;
    f->width = d.width;
    f->iters = (length + d.width * d.lanes - 1) / (d.width * d.lanes);
    f->nslot = fragment_slots(f->rows);
    f->ragged = layout_points(f->rows) != f->nslot * nthread;
}

static const Stmt *scan_by_shuffle(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Lines f = {.k = k, .ir = k->ir, .who = who, .t = t, .src = &t->u.tile.region[SRC],
               .dst = &t->u.tile.region[DST]};
    bool staged;

    if (!scan_shape(k, t, &f.x))
        diag_throw(k->diag);
    f.type = accumulate_type(f.dst->buf->type);
    read_lines(&f);
    const Expr *nslot = num(&f, f.nslot);
    f.run = kernel_buffer(k, "run", f.type, MEM_LOCAL, 1, &nslot, t->span);
    Region from = at_hand(&f, f.src, &staged);
    const Stmt *s = staged ? copy_whole(&f, *f.src, from) : NULL;
    if (f.ragged)
        s = stmt_seq(f.ir, s, clear_run(&f));
    s = stmt_seq(f.ir, s, through_lines(&f, &from, true));
    s = stmt_seq(f.ir, s, scan_slots(&f));
    bool again = staged && !is_at_hand(&f, f.dst); /* the tile that was used before */
    Region to = again ? from : at_hand(&f, f.dst, &staged);
    s = stmt_seq(f.ir, s, through_lines(&f, &to, false));
    if (staged)
        s = stmt_seq(f.ir, s, copy_whole(&f, to, *f.dst));
    tile_plan(k, t)->why =
        arena_printf(f.ir->arena, "%lld lanes to a line, %lld slots of each thread",
                     (long long)f.lanes, (long long)f.nslot);
    return s;
}

const Mech mech_scan = {.name = "scan", .ops = OPS(scan), .can = scan_can_shuffle,
                        .suits = tile_reads_registers,
                        .lower = scan_by_shuffle};
