/* layout.c -- plain layouts: make, apply, compose, invert, compare.
 *
 * Output expressions are simplified under the ranges of the axes when a layout is made, so two
 * layouts built in different ways print the same when they are the same linear or digit form. */
#include "layout/layout.h"

enum { POINTS_QUICK = 1 << 16, POINTS_MOST = 1 << 26 };

/* ---- placeholders ---------------------------------------------------------------------------- */

/* What the layouts of one Ir share: the placeholders, and a table that keeps one of each. */
typedef struct {
    Var *axis[RANK_MOST], *rep;
    const Layout **slot;
    int nslot, n;
} Axes;

enum { SLOTS_LEAST = 64 };

static Axes *axes_of(Ir *ir)
{
    static const char *const name[RANK_MOST] = {"i", "j", "k", "l", "m", "n", "o", "p"};
    if (!ir->axes) {
        Axes *a = NEW(ir->arena, Axes);
        for (int d = 0; d < RANK_MOST; d++)
            a->axis[d] = var_new(ir, name[d], DT_I32, NO_SPAN);
        a->rep = var_new(ir, "r", DT_I32, NO_SPAN);
        a->nslot = SLOTS_LEAST;
        a->slot = NEWN(ir->arena, const Layout *, SLOTS_LEAST);
        ir->axes = a;
    }
    return ir->axes;
}

Var *layout_axis(Ir *ir, int d)
{
    BUG(d < 0 || d >= RANK_MOST, "layout axis %d", d);
    return axes_of(ir)->axis[d];
}

Var *layout_rep(Ir *ir)
{
    return axes_of(ir)->rep;
}

Facts *layout_facts(Ir *ir, const Layout *l)
{
    Facts *f = facts_new(ir);
    const Expr *zero = expr_int(ir, 0);
    for (int d = 0; d < l->rank; d++)
        facts_range(f, layout_axis(ir, d), zero, expr_int(ir, l->extent[d]));
    facts_range(f, layout_rep(ir), zero, expr_int(ir, MAX(l->rep, 1)));
    return f;
}

/* ---- making ---------------------------------------------------------------------------------- */

int64_t layout_points(const Layout *l)
{
    int64_t n = 1;
    for (int d = 0; d < l->rank; d++)
        n *= l->extent[d];
    return n;
}

bool layout_next(const Layout *l, int64_t *at)
{
    return point_next(l->rank, l->extent, at);
}

static int count_var(const Expr *e, const Var *v)
{
    int n = e->op == EX_VAR && e->u.var == v;
    for (int i = 0; i < e->nkid; i++)
        n += count_var(e->kid[i], v);
    return n;
}

static bool is_plain(const Expr *e)
{
    int64_t c;
    switch (e->op) {
    case EX_INT:
    case EX_VAR:
        return true;
    case EX_ADD:
        return is_plain(e->kid[0]) && is_plain(e->kid[1]);
    case EX_MUL:
        return expr_is_int(e->kid[1], &c) && is_plain(e->kid[0]);
    case EX_FLOORDIV:
        return expr_is_int(e->kid[1], &c) && is_plain(e->kid[0]);
    case EX_FLOORMOD:
        return expr_is_int(e->kid[1], &c) &&
               (e->kid[0]->op == EX_VAR || (e->kid[0]->op == EX_FLOORDIV && is_plain(e->kid[0])));
    default:
        return false;
    }
}

/* Interval bounds are reached when every axis occurs once and steps have no gaps. */
static bool bounds_are_exact(Ir *ir, const Layout *l, const Expr *e)
{
    for (int d = 0; d < l->rank; d++) {
        if (count_var(e, layout_axis(ir, d)) > 1)
            return false;
    }
    return is_plain(e);
}

