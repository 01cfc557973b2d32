/* fragment.c -- layouts over threads: which thread holds an element, at which slot.
 *
 * All of these take any extents: not powers of two, smaller than a warp, not multiples of the
 * thread count.  Claims about a whole tile are decided by looking at every element of it. */
#include "layout/layout.h"

/* ---- evaluating ------------------------------------------------------------------------------ */

int64_t fragment_eval_thread(const Layout *l, const int64_t *at, int64_t r)
{
    int64_t arg[RANK_MOST + 1], result[RANK_MOST + 1], flat = 0;
    const int32_t *table = layout_threads_table(l);
    if (table) {
        for (int d = 0; d < l->rank; d++)
            flat = flat * l->extent[d] + at[d];
        return table[flat * l->rep + r];
    }
    for (int d = 0; d < l->rank; d++)
        arg[d] = at[d];
    arg[l->rank] = r;
    expr_run(l->code, arg, result);
    return result[l->nout];
}

int64_t fragment_slots(const Layout *l)
{
    return layout_size(l);
}

/* Sets of threads, one bit each. */
typedef struct {
    uint64_t *bit;
    int nword;
} ThreadSet;

static ThreadSet set_new(Arena *a, int64_t nthread)
{
    int nword = (int)((nthread + 63) / 64);
    return (ThreadSet){NEWN(a, uint64_t, nword), nword};
}

static void set_fill(ThreadSet s, const Layout *l, const int64_t *at, int64_t rep)
{
    memset(s.bit, 0, sizeof(uint64_t) * (size_t)s.nword);
    for (int64_t r = 0; r < rep; r++) {
        int64_t t = fragment_eval_thread(l, at, r);
        if (t / 64 < s.nword)
            s.bit[t / 64] |= (uint64_t)1 << t % 64;
    }
}

static bool set_holds(ThreadSet a, ThreadSet b)
{
    for (int i = 0; i < a.nword; i++) {
        if (b.bit[i] & ~a.bit[i])
            return false;
    }
    return true;
}

/* ---- making ---------------------------------------------------------------------------------- */

const Layout *fragment_new(Ir *ir, int rank, const int64_t *extent, const Expr *thread, int64_t rep,
                           int nout, const Expr *const *slot)
{
    Layout l = {.rank = rank, .nout = nout, .thread = thread, .rep = rep};
    BUG(rank > RANK_MOST || nout > RANK_MOST || nout < 1 || rep < 1, "a fragment of rank %d", rank);
    for (int d = 0; d < rank; d++)
        l.extent[d] = extent[d];
    for (int d = 0; d < nout; d++)
        l.out[d] = slot[d];
    return layout_make(ir, &l);
}

static const Expr *axis(Ir *ir, int d)
{
    return expr_var(ir, layout_axis(ir, d));
}

static const Expr *flat_index(Ir *ir, int rank, const int64_t *extent)
{
    const Expr *e = expr_int(ir, 0);
    for (int d = 0; d < rank; d++)
        e = expr_add(ir, expr_mul(ir, e, expr_int(ir, extent[d])), axis(ir, d));
    return e;
}

const Layout *fragment_holders(Ir *ir, const Layout *l)
{
    Layout want = *l;

    want.name = NULL;
    want.extent[want.rank++] = l->rep;
    want.rep = 1;
    want.thread = expr_subst(ir, l->thread, layout_rep(ir), axis(ir, l->rank));
    return layout_make(ir, &want);
}

const Layout *fragment_linear(Ir *ir, int rank, const int64_t *extent, int64_t nthread,
                              int64_t width)
{
    const Expr *flat = flat_index(ir, rank, extent), *w = expr_int(ir, width);
    const Expr *chunk = expr_floordiv(ir, flat, w), *n = expr_int(ir, nthread);
    Layout l = {.rank = rank, .nout = 1, .rep = 1, .nthread = nthread, .name = "linear"};
    for (int d = 0; d < rank; d++)
        l.extent[d] = extent[d];
    l.thread = expr_floormod(ir, chunk, n);
    l.out[0] =
        expr_add(ir, expr_mul(ir, expr_floordiv(ir, chunk, n), w), expr_floormod(ir, flat, w));
    return layout_make(ir, &l);
}

