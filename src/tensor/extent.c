/* extent.c -- extents that stay open: they are known when a program runs.
 *
 * An open extent is a prime of its own, far above the size of a tile.  Products and sums of extents
 * are then numbers like others, equal where they are equal for all extents, and from a number the
 * expression is found again: c * n + k.  What is decided by order asks extent_le, which is true
 * only where it holds for all values there may be; what divides asks extent_floor.  A graph is made
 * twice, with other primes: where a number was taken for an extent, or the other way round, the
 * two texts differ, and the program is made for the extents it was called with. */
#include "tensor/tensor.h"

enum {
    CONST_MOST = 4096, /* beside few times an open extent */
    CONST_FEW = 256,   /* beside many times one */
    FACTOR_MOST = 1 << 15,
    SHARES_MOST = 4, /* of a second open extent in a sum */
};

static const int64_t primes[2][OPEN_MOST] = {{131101, 196613, 262147}, {147457, 213019, 278543}};

int64_t graph_open(Graph *g, const char *name, int64_t example)
{
    for (int i = 0; i < g->nopen; i++) {
        OpenExtent *e = &g->open[i];
        if (strcmp(e->name, name))
            continue;
        if (example >= 0 && e->example >= 0 && e->example != example)
            diag_fail(g->diag, g->at, "the extent '%s' is %lld here and %lld before "
                      "[tensor-extent]", name, (long long)example, (long long)e->example);
        return e->stand_in;
    }
    if (g->nopen == OPEN_MOST)
        diag_fail(g->diag, g->at, "more than %d extents stay open, with '%s' [tensor-extent]",
                  OPEN_MOST, name);
    g->open[g->nopen] = (OpenExtent){.name = name, .variable = name, .example = example,
                                     .stand_in = primes[g->other_primes][g->nopen]};
    return g->open[g->nopen++].stand_in;
}

/* ---- a number as an expression --------------------------------------------------------------- */

typedef struct {
    int64_t c;
    int power[OPEN_MOST];
} Monomial;

typedef struct { /* term[0] + term[1] + k */
    Monomial term[2];
    int n;
    int64_t k;
    bool known; /* it is no such expression else */
} Extent;

static int64_t size_of(int64_t v)
{
    return v < 0 ? -v : v;
}

/* v as c * n * ... + k, with n the open extent i among the factors. */
static bool one_term(const Graph *g, int64_t v, int i, Extent *out)
{
    const int64_t p = g->open[i].stand_in;
    int64_t k = v % p;
    k = k > p / 2 ? k - p : k < -p / 2 ? k + p : k;
    Monomial m = {.c = v - k};
    if (size_of(k) > CONST_MOST || m.c == 0)
        return false;
    for (int j = 0; j < g->nopen; j++)
        while (m.c % g->open[j].stand_in == 0) {
            m.c /= g->open[j].stand_in;
            m.power[j]++;
        }
    if (size_of(m.c) > FACTOR_MOST || (size_of(k) > CONST_FEW && size_of(m.c) > SHARES_MOST))
        return false;
    *out = (Extent){.term = {m}, .n = 1, .k = k, .known = true};
    return true;
}

static bool two_terms(const Graph *g, int64_t v, Extent *out)
{
    for (int i = 0; i < g->nopen; i++)
        for (int64_t c = -SHARES_MOST; c <= SHARES_MOST; c++)
            for (int j = 0; c && j < g->nopen; j++)
                if (j != i && one_term(g, v - c * g->open[i].stand_in, j, out)) {
                    out->term[out->n] = (Monomial){.c = c};
                    out->term[out->n++].power[i] = 1;
                    return true;
                }
    return false;
}

static Extent find_extent(const Graph *g, int64_t v)
{
    Extent e = {.k = v, .known = true};
    if (!g->nopen || size_of(v) < primes[0][0] / 2)
        return e;
    for (int i = 0; i < g->nopen; i++)
        if (one_term(g, v, i, &e))
            return e;
    if (!two_terms(g, v, &e))
        e = (Extent){.k = v, .known = false};
    return e;
}

bool extent_is_open(const Graph *g, int64_t v)
{
    return g->nopen && size_of(v) >= primes[0][0] / 2 && find_extent(g, v).n > 0;
}

/* The least value: all open extents are at least g->least. */
static bool is_positive(const Graph *g, const Extent *e)
{
    int64_t low = e->k;
    for (int i = 0; i < e->n; i++) {
        int64_t v = e->term[i].c;
        for (int j = 0; j < g->nopen; j++)
            for (int p = 0; p < e->term[i].power[j]; p++)
                v *= g->least;
        if (v < 0)
            return false;
        low += v;
    }
    return low > 0;
}