/* The next points in lanes, replicas innermost; how many.  *more: others follow. */
static int layout_lanes(const Layout *l, int64_t *at, int64_t (*arg)[EXPR_LANES], bool *more)
{
    int n = 0;
    for (*more = true; *more && n < EXPR_LANES; n++) {
        for (int d = 0; d <= l->rank; d++)
            arg[d][n] = at[d];
        if (++at[l->rank] < l->rep)
            continue;
        at[l->rank] = 0;
        *more = layout_next(l, at);
    }
    for (int i = n; i < EXPR_LANES; i++) {
        for (int d = 0; d <= l->rank; d++)
            arg[d][i] = arg[d][n - 1];
    }
    return n;
}

static void enumerate_box(Layout *l, int64_t *low, int64_t *high)
{
    int64_t at[RANK_MOST + 1] = {0}, arg[RANK_MOST + 1][EXPR_LANES], r[RANK_MOST + 1][EXPR_LANES];
    int n = l->nout + (l->thread != NULL);
    for (int d = 0; d < n; d++) {
        low[d] = INT64_MAX;
        high[d] = INT64_MIN;
    }
    for (bool more = true; more;) {
        layout_lanes(l, at, arg, &more);
        expr_run_lanes(l->code, arg, r);
        for (int d = 0; d < n; d++) {
            for (int i = 0; i < EXPR_LANES; i++) {
                low[d] = MIN(low[d], r[d][i]);
                high[d] = MAX(high[d], r[d][i]);
            }
        }
    }
}

/* Fills out_extent (and nthread, when 0); false if something is negative. */
static bool find_box(Ir *ir, const Facts *f, Layout *l)
{
    int64_t low[RANK_MOST + 1], high[RANK_MOST + 1];
    bool exact = true;
    int n = l->nout + (l->thread != NULL);
    for (int d = 0; d < n; d++) {
        const Expr *e = d < l->nout ? l->out[d] : l->thread;
        Bounds b = bounds_of(f, e);
        low[d] = b.lo;
        high[d] = b.hi;
        exact &= bounds_known(b) && bounds_are_exact(ir, l, e);
    }
    if (!exact && layout_points(l) * l->rep <= POINTS_MOST)
        enumerate_box(l, low, high);
    for (int d = 0; d < n; d++) {
        if (low[d] < 0 || high[d] >= INT32_MAX)
            return false;
        if (d < l->nout)
            l->out_extent[d] = high[d] + 1;
        else if (l->nthread == 0)
            l->nthread = high[d] + 1;
    }
    return true;
}

/* ---- one of each ----------------------------------------------------------------------------- */

static uint64_t layout_hash(const Layout *l)
{
    uint64_t h = hash_mix((uint64_t)l->rank << 8 | (uint64_t)l->nout, (uint64_t)l->rep);
    h = hash_mix(h, (uint64_t)l->asked);
    for (int d = 0; d < l->rank; d++)
        h = hash_mix(h, (uint64_t)l->extent[d]);
    for (int d = 0; d < l->nout; d++)
        h = hash_mix(h, l->out[d]->hash);
    return l->thread ? hash_mix(h, l->thread->hash) : h;
}

static bool same_map(const Layout *a, const Layout *b)
{
    return a->asked == b->asked && layout_is_same(a, b);
}

/* The slot of `want`, holding the equal layout or free. */
static const Layout **layout_slot(Axes *a, const Layout *want)
{
    uint64_t at = layout_hash(want) & (uint64_t)(a->nslot - 1);
    while (a->slot[at] && !same_map(a->slot[at], want))
        at = (at + 1) & (uint64_t)(a->nslot - 1);
    return &a->slot[at];
}

static void remember(Ir *ir, const Layout *l)
{
    Axes *a = axes_of(ir);
    if (++a->n * 2 > a->nslot) {
        const Layout **old = a->slot;
        int nold = a->nslot;
        a->nslot *= 2;
        a->slot = NEWN(ir->arena, const Layout *, a->nslot);
        for (int i = 0; i < nold; i++) {
            if (old[i])
                *layout_slot(a, old[i]) = old[i];
        }
    }
    *layout_slot(a, l) = l;
}

