/* warp_reduce.c -- T.reduce of tiles that lie in the registers of many threads.
 *
 *     each thread folds what it holds        acc[q] = op(acc[q], x[s])
 *     lanes that hold parts of one result    acc[q] = op(acc[q], shfl_xor(acc[q], m))
 *     parts still apart (other warps)        scratch[p, e] = acc[q]; dst[e] = op over p
 *
 * Nothing is assumed about the layout of the source.  Every thread's part of every result is
 * enumerated as the set of elements it covers; an exchange is made only if it joins disjoint sets
 * of the same result everywhere, and parts go through scratch memory only if those that are written
 * make up the whole.  What fits neither is spread out in shared memory and read row by row. */
#include "pass/thread_group.h"
#include "pass/warp_reduce.h"

enum { SRC, DST };
enum { MASKS_MOST = 8, ASKED_MOST = 64, FOLD_MOST = 128 };

/* One result is folded in `n` chains that do not wait for each other: slot // step % n. */
typedef struct {
    int64_t n, step;
} Chains;

typedef struct {
    Kernel *k;
    Ir *ir;
    ThreadGroup who;
    const Stmt *t;
    const Region *src, *dst;
    Reduce x;
    DType type;             /* results are carried in it */
    int nloop;              /* kept dimensions and the reduced one, in order of the source */
    int dim[RANK_MOST];     /* of the source, by loop */
    int along;              /* the loop that is reduced */
    const Layout *from;     /* of the source, over the loops */
    const Layout *parts;    /* of the kept loops: whoever holds a part of a result, and its slot */
    Buffer *acc;            /* parts of one thread, by slot */
    Chains chains;
} Fold;

/* What each thread has of each result, while shuffles go on. */
typedef struct {
    Arena *arena;
    int64_t nthread, nslot, extent, nelem;
    int nword;
    int64_t *slot;    /* by result */
    int32_t *elem;    /* thread, slot -> result, -1 none */
    uint64_t *cover;  /* thread, slot -> elements along the reduced dimension, one bit each */
    int nmask, mask[MASKS_MOST];
} Parts;

/* ---- what can be done this way --------------------------------------------------------------- */

static bool is_constant(const Region *r, bool starts)
{
    int64_t v;
    for (int d = 0; d < r->buf->rank; d++)
        if (!expr_is_int(r->extent[d], &v) || (starts && !expr_is_int(r->at[d], &v)))
            return false;
    return true;
}

static bool on_chip(const Buffer *b)
{
    return b->scope == MEM_FRAGMENT || b->scope == MEM_SHARED;
}

static bool reduce_can_shuffle(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    int64_t n = region_nelem(src);

    *why = "folded by each thread, then between lanes";
    if (!on_chip(src->buf) || !on_chip(dst->buf))
        *why = "not between tiles of the block";
    else if (!is_constant(src, src->buf->scope == MEM_FRAGMENT) || !is_constant(dst, false))
        *why = "sizes or places are known at run time only";
    else if (src->buf->scope == MEM_SHARED && n > (int64_t)FOLD_MOST * group_threads(k, who))
        *why = "the tile does not fit the registers";
    else
        return n > 0;
    return false;
}

/* ---- layouts --------------------------------------------------------------------------------- */

static void read_loops(Fold *f)
{
    for (int d = 0, kept = 0; d < f->src->buf->rank; d++) {
        bool is_kept = kept < f->x.nkept && f->x.from[kept] == d;
        if (!is_kept && d != f->x.dim)
            continue;
        if (d == f->x.dim)
            f->along = f->nloop;
        kept += is_kept;
        f->dim[f->nloop++] = d;
    }
}