bool extent_le(const Graph *g, int64_t a, int64_t b)
{
    if (!g->nopen)
        return a <= b;
    Extent e = find_extent(g, b - a + 1);
    return e.known && is_positive(g, &e);
}

bool extent_divides(const Graph *g, int64_t by, int64_t v)
{
    Extent e = find_extent(g, v);
    bool all = true;
    if (!e.n || extent_is_open(g, by))
        return v % by == 0;
    for (int i = 0; i < e.n; i++)
        all = all && e.term[i].c % by == 0;
    return all && e.k % by == 0;
}

int64_t extent_floor(const Graph *g, int64_t a, int64_t b)
{
    if (!g->nopen || (!extent_is_open(g, a) && !extent_is_open(g, b) && find_extent(g, a).known))
        return a / b - (a % b < 0);
    return extent_divides(g, b, a + 1) ? (a + 1) / b - 1 : MAX(a, 0);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_term(const Graph *g, Str *s, const Monomial *m)
{
    int64_t c = size_of(m->c);
    bool first = true;
    str_puts(s, s->n ? (m->c < 0 ? " - " : " + ") : m->c < 0 ? "-" : "");
    for (int i = 0; i < g->nopen; i++)
        for (int p = 0; p < m->power[i]; p++) {
            str_printf(s, "%s%s", first ? "" : " * ", g->open[i].variable);
            first = false;
        }
    if (c != 1)
        str_printf(s, " * %lld", (long long)c);
}

const char *extent_text(Graph *g, int64_t v)
{
    Extent e = find_extent(g, v);
    Str s;
    str_init(&s, g->arena);
    for (int i = 0; i < e.n; i++)
        put_term(g, &s, &e.term[i]);
    if (!e.n)
        str_printf(&s, "%lld", (long long)e.k);
    else if (e.k)
        str_printf(&s, " %c %lld", e.k < 0 ? '-' : '+', (long long)size_of(e.k));
    return s.s;
}

const char *extent_factor(Graph *g, int64_t v)
{
    const char *s = extent_text(g, v);
    return strchr(s, ' ') ? arena_printf(g->arena, "(%s)", s) : s;
}

const char *extent_addend(Graph *g, int64_t v)
{
    const char *s = extent_text(g, v);
    return strstr(s, " + ") || strstr(s, " - ") ? arena_printf(g->arena, "(%s)", s) : s;
}

const char *extent_blocks(Graph *g, int64_t extent, int64_t tile)
{
    if (!extent_is_open(g, extent))
        return arena_printf(g->arena, "%lld", (long long)((extent + tile - 1) / tile));
    if (extent_divides(g, tile, extent)) /* a factor, mostly */
        return extent_addend(g, extent / tile);
    return arena_printf(g->arena, "T.ceildiv(%s, %lld)", extent_text(g, extent), (long long)tile);
}

/* The value of v where each open extent is `n`, or what it is in the call. */
static int64_t value_of(const Graph *g, int64_t v, int64_t n)
{
    Extent e = find_extent(g, v);
    int64_t sum = e.k;
    for (int i = 0; i < e.n; i++) {
        int64_t m = e.term[i].c;
        for (int j = 0; j < g->nopen; j++)
            for (int p = 0; p < e.term[i].power[j]; p++)
                m *= n ? n : MAX(1, g->open[j].example);
        sum += m;
    }
    return sum;
}

int64_t extent_example(const Graph *g, int64_t v)
{
    return value_of(g, v, 0);
}

int64_t extent_usual(const Graph *g, int64_t v)
{
    enum { USUAL = 1024 };
    return value_of(g, v, USUAL);
}

/* Extents of tensors are one or more, and their product is a number. */
void extent_check(Graph *g, int rank, const int64_t *shape)
{
    int64_t all = 1;
    for (int d = 0; g->nopen && d < rank && d < TENSOR_RANK; d++) {
        if (extent_is_open(g, shape[d]) && !extent_le(g, 1, shape[d]))
            diag_fail(g->diag, g->at, "an extent of %s may be less than 1 [tensor-extent]",
                      extent_text(g, shape[d]));
        if (__builtin_mul_overflow(all, shape[d], &all))
            diag_fail(g->diag, g->at, "a tensor of shape %s is too large for extents that stay "
                      "open [tensor-extent]", shape_text(g, rank, shape));
    }
}