const Layout *fragment_replicated(Ir *ir, int rank, const int64_t *extent, int64_t nthread)
{
    Layout l = {.rank = rank, .nout = MAX(rank, 1), .rep = nthread, .nthread = nthread,
                .name = "replicated"};
    l.out[0] = expr_int(ir, 0);
    for (int d = 0; d < rank; d++) {
        l.extent[d] = extent[d];
        l.out[d] = axis(ir, d);
    }
    l.thread = nthread == 1 ? expr_int(ir, 0) : expr_var(ir, layout_rep(ir));
    return layout_make(ir, &l);
}

/* ---- repeating ------------------------------------------------------------------------------- */

static void bind(Ir *ir, Map *m, const Layout *l, const Expr *const *at, const Expr *rep)
{
    map_init(m, ir->arena);
    for (int d = 0; d < l->rank; d++)
        map_set(m, layout_axis(ir, d), at[d]);
    if (rep)
        map_set(m, layout_rep(ir), rep);
}

/* The tile times[d] times along each dimension: over new threads, or over new slots of the same. */
const Layout *fragment_repeat(Ir *ir, const Layout *l, const int64_t *times, bool on_thread,
                              bool last_first)
{
    const Expr *at[RANK_MOST], *which = expr_int(ir, 0);
    Layout want = *l;
    int64_t ncopy = 1;
    want.name = NULL;
    for (int i = 0; i < l->rank; i++) {
        int d = last_first ? i : l->rank - 1 - i;
        const Expr *e = expr_int(ir, l->extent[d]);
        want.extent[d] = l->extent[d] * times[d];
        at[d] = expr_floormod(ir, axis(ir, d), e);
        which = expr_add(ir, expr_mul(ir, which, expr_int(ir, times[d])),
                         expr_floordiv(ir, axis(ir, d), e));
        ncopy *= times[d];
    }
    Map m;
    bind(ir, &m, l, at, NULL);
    for (int d = 0; d < l->nout; d++)
        want.out[d] = expr_subst_map(ir, l->out[d], &m, NULL);
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    if (on_thread) {
        want.thread = expr_add(ir, expr_mul(ir, which, expr_int(ir, l->nthread)), want.thread);
        want.nthread = l->nthread * ncopy;
    } else if (l->nout < RANK_MOST) {
        memmove(&want.out[1], &want.out[0], sizeof want.out[0] * (size_t)want.nout++);
        want.out[0] = which;
    } else {
        want.out[0] =
            expr_add(ir, expr_mul(ir, which, expr_int(ir, l->out_extent[0])), want.out[0]);
    }
    return layout_make(ir, &want);
}

/* `times` groups of threads, each holding the whole. */
const Layout *fragment_replicate(Ir *ir, const Layout *l, int64_t times)
{
    Layout want = *l;
    if (times == 1)
        return l;
    const Expr *r = expr_var(ir, layout_rep(ir)), *n = expr_int(ir, l->rep);
    Map m;
    map_init(&m, ir->arena);
    map_set(&m, layout_rep(ir), expr_floormod(ir, r, n));
    want.name = NULL;
    want.rep = l->rep * times;
    want.nthread = l->nthread * times;
    want.thread = expr_add(ir, expr_subst_map(ir, l->thread, &m, NULL),
                           expr_mul(ir, expr_floordiv(ir, r, n), expr_int(ir, l->nthread)));
    return layout_make(ir, &want);
}

/* ---- condensing ------------------------------------------------------------------------------ */

static int64_t count_threads(ThreadSet s)
{
    int64_t n = 0;
    for (int i = 0; i < s.nword; i++)
        n += __builtin_popcountll(s.bit[i]);
    return n;
}

/* Whether different elements may have different owners. */
static bool threads_vary(Ir *ir, const Layout *l)
{
    for (int d = 0; d < l->rank; d++) {
        if (expr_uses_var(l->thread, layout_axis(ir, d)))
            return true;
    }
    return false;
}

static bool same_threads(Ir *ir, const Layout *a, const Layout *b)
{
    Arena *scratch = arena_new();
    bool vary = threads_vary(ir, a) || threads_vary(ir, b);
    int64_t at[RANK_MOST] = {0}, n = MAX(a->nthread, b->nthread);
    ThreadSet x = set_new(scratch, n), y = set_new(scratch, n);
    bool same = true;
    do {
        set_fill(x, a, at, a->rep);
        set_fill(y, b, at, b->rep);
        same = set_holds(x, y) && set_holds(y, x);
    } while (same && vary && layout_next(a, at));
    arena_free(scratch);
    return same;
}