/* The source's layout over the loops: where its region starts, without dimensions of one. */
static const Layout *over_loops(Fold *f)
{
    Ir *ir = f->ir;
    const Layout *l = buffer_plan(f->k, f->src->buf)->layout;
    Map m;

    if (!l || !layout_is_fragment(l))
        return NULL;
    if (f->nloop == l->rank && region_is_whole(f->src))
        return l;
    Layout want = {.rank = f->nloop, .nout = l->nout, .rep = l->rep, .nthread = l->nthread};
    map_init(&m, ir->arena);
    for (int d = 0; d < l->rank; d++)
        map_set(&m, layout_axis(ir, d), f->src->at[d]);
    for (int i = 0; i < f->nloop; i++) {
        int d = f->dim[i];
        want.extent[i] = region_extent_int(f->src, d);
        map_set(&m, layout_axis(ir, d),
                expr_add(ir, f->src->at[d], expr_var(ir, layout_axis(ir, i))));
    }
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    for (int d = 0; d < l->nout; d++)
        want.out[d] = expr_subst_map(ir, l->out[d], &m, NULL);
    return layout_make(ir, &want);
}

/* ---- who holds what -------------------------------------------------------------------------- */

static uint64_t *cover_of(const Parts *p, int64_t thread, int64_t slot)
{
    return &p->cover[(thread * p->nslot + slot) * p->nword];
}

static int32_t *elem_of(const Parts *p, int64_t thread, int64_t slot)
{
    return &p->elem[thread * p->nslot + slot];
}

static void find_slots(Fold *f, Parts *p)
{
    int64_t at[RANK_MOST] = {0};
    p->slot = NEWN(p->arena, int64_t, p->nelem);
    for (int64_t e = 0; e < p->nelem; e++) {
        p->slot[e] = layout_eval(f->parts, at);
        layout_next(f->parts, at);
    }
}

/* What the threads hold after they folded; false if two results share one slot. */
static bool find_parts(Fold *f, Parts *p)
{
    const Layout *l = f->from;
    int64_t at[RANK_MOST] = {0};

    find_slots(f, p);
    p->elem = NEWN(p->arena, int32_t, p->nthread * p->nslot);
    p->cover = NEWN(p->arena, uint64_t, p->nthread * p->nslot * p->nword);
    for (int64_t i = 0; i < p->nthread * p->nslot; i++)
        p->elem[i] = -1;
    do {
        int64_t e = 0, j = at[f->along];
        for (int d = 0; d < l->rank; d++)
            if (d != f->along)
                e = e * l->extent[d] + at[d];
        for (int64_t r = 0; r < l->rep; r++) {
            int64_t t = fragment_eval_thread(l, at, r);
            int32_t *held = elem_of(p, t, p->slot[e]);
            if (*held >= 0 && *held != e)
                return false;
            *held = (int32_t)e;
            cover_of(p, t, p->slot[e])[j / 64] |= (uint64_t)1 << j % 64;
        }
    } while (layout_next(l, at));
    return true;
}

typedef enum { DISJOINT, EQUAL, MIXED } Relation;

static Relation relate(const Parts *p, const uint64_t *a, const uint64_t *b)
{
    bool overlap = false, differ = false;
    for (int i = 0; i < p->nword; i++) {
        overlap |= (a[i] & b[i]) != 0;
        differ |= a[i] != b[i];
    }
    return !overlap ? DISJOINT : differ ? MIXED : EQUAL;
}

/* Does an exchange with lane ^ mask join parts everywhere, and nothing else anywhere? */
static bool mask_joins(const Parts *p, int mask)
{
    bool joins = false;

    for (int64_t t = 0; t < p->nthread; t++) {
        int64_t other = t ^ mask;
        for (int64_t q = 0; q < p->nslot; q++) {
            if (*elem_of(p, t, q) < 0)
                continue;
            if (other >= p->nthread)
                return false;
            if (*elem_of(p, other, q) < 0)
                continue;
            if (*elem_of(p, t, q) != *elem_of(p, other, q) ||
                relate(p, cover_of(p, t, q), cover_of(p, other, q)) != DISJOINT)
                return false;
            joins = true;
        }
    }
    return joins;
}

