/* copy.c -- T.copy(src, dst): move a region, converting the element type.
 *
 * Meaning   outside a global source an element reads as the buffer's safe value (0 unless
 *           annotated), cast to the destination's type; outside a global destination it is dropped.
 * Layout    a copy between fragments wants one layout for both.
 * Lowering  on warps, a parallel nest with a guard on each global access.  Elsewhere the nest is
 *           clipped instead, so that its body has no branch:
 *
 *               if the clip cuts anything:  fill dst with the safe value
 *               for i < min(extent, bound - base): dst[...] = src[...]                          */
#include "op/op.h"
#include "ir/config.h"
#include "sim/sim.h"

enum { SRC, DST };

static bool is_barrier(MemScope s)
{
    return s == MEM_BARRIER || s == MEM_CLUSTER_BARRIER || s == MEM_DESCRIPTOR;
}

/* The longer side is copied, which is not what a shorter slice looks like. */
static void warn_lengths(Kernel *k, const Stmt *t, const RegionMatch *m)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    for (int i = 0; i < m->n; i++) {
        int64_t a = region_extent_int(src, m->dim[0][i]), b = region_extent_int(dst, m->dim[1][i]);
        if (a > 1 && b > 1 && a != b)
            diag_warn(k->diag, t->span,
                      "the slice of '%s' has %lld elements, that of '%s' has %lld; "
                      "%lld are copied [copy-extent]",
                      src->buf->name, (long long)a, dst->buf->name, (long long)b,
                      (long long)MAX(a, b));
    }
}

static void copy_check(Kernel *k, const Stmt *t)
{
    RegionMatch m;
    for (int i = SRC; i <= DST; i++) {
        const Buffer *b = t->u.tile.region[i].buf;
        if (is_barrier(b->scope)) {
            diag_error(k->diag, t->span, "copy cannot move the %s '%s' [copy-scope]",
                       mem_name(b->scope), b->name);
            return;
        }
        if (b->type == DT_HANDLE) {
            diag_error(k->diag, t->span, "copy cannot move handles ('%s') [copy-type]", b->name);
            return;
        }
    }
    if (region_match(k, t->span, &t->u.tile.region[SRC], &t->u.tile.region[DST], &m))
        warn_lengths(k, t, &m);
}

static bool same_extents(const Region *a, const Region *b)
{
    if (a->buf->rank != b->buf->rank)
        return false;
    for (int d = 0; d < a->buf->rank; d++)
        if (a->extent[d] != b->extent[d])
            return false;
    return true;
}

static void copy_infer(Infer *in, const Stmt *t)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    if (in->level == INFER_STRICT || src->buf == dst->buf)
        return;
    if (src->buf->scope != MEM_FRAGMENT || dst->buf->scope != MEM_FRAGMENT)
        return;
    if (!region_is_whole(src) || !region_is_whole(dst) || !same_extents(src, dst))
        return;
    const Layout *ls = infer_get(in, src->buf), *ld = infer_get(in, dst->buf);
    if (ls && !ld)
        infer_set(in, dst->buf, ls, t);
    else if (ld && !ls)
        infer_set(in, src->buf, ld, t);
}

/* ---- bytes that move together ---------------------------------------------------------------- */

static bool divides(const Facts *f, const Expr *x, int64_t n)
{
    Modular m = modular_of(f, x);
    return m.coef % n == 0 && m.base % n == 0;
}

/* Do runs of n elements along the last dimension start at multiples of n, wherever the loops are,
 * and lie inside the tensor or outside as a whole? */
static bool runs_of(const Facts *f, const Region *r, int64_t n)
{
    int last = r->buf->rank - 1;
    int64_t one = 1;

    if (r->buf->stride && (!expr_is_int(r->buf->stride[last], &one) || one != 1))
        return false;
    if (n == 1)
        return true;
    if (!buffer_is_aligned(r->buf) || !divides(f, r->at[last], n) ||
        !divides(f, r->buf->shape[last], n))
        return false;
    for (int d = 0; r->buf->stride && d < last; d++)
        if (!divides(f, r->buf->stride[d], n))
            return false;
    return true;
}

static int copy_most(const Machine *m, const Mech *how)
{
    return m->copy_bytes ? MIN(how->most, m->copy_bytes) : how->most;
}