/* The most threads that hold one element: no fewer replicas can do. */
static int64_t most_owners(Ir *ir, const Layout *l)
{
    Arena *scratch = arena_new();
    bool vary = threads_vary(ir, l);
    int64_t at[RANK_MOST] = {0}, most = 1;
    ThreadSet s = set_new(scratch, l->nthread);
    do {
        set_fill(s, l, at, l->rep);
        most = MAX(most, count_threads(s));
    } while (vary && layout_next(l, at));
    arena_free(scratch);
    return most;
}

/* ---- replicas that the thread does not look at: r occurs only in digits r // d % m ----------- */

enum { DIGITS_MOST = 8 };

typedef struct {
    Ir *ir;
    int64_t rep;
    int n;
    struct { int64_t div, mod; } digit[DIGITS_MOST];
    const Expr *by[DIGITS_MOST]; /* digits of the new, shorter r */
    bool bad;
} Digits;

/* e = r // div % mod */
static bool is_digit(const Digits *x, const Expr *e, int64_t *div, int64_t *mod)
{
    int64_t m = 0, d = 1;
    if (e->op == EX_FLOORMOD && expr_is_int(e->kid[1], &m) && m > 0)
        e = e->kid[0];
    if (e->op == EX_FLOORDIV && expr_is_int(e->kid[1], &d) && d > 0)
        e = e->kid[0];
    if (e->op != EX_VAR || e->u.var != layout_rep(x->ir))
        return false;
    *div = d;
    *mod = m ? m : (x->rep + d - 1) / d;
    return true;
}

static void find_digits(Digits *x, const Expr *e)
{
    int64_t div, mod;
    if (is_digit(x, e, &div, &mod)) {
        int i = 0;
        while (i < x->n && x->digit[i].div < div)
            i++;
        if (i < x->n && x->digit[i].div == div) {
            x->bad |= x->digit[i].mod != mod;
        } else if (x->n == DIGITS_MOST) {
            x->bad = true;
        } else {
            memmove(&x->digit[i + 1], &x->digit[i], sizeof x->digit[0] * (size_t)(x->n++ - i));
            x->digit[i].div = div;
            x->digit[i].mod = mod;
        }
        return;
    }
    for (int i = 0; i < e->nkid; i++)
        find_digits(x, e->kid[i]);
}

static const Expr *put_digits(const Digits *x, const Expr *e)
{
    int64_t div, mod;
    const Expr *kid[3];
    if (is_digit(x, e, &div, &mod)) {
        for (int i = 0; i < x->n; i++) {
            if (x->digit[i].div == div)
                return x->by[i];
        }
    }
    if (e->nkid == 0 || e->nkid > 3)
        return e;
    for (int i = 0; i < e->nkid; i++)
        kid[i] = put_digits(x, e->kid[i]);
    return expr_with_kids(x->ir, e, kid);
}

/* The same threads from as many replicas as the digits of r in use have values. */
static const Layout *without_unused_digits(Ir *ir, const Layout *l)
{
    Digits x = {.ir = ir, .rep = l->rep};
    int64_t n = 1;
    find_digits(&x, l->thread);
    for (int i = 0; i < x.n && !x.bad; i++) {
        const Expr *r = expr_var(ir, layout_rep(ir));
        int64_t past = x.digit[i].div * x.digit[i].mod;
        x.bad = i + 1 < x.n ? x.digit[i + 1].div % past != 0 : l->rep % past != 0;
        x.by[i] = expr_floormod(ir, expr_floordiv(ir, r, expr_int(ir, n)),
                                expr_int(ir, x.digit[i].mod));
        n *= x.digit[i].mod;
    }
    if (x.bad || n >= l->rep)
        return l;
    Layout want = *l;
    want.rep = n;
    want.thread = put_digits(&x, l->thread);
    const Layout *t = layout_make(ir, &want);
    return t ? t : l;
}

/* l with replica r standing for replica r * step of the old ones. */
static const Layout *with_replicas(Ir *ir, const Layout *l, int64_t n, int64_t step)
{
    Layout want = *l;
    Map m;
    map_init(&m, ir->arena);
    map_set(&m, layout_rep(ir), expr_mul(ir, expr_var(ir, layout_rep(ir)), expr_int(ir, step)));
    want.rep = n;
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    return layout_make(ir, &want);
}