/* Simplified, and found in the table or given its box and code. */
/* thread = f(coordinates) + g(replica) */
static bool is_apart(Ir *ir, const Facts *f, const Layout *l)
{
    if (!l->thread || l->rep == 1)
        return true;
    const Expr *first = expr_subst(ir, l->thread, layout_rep(ir), expr_int(ir, 0));
    const Expr *further = simplify(ir, f, expr_sub(ir, l->thread, first));
    for (int d = 0; d < l->rank; d++)
        if (expr_uses_var(further, layout_axis(ir, d)))
            return false;
    return true;
}

const Layout *layout_make(Ir *ir, const Layout *want)
{
    Layout *l = NEW(ir->arena, Layout);
    Var *vars[RANK_MOST + 1];
    const Expr *e[RANK_MOST + 1];
    *l = *want;
    l->facts = NULL;
    l->asked = want->nthread;
    for (int d = 0; d < l->rank; d++) {
        if (l->extent[d] <= 0 || l->extent[d] > INT32_MAX)
            return NULL;
    }
    Facts *f = layout_facts(ir, l);
    for (int d = 0; d < l->nout; d++)
        e[d] = l->out[d] = simplify(ir, f, l->out[d]);
    if (l->thread)
        e[l->nout] = l->thread = simplify(ir, f, l->thread);
    const Layout *known = *layout_slot(axes_of(ir), l);
    if (known)
        return want->name ? layout_named(ir, known, want->name) : known;
    for (int d = 0; d < l->rank; d++)
        vars[d] = layout_axis(ir, d);
    vars[l->rank] = layout_rep(ir);
    l->code = expr_compile(ir, vars, l->rank + 1, e, l->nout + (l->thread != NULL));
    l->facts = NEW(ir->arena, LayoutFacts);
    l->facts->arena = ir->arena;
    l->facts->apart = is_apart(ir, f, l);
    if (!find_box(ir, f, l))
        return NULL;
    Layout *bare = NEW(ir->arena, Layout);
    *bare = *l;
    bare->name = NULL;
    remember(ir, bare);
    return l;
}

const Layout *layout_new(Ir *ir, int rank, const int64_t *extent, int nout, const Expr *const *out)
{
    Layout l = {.rank = rank, .nout = nout, .rep = 1};
    BUG(rank > RANK_MOST || nout > RANK_MOST || nout < 1, "a layout of %d to %d dimensions", rank,
        nout);
    for (int d = 0; d < rank; d++)
        l.extent[d] = extent[d];
    for (int d = 0; d < nout; d++)
        l.out[d] = out[d];
    return layout_make(ir, &l);
}

const Layout *layout_named(Ir *ir, const Layout *l, const char *name)
{
    Layout *n = NEW(ir->arena, Layout);
    *n = *l;
    n->name = name ? ir_name(ir, name) : NULL;
    return n;
}

/* sum of axis * stride, strides as row-major over `extent` with `pad` after each row */
static const Expr *flat_index(Ir *ir, int rank, const int64_t *extent, int64_t pad)
{
    const Expr *e = expr_int(ir, 0);
    for (int d = 0; d < rank; d++) {
        if (d > 0)
            e = expr_mul(ir, e, expr_int(ir, extent[d] + (d == rank - 1 ? pad : 0)));
        e = expr_add(ir, e, expr_var(ir, layout_axis(ir, d)));
    }
    return e;
}

const Layout *layout_row_major(Ir *ir, int rank, const int64_t *extent)
{
    const Expr *out[RANK_MOST] = {expr_int(ir, 0)};
    for (int d = 0; d < rank; d++)
        out[d] = expr_var(ir, layout_axis(ir, d));
    return layout_named(ir, layout_new(ir, rank, extent, MAX(rank, 1), out), "row-major");
}

const Layout *layout_padded(Ir *ir, int rank, const int64_t *extent, int64_t pad)
{
    const Expr *out = flat_index(ir, rank, extent, pad);
    return layout_named(ir, layout_new(ir, rank, extent, 1, &out), "padded");
}

/* ---- applying -------------------------------------------------------------------------------- */