static void exchange(Parts *p, int mask)
{
    for (int64_t t = 0; t < p->nthread; t++) {
        int64_t other = t ^ mask;
        if (other < t || other >= p->nthread)
            continue;
        for (int64_t q = 0; q < p->nslot; q++) {
            uint64_t *a = cover_of(p, t, q), *b = cover_of(p, other, q);
            for (int i = 0; i < p->nword; i++)
                a[i] = b[i] = a[i] | b[i];
            int32_t *x = elem_of(p, t, q), *y = elem_of(p, other, q);
            *x = *y = MAX(*x, *y);
        }
    }
    p->mask[p->nmask++] = mask;
}

static void find_masks(Fold *f, Parts *p)
{
    int lanes = group_lanes(f->k, f->who);

    for (int mask = 1; mask < lanes && p->nmask < MASKS_MOST; mask *= 2)
        if (mask_joins(p, mask))
            exchange(p, mask);
}

static bool is_whole(const Parts *p, int64_t thread, int64_t e)
{
    int64_t n = 0;
    if (thread >= p->nthread || *elem_of(p, thread, p->slot[e]) != e)
        return false;
    const uint64_t *c = cover_of(p, thread, p->slot[e]);
    for (int i = 0; i < p->nword; i++)
        n += __builtin_popcountll(c[i]);
    return n == p->extent;
}

/* Has every thread that keeps a result in dst all of it? */
static bool lands_in_place(Fold *f, const Parts *p)
{
    const Layout *d = buffer_plan(f->k, f->dst->buf)->layout;
    int64_t at[RANK_MOST] = {0}, x[RANK_MOST], start;

    if (f->dst->buf->scope != MEM_FRAGMENT || !d || !layout_is_fragment(d))
        return false;
    for (int64_t e = 0; e < p->nelem; e++) {
        for (int i = 0; i < f->dst->buf->rank; i++) {
            if (!expr_is_int(f->dst->at[i], &start))
                return false;
            x[i] = start;
        }
        for (int i = 0; i < f->x.nkept; i++)
            x[f->x.to[i]] += at[i];
        for (int64_t r = 0; r < d->rep; r++)
            if (!is_whole(p, fragment_eval_thread(d, x, r), e))
                return false;
        layout_next(f->parts, at);
    }
    return true;
}

/* ---- parts that go through scratch memory ---------------------------------------------------- */

/* Replicas step * 0, step * 1, … of a result hand over one part each. */
typedef struct {
    int64_t n, step;
} Handed;

static bool makes_whole(Fold *f, const Parts *p, Handed h)
{
    int64_t at[RANK_MOST] = {0};
    uint64_t *sum = NEWN(p->arena, uint64_t, p->nword);

    for (int64_t e = 0; e < p->nelem; e++) {
        int64_t n = 0;
        memset(sum, 0, sizeof(uint64_t) * (size_t)p->nword);
        for (int64_t i = 0; i < h.n; i++) {
            int64_t t = fragment_eval_thread(f->parts, at, i * h.step);
            const uint64_t *c = cover_of(p, t, p->slot[e]);
            if (*elem_of(p, t, p->slot[e]) != e || relate(p, sum, c) != DISJOINT)
                return false;
            for (int w = 0; w < p->nword; w++)
                sum[w] |= c[w];
        }
        for (int w = 0; w < p->nword; w++)
            n += __builtin_popcountll(sum[w]);
        if (n != p->extent)
            return false;
        layout_next(f->parts, at);
    }
    return true;
}

static int64_t distinct_covers(Fold *f, const Parts *p)
{
    int64_t at[RANK_MOST] = {0}, n = 0;
    for (int64_t r = 0; r < f->parts->rep; r++) {
        const uint64_t *c = cover_of(p, fragment_eval_thread(f->parts, at, r), p->slot[0]);
        bool seen = false;
        for (int64_t o = 0; o < r && !seen; o++)
            seen = relate(p, c, cover_of(p, fragment_eval_thread(f->parts, at, o), p->slot[0])) ==
                   EQUAL;
        n += !seen;
    }
    return n;
}

static bool find_handed(Fold *f, const Parts *p, Handed *h)
{
    h->n = distinct_covers(f, p);
    for (h->step = 1; h->step * (h->n - 1) < f->parts->rep; h->step++) {
        if (makes_whole(f, p, *h))
            return true;
        if (h->n == 1)
            break;
    }
    return false;
}

