/* inverse.c -- inverses of fragments: which element is at (thread, slot).
 *
 * Over layout_axis 0 for the thread and 1 for the slot.  A fragment that fills all slots of all its
 * threads is inverted as it is.  Where slots stay empty the layout is one of those that are
 * distributed in a known way, and a guard says which slots are not: round-robin (fragment_linear),
 * by rows (fragment_rows), or it is the corner of a larger tile that does fill them; else the guard
 * asks whether the element found at a slot lies there.  Coordinates that run backwards are counted
 * from their end; replicas, and bits that no slot has, count as more coordinates. */
#include "layout/layout.h"

enum { WIDTH_MOST = 32, LANES_MOST = 1024 };

static const Expr *num(Ir *ir, int64_t v)
{
    return expr_int(ir, v);
}

static const Expr *div_by(Ir *ir, const Expr *a, int64_t b)
{
    return expr_floordiv(ir, a, num(ir, b));
}

static const Expr *mod_by(Ir *ir, const Expr *a, int64_t b)
{
    return expr_floormod(ir, a, num(ir, b));
}

/* a * m + b */
static const Expr *mul_add(Ir *ir, const Expr *a, int64_t m, const Expr *b)
{
    return expr_add(ir, expr_mul(ir, a, num(ir, m)), b);
}

static const Expr *axis(Ir *ir, int d)
{
    return expr_var(ir, layout_axis(ir, d));
}

/* ---- by rows --------------------------------------------------------------------------------- */

static int64_t rows_of(int rank, const int64_t *extent)
{
    int64_t n = 1;
    for (int d = 0; d < rank - 1; d++)
        n *= extent[d];
    return n;
}

const Layout *fragment_rows(Ir *ir, int rank, const int64_t *extent, int64_t nthread, int64_t lanes,
                            int64_t width)
{
    int64_t groups = nthread / lanes, cols = extent[rank - 1];
    int64_t steps = (cols + width * lanes - 1) / (width * lanes);
    Layout l = {.rank = rank, .nout = 1, .rep = 1, .nthread = groups * lanes, .name = "rows"};
    const Expr *row = num(ir, 0), *col = axis(ir, rank - 1);
    for (int d = 0; d < rank; d++) {
        l.extent[d] = extent[d];
        if (d < rank - 1)
            row = mul_add(ir, row, extent[d], axis(ir, d));
    }
    l.thread = mul_add(ir, mod_by(ir, row, groups), lanes,
                       mod_by(ir, div_by(ir, col, width), lanes));
    const Expr *step = mul_add(ir, div_by(ir, row, groups), steps,
                               div_by(ir, col, width * lanes));
    l.out[0] = mul_add(ir, step, width, mod_by(ir, col, width));
    return layout_make(ir, &l);
}

/* Registers first, but a width that halves the accesses may waste some. */
const Layout *fragment_rows_best(Ir *ir, int rank, const int64_t *extent, int64_t nthread,
                                 int64_t width, int64_t warp)
{
    int64_t rows = rows_of(rank, extent), cols = extent[rank - 1], least = 0;
    int64_t best_lanes = 0, best_width = 0;
    for (int64_t w = width; w >= 1; w /= 2) {
        for (int64_t lanes = 1; lanes <= nthread; lanes *= 2) {
            int64_t groups = nthread / lanes;
            if (lanes > warp && nthread % lanes != 0)
                continue;
            int64_t slots = (rows + groups - 1) / groups * w *
                            ((cols + w * lanes - 1) / (w * lanes));
            int64_t cost = slots * (w + 1) * WIDTH_MOST / w + (lanes > warp) * WIDTH_MOST;
            bool wider = cost == least && w == best_width && lanes <= warp;
            if (!best_lanes || cost < least || wider) {
                least = cost;
                best_lanes = lanes;
                best_width = w;
            }
        }
    }
    return fragment_rows(ir, rank, extent, nthread, best_lanes, best_width);
}