static void bind_axes(Ir *ir, const Layout *l, const Expr *const *at, Map *m)
{
    map_init(m, ir->arena);
    for (int d = 0; d < l->rank; d++)
        map_set(m, layout_axis(ir, d), at[d]);
}

void layout_apply(Ir *ir, const Layout *l, const Expr *const *at, const Expr **out)
{
    Map m;
    bind_axes(ir, l, at, &m);
    for (int d = 0; d < l->nout; d++)
        out[d] = simplify(ir, NULL, expr_subst_map(ir, l->out[d], &m, NULL));
}

const Expr *layout_offset(Ir *ir, const Layout *l, const Expr *const *at)
{
    const Expr *out[RANK_MOST], *e = expr_int(ir, 0);
    layout_apply(ir, l, at, out);
    for (int d = 0; d < l->nout; d++) {
        if (d > 0)
            e = expr_mul(ir, e, expr_int(ir, l->out_extent[d]));
        e = expr_add(ir, e, out[d]);
    }
    return simplify(ir, NULL, e);
}

enum { LOOKUPS_FEW = 256, TABLE_MOST = 1 << 18 };

/* (point, replica) in order -> slot, thread */
static void tabulate(const Layout *l)
{
    int64_t at[RANK_MOST + 1] = {0}, arg[RANK_MOST + 1][EXPR_LANES], r[RANK_MOST + 1][EXPR_LANES];
    int64_t total = layout_points(l) * l->rep, done = 0;
    int32_t *slot = NEWN(l->facts->arena, int32_t, layout_points(l));
    int32_t *thread = l->thread ? NEWN(l->facts->arena, int32_t, total) : NULL;
    for (bool more = true; more;) {
        int n = layout_lanes(l, at, arg, &more);
        expr_run_lanes(l->code, arg, r);
        for (int i = 0; i < n; i++, done++) {
            int64_t offset = 0;
            for (int d = 0; d < l->nout; d++)
                offset = offset * l->out_extent[d] + r[d][i];
            slot[done / l->rep] = (int32_t)offset;
            if (thread)
                thread[done] = (int32_t)r[l->nout][i];
        }
    }
    l->facts->slot_of = slot;
    l->facts->thread_of = thread;
}

static bool has_table(const Layout *l)
{
    LayoutFacts *f = l->facts;
    if (!f->slot_of && f->nlookup <= LOOKUPS_FEW && f->nlookup++ == LOOKUPS_FEW &&
        layout_points(l) * l->rep <= TABLE_MOST && layout_size(l) < INT32_MAX)
        tabulate(l);
    return f->slot_of != NULL;
}

static const int32_t *layout_slots_table(const Layout *l)
{
    return has_table(l) ? l->facts->slot_of : NULL;
}

const int32_t *layout_threads_table(const Layout *l)
{
    return has_table(l) ? l->facts->thread_of : NULL;
}

int64_t layout_eval(const Layout *l, const int64_t *at)
{
    int64_t arg[RANK_MOST + 1], r[RANK_MOST + 1], offset = 0;
    const int32_t *table = layout_slots_table(l);
    if (table) {
        for (int d = 0; d < l->rank; d++)
            offset = offset * l->extent[d] + at[d];
        return table[offset];
    }
    for (int d = 0; d < l->rank; d++)
        arg[d] = at[d];
    arg[l->rank] = 0;
    expr_run(l->code, arg, r);
    for (int d = 0; d < l->nout; d++)
        offset = offset * l->out_extent[d] + r[d];
    return offset;
}

int64_t layout_size(const Layout *l)
{
    int64_t n = 1;
    for (int d = 0; d < l->nout; d++)
        n *= l->out_extent[d];
    return n;
}

/* ---- algebra --------------------------------------------------------------------------------- */

