/* vector.c -- the widest access along a dimension.
 *
 * A run of w elements from a coordinate that is a multiple of w must lie at w consecutive storage
 * elements, the first at a multiple of w, and (fragments) in the same threads. */
#include "layout/layout.h"

static bool same_owners(const Layout *l, const int64_t *a, const int64_t *b)
{
    for (int64_t r = 0; r < (l->facts->apart ? 1 : l->rep); r++) {
        if (fragment_eval_thread(l, a, r) != fragment_eval_thread(l, b, r))
            return false;
    }
    return true;
}

static bool run_holds(const Layout *l, int dim, int64_t w, const int64_t *at)
{
    int64_t next[RANK_MOST], first = layout_eval(l, at);
    if (first % w != 0)
        return false;
    memcpy(next, at, sizeof(int64_t) * (size_t)l->rank);
    for (int64_t i = 1; i < w; i++) {
        next[dim]++;
        if (layout_eval(l, next) != first + i)
            return false;
        if (layout_is_fragment(l) && !same_owners(l, at, next))
            return false;
    }
    return true;
}

static bool all_runs_hold(const Layout *l, int dim, int64_t w)
{
    int64_t at[RANK_MOST] = {0};
    if (l->extent[dim] % w != 0)
        return false;
    do {
        if (at[dim] % w == 0 && !run_holds(l, dim, w, at))
            return false;
    } while (layout_next(l, at));
    return true;
}

enum { RUN_MOST = 64 };

static int widest_run(const Layout *l, int dim)
{
    int w = 1;
    while (w < RUN_MOST && all_runs_hold(l, dim, w * 2))
        w *= 2;
    return w;
}

int layout_vector_width(const Layout *l, int dim, int elem_bits, int max_bytes)
{
    if (dim < 0 || dim >= l->rank)
        return 1;
    if (!l->facts->width[dim])
        l->facts->width[dim] = widest_run(l, dim);
    int w = l->facts->width[dim];
    while (w > 1 && w * elem_bits > max_bytes * 8)
        w /= 2;
    return w;
}