static bool invert_rows(Ir *ir, const Layout *l, int64_t lanes, int64_t width, const Expr **at,
                        const Expr **guard)
{
    int64_t cols = l->extent[l->rank - 1], rows = rows_of(l->rank, l->extent);
    int64_t groups = l->nthread / lanes, steps = (cols + width * lanes - 1) / (width * lanes);
    const Expr *t = axis(ir, 0), *s = axis(ir, 1), *step = div_by(ir, s, width);
    const Expr *row = mul_add(ir, div_by(ir, step, steps), groups, div_by(ir, t, lanes));
    const Expr *chunk = mul_add(ir, mod_by(ir, step, steps), lanes, mod_by(ir, t, lanes));
    const Expr *col = mul_add(ir, chunk, width, mod_by(ir, s, width)), *rest = row;

    *guard = NULL;
    if (rows % groups != 0)
        *guard = expr_lt(ir, row, num(ir, rows));
    if (cols % (width * lanes) != 0)
        *guard = expr_both(ir, *guard, expr_lt(ir, col, num(ir, cols)));
    at[l->rank - 1] = col;
    for (int d = l->rank - 2; d >= 0; d--) {
        at[d] = d == 0 ? rest : mod_by(ir, rest, l->extent[d]);
        rest = div_by(ir, rest, l->extent[d]);
    }
    return true;
}

/* Do some points have the thread that this way would give them?  Most ways are ruled out so. */
static bool may_be_spread(const Layout *l, int64_t lanes, int64_t width)
{
    enum { SAMPLES = 24, STRIDE = 7 };
    int64_t at[RANK_MOST], cols = l->rank ? l->extent[l->rank - 1] : 1;
    for (int64_t i = 0; i < SAMPLES; i++) {
        int64_t row = 0, step = 1 + i * STRIDE;
        for (int d = 0; d < l->rank; d++) {
            at[d] = (d + 1) * step % l->extent[d];
            row = d < l->rank - 1 ? row * l->extent[d] + at[d] : row;
        }
        int64_t col = l->rank ? at[l->rank - 1] : 0, chunk = (row * cols + col) / width;
        int64_t t = lanes ? row % (l->nthread / lanes) * lanes + col / width % lanes
                          : chunk % l->nthread;
        if (fragment_eval_thread(l, at, 0) != t)
            return false;
    }
    return true;
}

static bool find_rows(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    for (int64_t lanes = 1; lanes <= MIN(LANES_MOST, l->nthread); lanes *= 2) {
        for (int64_t w = 1; w <= WIDTH_MOST; w *= 2) {
            if (l->nthread % lanes == 0 && l->extent[l->rank - 1] % w == 0 &&
                may_be_spread(l, lanes, w) &&
                fragment_is_equal(ir, l, fragment_rows(ir, l->rank, l->extent, l->nthread, lanes,
                                                       w)))
                return invert_rows(ir, l, lanes, w, at, guard);
        }
    }
    return false;
}

/* ---- round-robin ----------------------------------------------------------------------------- */

static bool find_linear(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    int64_t total = 1, width = WIDTH_MOST;

    while (width > 0 &&
           (!may_be_spread(l, 0, width) ||
            !fragment_is_equal(ir, l, fragment_linear(ir, l->rank, l->extent, l->nthread, width))))
        width /= 2;
    if (width == 0)
        return false;
    const Expr *s = axis(ir, 1);
    const Expr *chunk = mul_add(ir, div_by(ir, s, width), l->nthread, axis(ir, 0));
    const Expr *flat = mul_add(ir, chunk, width, mod_by(ir, s, width));
    for (int d = l->rank - 1; d >= 0; d--) {
        const Expr *rest = div_by(ir, flat, total);
        at[d] = d == 0 ? rest : mod_by(ir, rest, l->extent[d]);
        total *= l->extent[d];
    }
    *guard = expr_lt(ir, flat, num(ir, total));
    return true;
}

/* ---- in a larger box ------------------------------------------------------------------------- */