/* A replica may meet its own element again, never another: (thread, slot) is counted by element. */
static bool is_fragment_injective(const Layout *l)
{
    int64_t at[RANK_MOST + 1] = {0}, arg[RANK_MOST + 1][EXPR_LANES], r[RANK_MOST + 1][EXPR_LANES];
    Arena *scratch = arena_new();
    int64_t size = layout_size(l), done = 0;
    int32_t *owner = NEWN(scratch, int32_t, size * l->nthread);
    bool ok = true;

    for (bool more = true; ok && more;) {
        int n = layout_lanes(l, at, arg, &more);
        expr_run_lanes(l->code, arg, r);
        for (int i = 0; ok && i < n; i++) {
            int64_t thread = r[l->nout][i], slot = 0, element = done++ / l->rep + 1;
            for (int d = 0; d < l->nout; d++)
                slot = slot * l->out_extent[d] + r[d][i];
            ok = thread >= 0 && thread < l->nthread && slot >= 0 && slot < size;
            int32_t *o = ok ? &owner[thread * size + slot] : owner;
            ok &= *o == 0 || *o == element;
            *o = (int32_t)element;
        }
    }
    arena_free(scratch);
    return ok;
}

static bool find_injective(Ir *ir, const Layout *l)
{
    Var *vars[RANK_MOST + 1];
    const Expr *out[RANK_MOST + 1];
    for (int d = 0; d < l->rank; d++)
        vars[d] = layout_axis(ir, d);
    for (int d = 0; d < l->nout; d++)
        out[d] = l->out[d];
    if (!layout_is_fragment(l))
        return map_is_injective(ir, vars, l->extent, l->rank, out, l->nout);
    return is_fragment_injective(l);
}

bool layout_is_injective(Ir *ir, const Layout *l)
{
    if (!l->facts->injective)
        l->facts->injective = find_injective(ir, l) ? 1 : -1;
    return l->facts->injective > 0;
}

const Layout *layout_inverse(Ir *ir, const Layout *l)
{
    Var *vars[RANK_MOST], *outvars[RANK_MOST];
    const Expr *inverse[RANK_MOST];
    if (layout_is_fragment(l) || layout_size(l) != layout_points(l) || l->rank == 0)
        return NULL;
    for (int d = 0; d < RANK_MOST; d++)
        vars[d] = outvars[d] = layout_axis(ir, d);
    if (!map_invert(ir, vars, l->extent, l->rank, l->out, l->nout, outvars, inverse))
        return NULL;
    return layout_new(ir, l->nout, l->out_extent, l->rank, inverse);
}

static bool same_shape(const Layout *a, const Layout *b)
{
    if (a->rank != b->rank || a->nout != b->nout)
        return false;
    for (int d = 0; d < a->rank; d++) {
        if (a->extent[d] != b->extent[d])
            return false;
    }
    for (int d = 0; d < a->nout; d++) {
        if (a->out_extent[d] != b->out_extent[d])
            return false;
    }
    return true;
}

bool layout_is_same(const Layout *a, const Layout *b)
{
    if (a->rank != b->rank || a->nout != b->nout || a->thread != b->thread || a->rep != b->rep ||
        memcmp(a->extent, b->extent, sizeof a->extent[0] * (size_t)a->rank) != 0)
        return false;
    return memcmp(a->out, b->out, sizeof a->out[0] * (size_t)a->nout) == 0;
}

bool layout_is_equal(Ir *ir, const Layout *a, const Layout *b)
{
    int64_t at[RANK_MOST] = {0};
    if (a == b || layout_is_same(a, b))
        return true;
    if (layout_is_fragment(a) != layout_is_fragment(b) || !same_shape(a, b))
        return false;
    if (layout_is_fragment(a))
        return fragment_is_equal(ir, a, b);
    do {
        if (layout_eval(a, at) != layout_eval(b, at))
            return false;
    } while (layout_next(a, at));
    return true;
}

/* ---- other shapes ---------------------------------------------------------------------------- */