/* ---- chains ---------------------------------------------------------------------------------- */

enum { CHAINS_MOST = 4, CHAIN_LONG = 4 };

/* The least of the chains' lengths for the first result at its first holder. */
static int64_t shortest_chain(Fold *f, Chains c)
{
    int64_t at[RANK_MOST] = {0}, n[CHAINS_MOST] = {0}, least = INT64_MAX;
    int64_t who = fragment_eval_thread(f->from, at, 0);
    for (at[f->along] = 0; at[f->along] < f->from->extent[f->along]; at[f->along]++)
        if (fragment_eval_thread(f->from, at, 0) == who)
            n[layout_eval(f->from, at) / c.step % c.n]++;
    for (int i = 0; i < c.n; i++)
        least = MIN(least, n[i]);
    return least;
}

static Chains find_chains(Fold *f)
{
    for (int64_t n = CHAINS_MOST; n > 1; n /= 2)
        for (int64_t step = 1; step * n <= fragment_slots(f->from); step *= 2)
            if (shortest_chain(f, (Chains){n, step}) >= CHAIN_LONG)
                return (Chains){n, step};
    return (Chains){1, 1};
}

/* ---- statements ------------------------------------------------------------------------------ */

static const Expr *acc_get(Fold *f, const Expr *slot)
{
    return expr_load(f->ir, f->acc, &slot, 1);
}

static const Stmt *acc_set(Fold *f, const Expr *slot, const Expr *value)
{
    return stmt_store(f->ir, f->t->span, f->acc, &slot, 1, expr_cast(f->ir, f->type, value));
}

static const Expr *combine(Fold *f, const Expr *a, const Expr *b)
{
    return reduction_combine(f->ir, f->x.r, f->x.nan, a, b);
}

static void plan_loop(Fold *f, const Nest *n, const Layout *l)
{
    loop_plan(f->k, n->var[0])->layout = l;
}

static const Stmt *each_slot(Fold *f, Var *q, int64_t n, const Stmt *body)
{
    if (n == 1)
        return stmt_subst(f->ir, body, q, expr_int(f->ir, 0));
    return stmt_for(f->ir, f->t->span, LOOP_UNROLL, q, expr_int(f->ir, 0), expr_int(f->ir, n),
                    (Hints){0}, body);
}

static const Stmt *clear_slots(Fold *f)
{
    Var *q = var_new(f->ir, "q", DT_I32, f->t->span);
    const Expr *none = reduction_identity(f->ir, f->x.r, f->type);
    return each_slot(f, q, fragment_slots(f->parts) * f->chains.n,
                     acc_set(f, expr_var(f->ir, q), none));
}

static const Stmt *fold_own(Fold *f)
{
    Ir *ir = f->ir;
    const Expr *extent[RANK_MOST], *from[RANK_MOST], *kept[RANK_MOST];
    Nest n;

    for (int i = 0; i < f->nloop; i++)
        extent[i] = f->src->extent[f->dim[i]];
    nest_open(f->k, &n, f->nloop, extent);
    for (int d = 0; d < f->src->buf->rank; d++)
        from[d] = f->src->at[d];
    for (int i = 0, e = 0; i < f->nloop; i++) {
        from[f->dim[i]] = expr_add(ir, f->src->at[f->dim[i]], n.at[i]);
        if (i != f->along)
            kept[e++] = n.at[i];
    }
    const Expr *v = expr_load(ir, f->src->buf, from, f->src->buf->rank);
    v = reduction_term(ir, f->x.r, f->type, expr_cast(ir, f->dst->buf->type, v));
    const Expr *slot = layout_offset(ir, f->parts, kept);
    if (f->chains.n > 1) {
        const Expr *own = expr_floordiv(ir, layout_offset(ir, f->from, n.at),
                                        expr_int(ir, f->chains.step));
        slot = expr_add(ir, expr_mul(ir, slot, expr_int(ir, f->chains.n)),
                        expr_floormod(ir, own, expr_int(ir, f->chains.n)));
    }
    const Stmt *s = acc_set(f, slot, combine(f, acc_get(f, slot), v));
    plan_loop(f, &n, f->from);
    return nest_close(f->k, f->t->span, &n, LOOP_PARALLEL, s);
}