static bool find_exact(Ir *ir, const Layout *l, const Expr **at)
{
    Var *vars[RANK_MOST], *outvars[2] = {layout_axis(ir, 0), layout_axis(ir, 1)};
    const Expr *x[RANK_MOST];
    for (int d = 0; d < l->rank; d++) {
        vars[d] = layout_axis(ir, d);
        x[d] = axis(ir, d);
    }
    const Expr *out[2] = {l->thread, layout_offset(ir, l, x)};
    /* Slots that do not start at 0 have no such inverse: fragment_from_zero moves them. */
    return layout_points(l) == l->nthread * fragment_slots(l) &&
           bounds_of(layout_facts(ir, l), out[1]).lo <= 0 &&
           map_invert(ir, vars, l->extent, l->rank, out, 2, outvars, at);
}

/* As if the tile had these extents, with all slots of all threads in use. */
static bool exact_in(Ir *ir, const Layout *l, const int64_t *extent, const Expr **at)
{
    Layout want = *l;
    memcpy(want.extent, extent, sizeof want.extent);
    want.name = NULL;
    want.nthread = 0; /* as many as the larger tile has: not those of l if they are more */
    const Layout *big = layout_make(ir, &want);
    return big && big->nthread == l->nthread && fragment_slots(big) == fragment_slots(l) &&
           find_exact(ir, big, at);
}

static const Expr *inside(Ir *ir, const Layout *l, const int64_t *extent, const Expr *const *at)
{
    const Expr *guard = NULL;
    for (int d = 0; d < l->rank; d++) {
        if (extent[d] != l->extent[d])
            guard = expr_both(ir, guard, expr_lt(ir, at[d], num(ir, l->extent[d])));
    }
    return guard;
}

/* One coordinate longer than it is: by as much as fills the slots. */
static bool pad_one(Ir *ir, const Layout *l, int64_t *extent, const Expr **at, const Expr **guard)
{
    int64_t all = l->nthread * fragment_slots(l), points = 1;
    for (int d = 0; d < l->rank; d++)
        points *= extent[d];
    for (int d = 0; d < l->rank; d++) {
        int64_t was = extent[d], others = points / was;
        if (all % others != 0 || all / others <= was)
            continue;
        extent[d] = all / others;
        if (exact_in(ir, l, extent, at)) {
            *guard = inside(ir, l, extent, at);
            return true;
        }
        extent[d] = was;
    }
    return false;
}

static bool find_padded(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    int64_t extent[RANK_MOST];
    memcpy(extent, l->extent, sizeof extent);
    if (pad_one(ir, l, extent, at, guard))
        return true;
    for (int d = 0; d < l->rank; d++) {
        int64_t was = extent[d];
        for (int64_t to = 2; to <= LANES_MOST && to < 2 * was; to *= 2) {
            if (extent[d] == (was + to - 1) / to * to)
                continue;
            extent[d] = (was + to - 1) / to * to;
            if (pad_one(ir, l, extent, at, guard))
                return true;
        }
        extent[d] = was;
    }
    return false;
}

/* ---- where the elements are ------------------------------------------------------------------ */

enum { HERE_MOST = RANK_MOST + 2 };

typedef VEC(int64_t) Failing;

/* Is every (thread, slot) that `here` lets by that of an element, and is every element let by? */
static bool is_exactly(Ir *ir, const Layout *l, const Expr *const *at, const Expr *here)
{
    Var *vars[2] = {layout_axis(ir, 0), layout_axis(ir, 1)};
    int64_t total = l->nthread * fragment_slots(l), nslot = fragment_slots(l), n = 0;
    int64_t arg[2][EXPR_LANES], r[RANK_MOST + 1][EXPR_LANES], x[RANK_MOST];
    const Expr *e[RANK_MOST + 1];

    memcpy(e, at, sizeof e[0] * (size_t)l->rank);
    e[l->rank] = here ? here : expr_bool(ir, true);
    const ExprCode *code = expr_compile(ir, vars, 2, e, l->rank + 1);
    for (int64_t from = 0; from < total; from += EXPR_LANES) {
        for (int k = 0; k < EXPR_LANES; k++) {
            arg[0][k] = MIN(from + k, total - 1) / nslot;
            arg[1][k] = MIN(from + k, total - 1) % nslot;
        }
        expr_run_lanes(code, arg, r);
        for (int k = 0; k < EXPR_LANES && from + k < total; k++) {
            if (!r[l->rank][k])
                continue;
            n++;
            for (int d = 0; d < l->rank; d++) {
                x[d] = r[d][k];
                if (x[d] < 0 || x[d] >= l->extent[d])
                    return false;
            }
            if (fragment_eval_thread(l, x, 0) != arg[0][k] || layout_eval(l, x) != arg[1][k])
                return false;
        }
    }
    return n == layout_points(l);
}