/* want = l at other coordinates */
static void rename_axes(Ir *ir, const Layout *l, const Expr *const *at, Layout *want)
{
    Map m;
    bind_axes(ir, l, at, &m);
    for (int d = 0; d < l->nout; d++)
        want->out[d] = expr_subst_map(ir, l->out[d], &m, NULL);
    want->thread = l->thread ? expr_subst_map(ir, l->thread, &m, NULL) : NULL;
    want->nout = l->nout;
    want->rep = l->rep;
    want->nthread = l->nthread;
    want->name = l->name;
}

/* Coordinates of the element with that row-major number. */
static void unflatten(Ir *ir, const Layout *l, const Expr *flat, const Expr **at)
{
    int64_t below = 1;
    for (int d = l->rank - 1; d >= 0; d--) {
        at[d] = expr_floordiv(ir, flat, expr_int(ir, below));
        if (d > 0)
            at[d] = expr_floormod(ir, at[d], expr_int(ir, l->extent[d]));
        below *= l->extent[d];
    }
}

const Layout *layout_reshape(Ir *ir, const Layout *l, int rank, const int64_t *extent)
{
    const Expr *at[RANK_MOST];
    Layout want = {.rank = rank};
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        want.extent[d] = extent[d];
        n *= extent[d];
    }
    if (n != layout_points(l))
        return NULL;
    unflatten(ir, l, flat_index(ir, rank, extent, 0), at);
    rename_axes(ir, l, at, &want);
    return layout_make(ir, &want);
}

/* Do each k elements, in row-major order, lie one after the other from a multiple of k on, with
 * the same threads? */
static bool lies_in_pieces(const Layout *l, int k)
{
    int64_t at[RANK_MOST] = {0}, before[RANK_MOST] = {0}, n = 0, first = 0;
    do {
        int64_t offset = layout_eval(l, at);
        if (n % k == 0)
            first = offset;
        if (offset != first + n % k || first % k)
            return false;
        for (int64_t r = 0; r < l->rep && l->thread && n % k; r++)
            if (fragment_eval_thread(l, at, r) != fragment_eval_thread(l, before, r))
                return false;
        memcpy(before, at, sizeof before);
        n++;
    } while (layout_next(l, at));
    return true;
}

const Layout *layout_view(Ir *ir, const Layout *l, int bits, int rank, const int64_t *extent,
                          int to)
{
    const Expr *at[RANK_MOST], *flat = flat_index(ir, rank, extent, 0);
    Layout want = {.rank = rank};
    int64_t n = 1;

    if (bits == to)
        return layout_reshape(ir, l, rank, extent);
    for (int d = 0; d < rank; d++)
        n *= want.extent[d] = extent[d];
    if (n * to != layout_points(l) * bits)
        return NULL;
    const Expr *k = expr_int(ir, MAX(bits, to) / MIN(bits, to));
    if (to > bits && !lies_in_pieces(l, to / bits))
        return NULL;
    unflatten(ir, l, to > bits ? expr_mul(ir, flat, k) : expr_floordiv(ir, flat, k), at);
    rename_axes(ir, l, at, &want);
    const Expr *out = layout_offset(ir, l, at);
    want.out[0] = to > bits ? expr_floordiv(ir, out, k)
                            : expr_add(ir, expr_mul(ir, out, k), expr_floormod(ir, flat, k));
    want.nout = 1;
    want.name = NULL;
    return layout_make(ir, &want);
}

const Layout *layout_expand(Ir *ir, const Layout *l, int64_t lead)
{
    const Expr *at[RANK_MOST];
    Layout want = {.rank = l->rank + 1, .extent = {lead}};
    if (l->rank == RANK_MOST || l->nout == RANK_MOST)
        return NULL;
    for (int d = 0; d < l->rank; d++) {
        at[d] = expr_var(ir, layout_axis(ir, d + 1));
        want.extent[d + 1] = l->extent[d];
    }
    rename_axes(ir, l, at, &want);
    memmove(&want.out[1], &want.out[0], sizeof want.out[0] * (size_t)want.nout++);
    want.out[0] = expr_var(ir, layout_axis(ir, 0));
    return layout_make(ir, &want);
}

/* ---- text ------------------------------------------------------------------------------------ */