int copy_async_bytes(Kernel *k, const Facts *f, const Mech *how, const Stmt *t)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int bits = dtype_bits(src->buf->type), widest = copy_most(k->machine, how);
    int64_t extent = 1, most = bits * hint_int(t->u.tile.hints, "coalesced_width", widest * 2) / 8;
    RegionMatch m;

    if (src->buf->type != dst->buf->type || src->buf->scope != MEM_GLOBAL ||
        dst->buf->scope != MEM_SHARED || (bits < 8 && bits != 4) ||
        buffer_plan(k, src->buf)->safe ||
        !region_match(k, t->span, src, dst, &m) || m.n == 0)
        return 0;
    bool straight = m.dim[SRC][m.n - 1] == src->buf->rank - 1 &&
                    m.dim[DST][m.n - 1] == dst->buf->rank - 1 &&
                    expr_is_int(m.extent[m.n - 1], &extent);
    for (int n = (int)MIN(most, widest); n >= how->least && n * 8 >= bits; n /= 2)
        if (how->ends_only && n != how->least && n != widest)
            continue;
        else if (n * 8 == bits || (straight && extent % (n * 8 / bits) == 0 &&
                                   runs_of(f, src, n * 8 / bits) && runs_of(f, dst, n * 8 / bits)))
            return n;
    return 0;
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    const Stmt *t;
    const Region *src, *dst;
    RegionMatch m;
    Facts *facts;
} Copy;

static const Expr *conjoin(Ir *ir, const Expr *a, const Expr *b)
{
    return a == NULL ? b : b == NULL ? a : expr_and(ir, a, b);
}

/* What a thread keeps for itself it stores by itself (stmt_is_private). */
static LoopHow loops_of(const Copy *c)
{
    bool own = c->k->uses_threads && c->src->buf->scope == MEM_LOCAL;
    return own ? LOOP_VECTOR : LOOP_PARALLEL;
}

/* coalesced_width= is about the accesses of threads: the nest has it from here on.  So is what a
 * copy in flight moves at most, where that is less than an access. */
static const Stmt *with_width(Kernel *k, const Stmt *t, const Stmt *nest)
{
    Ir *ir = k->ir;
    const Mech *how = tile_plan(k, t)->how;
    const Hint *w = hint_find(t->u.tile.hints, "coalesced_width");
    bool narrow = how->in_flight && k->machine->copy_bytes && !w;

    if ((!w && !narrow) || !stmt_is_nest(nest))
        return nest;
    Hint *own = NEW(ir->arena, Hint);
    int bytes = narrow ? copy_async_bytes(k, body_facts(k), how, t) : 0;
    *own = w ? *w : (Hint){.name = "coalesced_width", .value = expr_int(ir,
                 MAX(bytes * 8 / dtype_bits(t->u.tile.region[DST].buf->type), 1))};
    return stmt_for(ir, nest->span, LOOP_PARALLEL, nest->u.loop.var, nest->u.loop.min,
                    nest->u.loop.extent, (Hints){own, 1}, nest->u.loop.body);
}

/* Where a copy in flight puts what the lanes of a warp bring side by side, its loops go through the
 * tile as it is stored; at: the element, by loop of the match.  False: not such a tile. */
static bool open_by_storage(Copy *c, Nest *n, const Expr **at)
{
    Ir *ir = c->k->ir;
    const Buffer *b = c->dst->buf;
    const Layout *l = buffer_plan(c->k, b)->layout, *inverse = l ? layout_inverse(ir, l) : NULL;
    const Expr *extent[RANK_MOST], *stored[RANK_MOST], *own[RANK_MOST];
    int lead = b->rank - c->m.n; /* a stage: the loops are of the other dimensions, all of each */

    if (!inverse || lead > 1 || (lead && l->out[0] != expr_var(ir, layout_axis(ir, 0))))
        return false;
    for (int i = 0; i < c->m.n; i++)
        if (c->m.dim[DST][i] != lead + i || !expr_is_zero(c->dst->at[lead + i]) ||
            region_extent_int(c->dst, lead + i) != l->extent[lead + i])
            return false;
    for (int d = lead; d < l->nout; d++)
        extent[d - lead] = expr_int(ir, l->out_extent[d]);
    nest_open(c->k, n, l->nout - lead, extent);
    stored[0] = c->dst->at[0];
    for (int i = 0; i < n->n; i++)
        stored[lead + i] = n->at[i];
    layout_apply(ir, inverse, stored, own);
    for (int i = 0; i < c->m.n; i++)
        at[i] = own[lead + i];
    return true;
}