/* Which conditions fail together at places without an element; false: those that let all of them
 * by do not let by as many places as there are elements. */
static bool find_failing(Ir *ir, const Layout *l, const Expr *const *here, int n, Failing *failing)
{
    Var *vars[2] = {layout_axis(ir, 0), layout_axis(ir, 1)};
    int64_t nslot = fragment_slots(l), total = l->nthread * nslot, elements = 0, last = 0;
    int64_t arg[2][EXPR_LANES], r[HERE_MOST * 2][EXPR_LANES];
    const ExprCode *code = expr_compile(ir, vars, 2, here, n);

    for (int64_t from = 0; from < total; from += EXPR_LANES) {
        for (int k = 0; k < EXPR_LANES; k++) {
            arg[0][k] = MIN(from + k, total - 1) / nslot;
            arg[1][k] = MIN(from + k, total - 1) % nslot;
        }
        expr_run_lanes(code, arg, r);
        for (int k = 0; k < EXPR_LANES && from + k < total; k++) {
            int64_t mask = 0;
            for (int i = 0; i < n; i++)
                mask |= (int64_t)!r[i][k] << i;
            elements += !mask;
            if (!mask || mask == last)
                continue;
            last = mask;
            int j = 0;
            while (j < failing->n && failing->at[j] != mask)
                j++;
            if (j == failing->n)
                vec_push(ir->arena, failing, mask);
        }
    }
    return elements == layout_points(l);
}

/* The inverse holds where there is an element; elsewhere it leads to one that lies elsewhere,
 * or to none.  Conditions that are not needed are left out. */
static bool find_image(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    Var *vars[RANK_MOST], *outvars[2] = {layout_axis(ir, 0), layout_axis(ir, 1)};
    const Expr *x[RANK_MOST], *here[HERE_MOST * 2];
    Failing failing = {0};
    int64_t left_out = 0;
    int n = 0;
    Map m;

    for (int d = 0; d < l->rank; d++) {
        vars[d] = layout_axis(ir, d);
        x[d] = axis(ir, d);
    }
    const Expr *out[2] = {l->thread, layout_offset(ir, l, x)};
    if (!map_invert(ir, vars, l->extent, l->rank, out, 2, outvars, at))
        return false;
    map_init(&m, ir->arena);
    for (int d = 0; d < l->rank; d++) {
        map_set(&m, vars[d], at[d]);
        here[n++] = expr_lt(ir, at[d], num(ir, l->extent[d]));
        here[n++] = expr_binary(ir, EX_GE, at[d], num(ir, 0));
    }
    for (int k = 0; k < 2; k++)
        here[n++] = expr_binary(ir, EX_EQ, expr_subst_map(ir, out[k], &m, NULL), axis(ir, k));
    if (!find_failing(ir, l, here, n, &failing))
        return false;
    for (int i = n - 1; i >= 0; i--) {
        int64_t without = left_out | INT64_C(1) << i;
        bool needed = false;
        for (int j = 0; j < failing.n && !needed; j++)
            needed = !(failing.at[j] & ~without);
        left_out = needed ? left_out : without;
    }
    *guard = NULL;
    for (int i = 0; i < n; i++)
        if (!(left_out >> i & 1))
            *guard = expr_both(ir, *guard, here[i]);
    return true;
}

/* The lowest bits below the highest that no slot has: 1 << *from, *n values of them. */
static bool empty_bits(const Layout *l, int64_t *from, int64_t *n)
{
    int64_t at[RANK_MOST] = {0}, used = 0, top = fragment_slots(l) - 1;

    do
        used |= layout_eval(l, at);
    while (layout_next(l, at));
    for (*from = 1; *from < top && used & *from;)
        *from *= 2;
    for (*n = 1; *from * *n < top && !(used & (*from * *n));)
        *n *= 2;
    return *from < top && *n > 1;
}