/* The chains of each slot into one: pairs first. */
static const Stmt *join_chains(Fold *f)
{
    Ir *ir = f->ir;
    const Expr *part[CHAINS_MOST];
    Var *q = var_new(ir, "q", DT_I32, f->t->span);

    if (f->chains.n == 1)
        return NULL;
    for (int i = 0; i < f->chains.n; i++)
        part[i] = acc_get(f, expr_add(ir, expr_mul(ir, expr_var(ir, q), expr_int(ir, f->chains.n)),
                                      expr_int(ir, i)));
    for (int n = (int)f->chains.n; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++)
            part[i] = combine(f, part[2 * i], part[2 * i + 1]);
    return each_slot(f, q, fragment_slots(f->parts), acc_set(f, expr_var(ir, q), part[0]));
}

static const Stmt *exchange_slots(Fold *f, const Parts *p)
{
    Ir *ir = f->ir;
    Span at = f->t->span;
    Var *q = var_new(ir, "q", DT_I32, at);
    const Expr *slot = expr_var(ir, q);
    const Stmt *body = NULL;

    for (int i = 0; i < p->nmask; i++) {
        Var *other = var_new(ir, "other", f->type, at);
        const Expr *arg[2] = {acc_get(f, slot), expr_int(ir, p->mask[i])};
        body = stmt_seq(ir, body, stmt_call(ir, at, INTRIN_SHFL_XOR, 2, arg, 0, NULL, NULL, other));
        body = stmt_seq(
            ir, body, acc_set(f, slot, combine(f, acc_get(f, slot), expr_var(ir, other))));
    }
    return body ? each_slot(f, q, p->nslot, body) : NULL;
}

/* The result of kept loops `at`, combined with what dst held if it is to be, into dst. */
static const Stmt *put_result(Fold *f, const Expr *const *at, const Expr *v)
{
    Ir *ir = f->ir;
    const Expr *to[RANK_MOST];
    Buffer *b = f->dst->buf;

    for (int d = 0; d < b->rank; d++)
        to[d] = f->dst->at[d];
    for (int i = 0; i < f->x.nkept; i++)
        to[f->x.to[i]] = expr_add(ir, f->dst->at[f->x.to[i]], at[i]);
    if (!f->x.clear)
        v = combine(f, expr_cast(ir, f->type, expr_load(ir, b, to, b->rank)), v);
    return stmt_store(ir, f->t->span, b, to, b->rank, expr_cast(ir, b->type, v));
}

static void open_kept(Fold *f, Nest *n, const Expr *last)
{
    const Expr *extent[RANK_MOST];
    for (int i = 0; i < f->x.nkept; i++)
        extent[i] = expr_int(f->ir, f->parts->extent[i]);
    if (last)
        extent[f->x.nkept] = last;
    nest_open(f->k, n, f->x.nkept + (last != NULL), extent);
}

static const Stmt *put_in_place(Fold *f)
{
    Nest n;
    open_kept(f, &n, NULL);
    const Stmt *s = put_result(f, n.at, acc_get(f, layout_offset(f->ir, f->parts, n.at)));
    return nest_close(f->k, f->t->span, &n, LOOP_PARALLEL, s);
}

/* Each part is stored by one of those that hold it: into scratch[part, …], or if it is the whole
 * and dst is memory, there. */