static const Stmt *lower_guarded(Copy *c)
{
    Kernel *k = c->k;
    Nest n;
    const Expr *from[RANK_MOST], *to[RANK_MOST], *own[RANK_MOST];
    bool by_storage = tile_plan(c->k, c->t)->how->side_by_side && open_by_storage(c, &n, own);
    if (!by_storage)
        nest_open(k, &n, c->m.n, c->m.extent);
    nest_facts(k, &n, c->facts);
    region_point(k->ir, c->src, &c->m, SRC, by_storage ? own : n.at, from);
    region_point(k->ir, c->dst, &c->m, DST, by_storage ? own : n.at, to);
    Buffer *src = c->src->buf, *dst = c->dst->buf;
    bool safe = !config_on(k->func, CONFIG_disable_safe_memory_legalize);
    const Expr *rguard =
        safe && src->scope == MEM_GLOBAL ? region_guard(k->ir, c->facts, src, from) : NULL;
    const Expr *wguard =
        safe && dst->scope == MEM_GLOBAL ? region_guard(k->ir, c->facts, dst, to) : NULL;
    const Expr *value;
    if (rguard) {
        /* The safe value takes the destination's type, so the choice stands outside the cast. */
        const Expr *v = expr_load_guarded(k->ir, src, from, src->rank, rguard,
                                          expr_zero(k->ir, src->type));
        value = expr_cast(k->ir, dst->type, v);
        if (buffer_plan(k, src)->safe)
            value = expr_if(k->ir, rguard, value, safe_value(k, src, dst->type));
    } else {
        value = expr_cast(k->ir, dst->type, expr_load(k->ir, src, from, src->rank));
    }
    const Stmt *s = wguard
                        ? stmt_store_guarded(k->ir, c->t->span, dst, to, dst->rank, value, wguard)
                        : stmt_store(k->ir, c->t->span, dst, to, dst->rank, value);
    if (tile_plan(k, c->t)->how->in_flight)
        s = stmt_store_async(k->ir, s,
                             hint_find(c->t->u.tile.hints, "next") ? ASYNC_NEXT : ASYNC_COPY);
    return with_width(k, c->t, nest_close(k, c->t->span, &n, loops_of(c), s));
}

/* Cut loop i of the nest to where `side` is in bounds. */
static void clip_loop(Copy *c, Nest *n, const Region *r, int side, int i)
{
    Ir *ir = c->k->ir;
    int d = c->m.dim[side][i];
    const Expr *zero = expr_int(ir, 0);
    const Expr *whole = expr_add(ir, r->at[d], c->m.extent[i]);
    if (!prove_true(ir, c->facts, expr_binary(ir, EX_GE, r->at[d], zero))) {
        const Expr *low = expr_sub(ir, zero, r->at[d]);
        n->min[i] = expr_max(ir, n->min[i] ? n->min[i] : zero, low);
    }
    if (!prove_true(ir, c->facts, expr_binary(ir, EX_LE, whole, r->buf->shape[d])))
        n->extent[i] = expr_min(ir, n->extent[i], expr_sub(ir, r->buf->shape[d], r->at[d]));
}

/* extent[i] held the end of loop i; make it a count that is never negative. */
static void clip_finish(Copy *c, Nest *n)
{
    Ir *ir = c->k->ir;
    const Expr *zero = expr_int(ir, 0);
    for (int i = 0; i < n->n; i++) {
        if (n->min[i])
            n->extent[i] = expr_sub(ir, n->extent[i], n->min[i]);
        if (n->extent[i] != c->m.extent[i] &&
            !prove_true(ir, c->facts, expr_binary(ir, EX_GE, n->extent[i], zero)))
            n->extent[i] = expr_max(ir, n->extent[i], zero);
    }
}

/* In-bounds condition of the dimensions that have no loop; NULL: always. */
static const Expr *fixed_guard(Copy *c, const Region *r, int side)
{
    Ir *ir = c->k->ir;
    const Expr *at[RANK_MOST];
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = r->at[d];
    for (int i = 0; i < c->m.n; i++)
        at[c->m.dim[side][i]] = expr_int(ir, 0);
    const Expr *guard = NULL;
    for (int d = 0; d < r->buf->rank; d++) {
        bool looped = false;
        for (int i = 0; i < c->m.n; i++)
            looped |= c->m.dim[side][i] == d;
        if (looped)
            continue;
        const Expr *low = expr_binary(ir, EX_GE, at[d], expr_int(ir, 0));
        const Expr *high = expr_lt(ir, at[d], r->buf->shape[d]);
        if (!prove_true(ir, c->facts, low))
            guard = conjoin(ir, guard, low);
        if (!prove_true(ir, c->facts, high))
            guard = conjoin(ir, guard, high);
    }
    return guard;
}

/* Does the clipped nest leave out anything of the full one?  NULL: no. */
static const Expr *clip_cuts(Copy *c, const Nest *n)
{
    Ir *ir = c->k->ir;
    const Expr *cuts = NULL;
    for (int i = 0; i < n->n; i++) {
        if (n->extent[i] == c->m.extent[i])
            continue;
        const Expr *less = expr_lt(ir, n->extent[i], c->m.extent[i]);
        cuts = cuts ? expr_binary(ir, EX_OR, cuts, less) : less;
    }
    return cuts;
}