/* Half a tile of a matrix instruction uses every second run of slots: one more coordinate fills
 * the others, and only its first value is meant. */
static bool find_gapped(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    const Expr *x[RANK_MOST];
    int64_t from, n;
    Layout want = *l;

    if (l->rank == RANK_MOST || !empty_bits(l, &from, &n))
        return false;
    for (int d = 0; d < l->rank; d++)
        x[d] = axis(ir, d);
    want.out[0] = mul_add(ir, axis(ir, l->rank), from, layout_offset(ir, l, x));
    want.nout = 1;
    want.name = NULL;
    want.extent[want.rank++] = n;
    const Layout *full = layout_make(ir, &want);
    if (!full || (!find_gapped(ir, full, at, guard) && !find_image(ir, full, at, guard)))
        return false;
    *guard = expr_both(ir, *guard, expr_lt(ir, at[l->rank], num(ir, 1)));
    return is_exactly(ir, l, at, *guard);
}

/* ---- parts of a tile ------------------------------------------------------------------------- */

const Layout *fragment_from_zero(Ir *ir, const Layout *l)
{
    int64_t at[RANK_MOST] = {0}, low = INT64_MAX;
    const Expr *x[RANK_MOST], *slot;

    for (int d = 0; d < l->rank; d++)
        x[d] = axis(ir, d);
    slot = layout_offset(ir, l, x);
    if (bounds_of(layout_facts(ir, l), slot).lo <= 0)
        return l;
    do
        low = MIN(low, layout_eval(l, at));
    while (layout_next(l, at));
    if (low <= 0)
        return l;
    slot = simplify(ir, layout_facts(ir, l), expr_sub(ir, slot, num(ir, low)));
    Layout want = *l;
    want.nout = 1;
    want.out[0] = slot;
    want.name = NULL;
    const Layout *moved = layout_make(ir, &want);
    return moved ? moved : l;
}

/* ---- the entry ------------------------------------------------------------------------------- */

static bool find_forward(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    *guard = NULL;
    return find_exact(ir, l, at) ||
           (l->rank > 0 && (find_linear(ir, l, at, guard) || find_rows(ir, l, at, guard) ||
                            find_padded(ir, l, at, guard) || find_gapped(ir, l, at, guard) ||
                            find_image(ir, l, at, guard)));
}

/* The layout with the coordinates of `mask` counted from their ends. */
static const Layout *reversed(Ir *ir, const Layout *l, int mask)
{
    Layout want = *l;
    Map m;

    map_init(&m, ir->arena);
    for (int d = 0; d < l->rank; d++)
        if (mask >> d & 1)
            map_set(&m, layout_axis(ir, d), expr_sub(ir, num(ir, l->extent[d] - 1), axis(ir, d)));
    want.name = NULL;
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    for (int d = 0; d < l->nout; d++)
        want.out[d] = expr_subst_map(ir, l->out[d], &m, NULL);
    return layout_make(ir, &want);
}

static bool find_inverse(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    enum { REVERSE_RANK_MOST = 2 };
    int rank = l->rank;

    if (l->rep > 1 && rank == RANK_MOST)
        return false;
    if (l->rep > 1)
        l = fragment_holders(ir, l);
    if (!l)
        return false;
    if (find_forward(ir, l, at, guard))
        return true;
    for (int mask = 1; rank <= REVERSE_RANK_MOST && mask < 1 << rank; mask++) {
        const Layout *r = reversed(ir, l, mask);
        if (!r || !find_forward(ir, r, at, guard))
            continue;
        for (int d = 0; d < rank; d++)
            if (mask >> d & 1)
                at[d] = expr_sub(ir, num(ir, l->extent[d] - 1), at[d]);
        return true;
    }
    return false;
}

bool fragment_inverse(Ir *ir, const Layout *l, const Expr **at, const Expr **guard)
{
    LayoutFacts *f = l->facts;
    if (!f->inverted)
        f->inverted = find_inverse(ir, l, f->inverse, &f->inverse_guard) ? 1 : -1;
    for (int d = 0; d < l->rank + (l->rep > 1); d++)
        at[d] = f->inverse[d];
    *guard = f->inverse_guard;
    return f->inverted > 0;
}