typedef struct {
    Ir *ir;
    const char *p;
    Var *vars[RANK_MOST + 1];
    int nvar;
} Reader;

static void skip_space(Reader *r)
{
    while (*r->p == ' ')
        r->p++;
}

static bool accept(Reader *r, const char *word)
{
    skip_space(r);
    size_t n = strlen(word);
    if (strncmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    return true;
}

static bool read_int(Reader *r, int64_t *v)
{
    skip_space(r);
    int n = 0;
    long long x;
    if (*r->p < '0' || *r->p > '9' || sscanf(r->p, "%lld%n", &x, &n) != 1)
        return false;
    r->p += n;
    *v = x;
    return true;
}

static const Expr *read_expr(Reader *r)
{
    return expr_parse(r->ir, r->p, &r->p, r->vars, r->nvar);
}

/* Expressions with commas between; the count, 0 if malformed. */
static int read_exprs(Reader *r, const Expr **out)
{
    for (int n = 0; n < RANK_MOST;) {
        out[n] = read_expr(r);
        if (!out[n++])
            return 0;
        if (!accept(r, ","))
            return n;
    }
    return 0;
}

static void use_axes(Reader *r, int rank, bool rep)
{
    r->nvar = 0;
    for (int d = 0; d < rank; d++)
        r->vars[r->nvar++] = layout_axis(r->ir, d);
    if (rep)
        r->vars[r->nvar++] = layout_rep(r->ir);
}

/* "[64, 32]" */
static bool read_extents(Reader *r, Layout *l)
{
    if (!accept(r, "["))
        return false;
    while (!accept(r, "]")) {
        if (l->rank == RANK_MOST || (l->rank > 0 && !accept(r, ",")) ||
            !read_int(r, &l->extent[l->rank++]))
            return false;
    }
    return true;
}

/* "(i, j)": the names are given, so this only has to be there */
static bool read_arguments(Reader *r)
{
    if (!accept(r, "("))
        return false;
    while (*r->p && *r->p != ')')
        r->p++;
    return accept(r, ")") && accept(r, "->");
}

static bool read_body(Reader *r, Layout *l, bool fragment)
{
    if (fragment) {
        if (!accept(r, "thread") || !(l->thread = read_expr(r)) || !accept(r, ",") ||
            !accept(r, "slot"))
            return false;
    }
    return accept(r, "(") && (l->nout = read_exprs(r, l->out)) > 0 && accept(r, ")");
}

static void read_name(Reader *r, Layout *l)
{
    const char *from = r->p;
    if (!accept(r, "\"")) {
        r->p = from;
        return;
    }
    const char *start = r->p, *end = strchr(start, '"');
    if (!end) {
        r->p = from;
        return;
    }
    l->name = name_intern(r->ir->names, start, (size_t)(end - start));
    r->p = end + 1;
}

const Layout *layout_read(Ir *ir, const char *text, const char **end)
{
    Reader r = {.ir = ir, .p = text};
    Layout l = {.rep = 1};
    bool fragment = accept(&r, "fragment");
    if (!fragment && !accept(&r, "layout"))
        return NULL;
    if (!read_extents(&r, &l))
        return NULL;
    if (fragment && (!accept(&r, "threads") || !read_int(&r, &l.nthread)))
        return NULL;
    if (fragment && accept(&r, "rep") && (!read_int(&r, &l.rep) || l.rep < 1))
        return NULL;
    use_axes(&r, l.rank, l.rep > 1);
    if (!read_arguments(&r) || !read_body(&r, &l, fragment))
        return NULL;
    read_name(&r, &l);
    if (end)
        *end = r.p;
    return layout_make(ir, &l);
}

bool layout_fits(const Layout *l, const Buffer *b)
{
    int64_t shape[RANK_MOST];
    if (!buffer_static_shape(b, shape) || l->rank != b->rank)
        return false;
    for (int d = 0; d < b->rank; d++) {
        if (l->extent[d] != shape[d])
            return false;
    }
    return true;
}
