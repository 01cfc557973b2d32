/* layout_cost.c -- what a choice of layouts costs.
 *
 * First the registers a thread spends on fragments, unless they differ by little: they decide how
 * many blocks fit on a core and whether anything spills.  Then the memory accesses of the nests:
 * iterations, replicas counted, over the vector width that the layout keeps, doubled where
 * neighbouring vectors do not belong to neighbouring threads and so do not coalesce. */
#include "pass/plan_layouts.h"


int64_t layout_cost_fragment(const Buffer *b, const Layout *l)
{
    return dtype_bytes(b->type, fragment_slots(l));
}

/* Is the next vector along the innermost loop run by the next thread? */
static bool coalesces(const Layout *loop, int64_t w)
{
    int64_t at[RANK_MOST] = {0}, next[RANK_MOST] = {0};
    int last = loop->rank - 1;
    if (loop->extent[last] <= w)
        return true;
    next[last] = w;
    return fragment_eval_thread(loop, next, 0) == fragment_eval_thread(loop, at, 0) + 1;
}

int64_t layout_cost_nest(const Kernel *k, const LoopNest *p, const Layout *loop)
{
    int64_t w = parallel_width(k->ir, p, k->machine->access_bytes), kept = 1, naccess = 0;
    for (int i = 0; i < p->access.n; i++)
        naccess +=
            p->access.at[i].buf->scope == MEM_GLOBAL ? 4 : p->access.at[i].buf->scope == MEM_SHARED;
    if (naccess == 0 || p->n == 0)
        return 0;
    if (w > 1)
        kept = MIN(w, layout_vector_width(loop, p->n - 1, 8, (int)w));
    int64_t cost = layout_points(loop) * loop->rep * naccess / kept;
    return coalesces(loop, kept) ? cost : cost * 2;
}

/* A few registers more are worth fewer accesses. */
int layout_cost_compare(LayoutCost a, LayoutCost b)
{
    int64_t apart = a.bytes < b.bytes ? b.bytes - a.bytes : a.bytes - b.bytes;
    if (apart * 8 <= MAX(a.bytes, b.bytes) && a.accesses != b.accesses)
        return a.accesses < b.accesses ? -1 : 1;
    return (a.bytes > b.bytes) - (a.bytes < b.bytes);
}