static const Stmt *hand_over(Fold *f, Handed h, Buffer *scratch, const Layout *who)
{
    Ir *ir = f->ir;
    const Expr *at[RANK_MOST + 1];
    Nest n;

    open_kept(f, &n, expr_int(ir, f->parts->rep));
    const Expr *v = acc_get(f, layout_offset(ir, f->parts, n.at)), *r = n.at[f->x.nkept];
    const Expr *step = expr_int(ir, h.step);
    at[0] = expr_floordiv(ir, r, step);
    for (int i = 0; i < f->x.nkept; i++)
        at[i + 1] = n.at[i];
    const Stmt *s = scratch ? stmt_store(ir, f->t->span, scratch, at, scratch->rank, v)
                            : put_result(f, n.at, v);
    const Expr *one = expr_binary(ir, EX_EQ, expr_floormod(ir, r, step), expr_int(ir, 0));
    if (h.step * h.n < f->parts->rep)
        one = expr_and(ir, one, expr_lt(ir, r, expr_int(ir, h.step * h.n)));
    if (f->parts->rep > 1)
        s = stmt_if(ir, f->t->span, one, s, NULL);
    plan_loop(f, &n, who);
    return nest_close(f->k, f->t->span, &n, LOOP_PARALLEL, s);
}

/* Neighbours first, so that few wait for each other. */
static const Stmt *take_parts(Fold *f, Handed h, Buffer *scratch)
{
    Ir *ir = f->ir;
    const Expr *at[RANK_MOST + 1], **part = NEWN(ir->arena, const Expr *, h.n);
    Nest n;

    open_kept(f, &n, NULL);
    for (int i = 0; i < f->x.nkept; i++)
        at[i + 1] = n.at[i];
    for (int64_t p = 0; p < h.n; p++) {
        at[0] = expr_int(ir, p);
        part[p] = expr_load(ir, scratch, at, scratch->rank);
    }
    for (int64_t left = h.n; left > 1; left = (left + 1) / 2)
        for (int64_t p = 0; p < left / 2; p++) {
            part[p] = combine(f, part[2 * p], part[2 * p + 1]);
            if (p == left / 2 - 1 && left % 2)
                part[p + 1] = part[left - 1];
        }
    const Expr *v = part[0];
    return nest_close(f->k, f->t->span, &n, LOOP_PARALLEL, put_result(f, n.at, v));
}

static Buffer *make_scratch(Fold *f, int64_t n)
{
    const Expr *shape[RANK_MOST + 1];
    shape[0] = expr_int(f->ir, n);
    for (int i = 0; i < f->x.nkept; i++)
        shape[i + 1] = expr_int(f->ir, f->parts->extent[i]);
    return kernel_buffer(f->k, arena_printf(f->ir->arena, "%s_parts", f->dst->buf->name), f->type,
                         MEM_SHARED, f->x.nkept + 1, shape, f->t->span);
}

/* ---- the way through shared memory ----------------------------------------------------------- */