/* Replicas that repeat others: the first n of them, or n at equal distances, may do. */
const Layout *fragment_condense(Ir *ir, const Layout *l)
{
    if (l->rep == 1)
        return l;
    l = without_unused_digits(ir, l);
    int64_t least = most_owners(ir, l);
    for (int64_t n = least; n < l->rep; n++) {
        for (int64_t step = 1; step * n <= l->rep; step *= 2) {
            const Layout *t = with_replicas(ir, l, n, step);
            if (t && same_threads(ir, l, t))
                return t;
        }
    }
    return l;
}

/* ---- reducing -------------------------------------------------------------------------------- */

/* Slots of the reduced tile with the gaps that the lost dimension left taken out: digits of the old
 * offset keep their order and become a dense mixed radix. */
static const Expr *dense_slots(Ir *ir, const Layout *l, const Expr *offset)
{
    Facts *f = layout_facts(ir, l);
    Linear s = {0};
    linear_expr(&s, simplify(ir, f, offset), 1);
    if (s.bad)
        return NULL;
    const Expr *e = expr_int(ir, 0);
    int64_t stride = 1, last = 0;
    for (int done = 0; done < s.n; done++) {
        int best = -1;
        for (int i = 0; i < s.n; i++) {
            if (s.t[i].coef > last && (best < 0 || s.t[i].coef < s.t[best].coef))
                best = i;
        }
        if (best < 0)
            return NULL; /* a negative or a repeated coefficient */
        last = s.t[best].coef;
        Bounds b = bounds_of(f, s.t[best].atom);
        if (b.lo < 0 || !bounds_known(b))
            return NULL;
        e = expr_add(ir, e, expr_mul(ir, s.t[best].atom, expr_int(ir, stride)));
        stride *= b.hi + 1;
    }
    return e;
}

static const Layout *reduce(Ir *ir, const Layout *l, int dim)
{
    const Expr *at[RANK_MOST], *first[RANK_MOST], *r = expr_var(ir, layout_rep(ir));
    Layout want = {.rank = l->rank - 1, .nout = 1, .nthread = l->nthread};
    want.rep = l->rep * l->extent[dim];
    for (int d = 0, n = 0; d < l->rank; d++) {
        first[d] = d == dim ? expr_int(ir, 0) : axis(ir, n);
        at[d] = d == dim ? expr_floordiv(ir, r, expr_int(ir, l->rep)) : axis(ir, n);
        if (d != dim)
            want.extent[n++] = l->extent[d];
    }
    Map m;
    bind(ir, &m, l, at, expr_floormod(ir, r, expr_int(ir, l->rep)));
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    const Expr *offset = layout_offset(ir, l, first);
    const Expr *choice[3] = {dense_slots(ir, &want, offset), offset,
                             flat_index(ir, want.rank, want.extent)};
    const Layout *best = NULL;
    for (int i = 0; i < 3; i++) {
        want.out[0] = choice[i];
        const Layout *t = choice[i] ? layout_make(ir, &want) : NULL;
        if (!t || (best && fragment_slots(t) >= fragment_slots(best)))
            continue;
        if (i == 2 || layout_is_injective(ir, t))
            best = t;
    }
    return fragment_condense(ir, best);
}

/* Threads that hold any element along `dim` hold the result, each at one slot. */
const Layout *fragment_reduce(Ir *ir, const Layout *l, int dim)
{
    if (!l->facts->reduced[dim])
        l->facts->reduced[dim] = reduce(ir, l, dim);
    return l->facts->reduced[dim];
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool same_tile(const Layout *a, const Layout *b)
{
    if (a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++) {
        if (a->extent[d] != b->extent[d])
            return false;
    }
    return true;
}

bool fragment_is_equal(Ir *ir, const Layout *a, const Layout *b)
{
    int64_t at[RANK_MOST] = {0};
    if (!same_tile(a, b))
        return false;
    if (layout_is_same(a, b))
        return true;
    do {
        if (layout_eval(a, at) != layout_eval(b, at))
            return false;
    } while (layout_next(a, at));
    return same_threads(ir, a, b);
}