static const Stmt *guard_stmt(Copy *c, const Expr *guard, const Stmt *s)
{
    return guard ? stmt_if(c->k->ir, c->t->span, guard, s, NULL) : s;
}

static const Stmt *clipped_fill(Copy *c)
{
    Kernel *k = c->k;
    Nest n;
    const Expr *to[RANK_MOST];
    nest_open(k, &n, c->m.n, c->m.extent);
    if (c->dst->buf->scope == MEM_GLOBAL)
        for (int i = 0; i < n.n; i++)
            clip_loop(c, &n, c->dst, DST, i);
    clip_finish(c, &n);
    region_point(k->ir, c->dst, &c->m, DST, n.at, to);
    const Stmt *s = stmt_store(k->ir, c->t->span, c->dst->buf, to, c->dst->buf->rank,
                               safe_value(k, c->src->buf, c->dst->buf->type));
    s = nest_close(k, c->t->span, &n, LOOP_PARALLEL, s);
    return c->dst->buf->scope == MEM_GLOBAL ? guard_stmt(c, fixed_guard(c, c->dst, DST), s) : s;
}

static const Stmt *lower_clipped(Copy *c)
{
    Kernel *k = c->k;
    Ir *ir = k->ir;
    Nest n;
    const Expr *from[RANK_MOST], *to[RANK_MOST], *cuts = NULL, *guard = NULL;
    nest_open(k, &n, c->m.n, c->m.extent);
    if (c->src->buf->scope == MEM_GLOBAL) {
        Nest reads = n;
        for (int i = 0; i < n.n; i++)
            clip_loop(c, &reads, c->src, SRC, i);
        clip_finish(c, &reads);
        guard = fixed_guard(c, c->src, SRC);
        cuts = clip_cuts(c, &reads);
        if (guard) {
            const Expr *outside = expr_unary(ir, EX_NOT, guard);
            cuts = cuts ? expr_binary(ir, EX_OR, outside, cuts) : outside;
        }
        for (int i = 0; i < n.n; i++)
            clip_loop(c, &n, c->src, SRC, i);
    }
    if (c->dst->buf->scope == MEM_GLOBAL) {
        for (int i = 0; i < n.n; i++)
            clip_loop(c, &n, c->dst, DST, i);
        guard = conjoin(ir, guard, fixed_guard(c, c->dst, DST));
    }
    clip_finish(c, &n);
    region_point(ir, c->src, &c->m, SRC, n.at, from);
    region_point(ir, c->dst, &c->m, DST, n.at, to);
    const Expr *v = expr_load(ir, c->src->buf, from, c->src->buf->rank);
    const Stmt *s = stmt_store(ir, c->t->span, c->dst->buf, to, c->dst->buf->rank,
                               expr_cast(ir, c->dst->buf->type, v));
    s = guard_stmt(c, guard, nest_close(k, c->t->span, &n, loops_of(c), s));
    return cuts ? stmt_seq(ir, guard_stmt(c, cuts, clipped_fill(c)), s) : s;
}

static const Stmt *copy_lower(Kernel *k, const Stmt *t)
{
    Copy c = {.k = k, .t = t, .src = &t->u.tile.region[SRC], .dst = &t->u.tile.region[DST]};
    if (!region_match(k, t->span, c.src, c.dst, &c.m))
        diag_throw(k->diag);
    c.facts = kernel_facts(k);
    return kernel_on_warps(k) ? lower_guarded(&c) : lower_clipped(&c);
}

/* ---- meaning --------------------------------------------------------------------------------- */

static void copy_simulate(Sim *m, const Stmt *t)
{
    sim_copy(m, t, &t->u.tile.region[SRC], &t->u.tile.region[DST]);
}

const Stmt *copy_plain(Kernel *k, Span at, Region from, Region to, const char *why)
{
    Region r[2] = {from, to};
    const Stmt *s = stmt_tile(k->ir, at, &op_copy, 2, r, 0, NULL, NULL, (Hints){0});
    TilePlan *p = tile_plan(k, s);

    p->how = &mech_plain;
    p->why = why;
    return s;
}

const TileOp op_copy = {
    .name = "copy",
    .id = OP_copy,
    .traits = TILE_COPIES | TILE_FETCHES | TILE_BY_ELEMENT | TILE_STAGES,
    .params = "src: region, dst: region",
    .doc = "copy a region, converting the element type; ragged edges read as zero",
    .nregion = 2,
    .check = copy_check,
    .effects = "rw",
    .infer = copy_infer,
    .lower = copy_lower,
    .simulate = copy_simulate,
};