/* The tile as it is, spread out where every thread reaches it; then the operator's own loops. */
static const Stmt *by_own_loops(Fold *f, const char *why)
{
    Ir *ir = f->ir;
    const Stmt *t = f->t;
    Region region[2];
    Buffer *from = f->src->buf;
    Buffer *b = kernel_buffer(f->k, arena_printf(ir->arena, "%s_shared", from->name), from->type,
                              MEM_SHARED, from->rank, f->src->extent, t->span);

    /* Its mechanism stays: copies of the statement share the plan, and come this way too. */
    tile_plan(f->k, t)->why = arena_printf(ir->arena, "by way of shared memory: %s", why);
    audit_note(f->k, AUDIT_MEMORY, t->span, "'%s' goes through shared memory: %s",
               from->name, why);
    region[SRC] = region_whole(ir, b);
    region[DST] = *f->dst;
    const Stmt *copy = copy_plain(f->k, t->span, *f->src, region[SRC],
                                  "between registers and shared memory");
    const Stmt *fold = stmt_tile(ir, t->span, t->u.tile.op, 2, region, t->u.tile.narg,
                                 t->u.tile.arg, t->u.tile.text, t->u.tile.hints);
    tile_plan(f->k, fold)->how = &mech_plain;
    return stmt_seq(ir, op_copy.lower(f->k, copy), t->u.tile.op->lower(f->k, fold));
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const char *describe(Fold *f, const Parts *p, Handed h)
{
    Str s;
    str_init(&s, f->ir->arena);
    str_printf(&s, "%lld slots of each thread to %lld", (long long)fragment_slots(f->from),
               (long long)p->nslot);
    for (int i = 0; i < p->nmask; i++)
        str_printf(&s, "%s%d", i ? ", " : ", lanes xor ", p->mask[i]);
    if (h.n > 0)
        str_printf(&s, ", %lld part%s of each result through shared memory", (long long)h.n,
                   h.n == 1 ? "" : "s");
    return s.s;
}

static const Stmt *fold_and_finish(Fold *f, Parts *p)
{
    Ir *ir = f->ir;
    Handed h = {0};
    const Layout *who = NULL;
    const Expr *at[RANK_MOST + 1], *guard;
    bool in_place = lands_in_place(f, p);

    if (!in_place) {
        who = fragment_holders(f->ir, f->parts);
        if (!find_handed(f, p, &h))
            return by_own_loops(f, "parts of one result lie in no pattern");
        if (!fragment_inverse(ir, who, at, &guard) && layout_points(who) > ASKED_MOST)
            return by_own_loops(f, "who holds the parts has no closed form");
    }
    f->chains = find_chains(f);
    const Expr *nslot = expr_int(ir, p->nslot * f->chains.n);
    f->acc = kernel_buffer(f->k, "acc", f->type, MEM_LOCAL, 1, &nslot, f->t->span);
    const Stmt *s = stmt_seq(ir, clear_slots(f), fold_own(f));
    s = stmt_seq(ir, s, join_chains(f));
    s = stmt_seq(ir, s, exchange_slots(f, p));
    if (in_place) {
        s = stmt_seq(ir, s, put_in_place(f));
    } else if (h.n == 1 && f->dst->buf->scope == MEM_SHARED) {
        s = stmt_seq(ir, s, hand_over(f, h, NULL, who));
    } else {
        Buffer *scratch = make_scratch(f, h.n);
        s = stmt_seq(ir, s, hand_over(f, h, scratch, who));
        s = stmt_seq(ir, s, take_parts(f, h, scratch));
    }
    tile_plan(f->k, f->t)->why = describe(f, p, h);
    return s;
}

/* Are the tile's registers those of some threads only, though all come by here? */
static bool of_others(Fold *f)
{
    Map group;

    if (f->who.n != 0)
        return false;
    group_fragments(f->k, &group);
    for (int i = SRC; i <= DST; i++) {
        const ThreadGroup *t = map_get(&group, f->t->u.tile.region[i].buf);
        if (t && t->n)
            return true;
    }
    return false;
}

static const Stmt *reduce_by_shuffle(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Fold f = {.k = k, .ir = k->ir, .who = who, .t = t, .src = &t->u.tile.region[SRC],
              .dst = &t->u.tile.region[DST]};

    if (!reduce_shape(k, t, &f.x))
        diag_throw(k->diag);
    f.type = accumulate_type(f.dst->buf->type);
    read_loops(&f);
    f.from = over_loops(&f);
    if (of_others(&f))
        return by_own_loops(&f, "the tile belongs to some of the threads");
    if (!f.from)
        return by_own_loops(&f, "the tile is not spread over threads");
    f.parts = fragment_reduce(f.ir, f.from, f.along);
    Parts p = {.arena = arena_new(), .nthread = MAX(f.from->nthread, f.parts->nthread),
               .nslot = fragment_slots(f.parts), .extent = f.from->extent[f.along],
               .nelem = layout_points(f.parts)};
    p.nword = (int)((p.extent + 63) / 64);
    bool regular = find_parts(&f, &p);
    if (regular)
        find_masks(&f, &p);
    const Stmt *s = regular ? fold_and_finish(&f, &p)
                            : by_own_loops(&f, "two results share a slot");
    arena_free(p.arena);
    return s;
}

bool tile_reads_registers(Kernel *k, const Stmt *t)
{
    (void)k;
    return t->u.tile.region[SRC].buf->scope == MEM_FRAGMENT;
}

const Mech mech_shuffle = {.name = "shuffle", .ops = OPS(reduce), .can = reduce_can_shuffle,
                           .suits = tile_reads_registers,
                           .lower = reduce_by_shuffle, .takes_registers = true};
