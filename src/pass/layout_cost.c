/* layout_cost.c -- what a choice of layouts costs.
 *
 * First the registers a thread spends on fragments, unless they differ by little: they decide how
 * many blocks fit on a core and whether anything spills.  Then the memory accesses of the nests:
 * iterations, replicas counted, over the vector width that the layout keeps, doubled where
 * neighbouring vectors do not belong to neighbouring threads and so do not coalesce.  What all
 * iterations of the innermost loop read alike is read once for those of a thread that follow each
 * other: it says nothing of vectors, and longer runs make it cheaper. */
#include "pass/plan_layouts.h"
#include "ir/config.h"

enum { CONVERT_BYTES = 1024, ITER_BYTES = 64 };

int64_t layout_cost_fragment(const Buffer *b, const Layout *l)
{
    return dtype_bytes(b->type, fragment_slots(l));
}

/* A copy goes through shared memory and back, behind barriers: dearer than most registers. */
int64_t layout_cost_convert(const Buffer *b, const Layout *l)
{
    return CONVERT_BYTES + 4 * layout_cost_fragment(b, l);
}

/* Where a thread cannot tell by its number what it holds, it asks for every element. */
int64_t layout_cost_asking(Ir *ir, const Layout *l)
{
    const Expr *at[RANK_MOST + 1], *guard;
    return fragment_inverse(ir, l, at, &guard) ? 0 : CONVERT_BYTES;
}

/* What iterations of a nest are worth that come one after the other though there are threads. */
int64_t layout_cost_idle(Ir *ir, const Layout *loop, int64_t nthread)
{
    int64_t apart = (layout_points(loop) * loop->rep + nthread - 1) / nthread;
    return (fragment_slots(fragment_from_zero(ir, loop)) - apart) * ITER_BYTES;
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
    int64_t w = parallel_width(k->ir, p, k->machine->access_bytes), kept = 1, moving = 0, still = 0;
    for (int i = 0; i < p->access.n; i++) {
        const LoopAccess *a = &p->access.at[i];
        int64_t price = a->buf->scope == MEM_GLOBAL ? 4 : a->buf->scope == MEM_SHARED;
        *(parallel_moves_along(k->ir, p, a) ? &moving : &still) += price;
    }
    if (moving + still == 0 || p->n == 0)
        return 0;
    if (moving == 0)
        w = k->machine->access_bytes;
    if (w > 1)
        kept = MIN(w, layout_vector_width(loop, p->n - 1, 8, (int)w));
    int64_t points = layout_points(loop) * loop->rep;
    return points * moving / kept * (coalesces(loop, kept) ? 1 : 2) + points * still / kept;
}

/* By the pass config's model, or by both: a few registers more are worth fewer accesses. */
int layout_cost_compare(const Kernel *k, LayoutCost a, LayoutCost b)
{
    const char *model = config_text(k->func, CONFIG_layout_cost_model);
    int64_t apart = a.bytes < b.bytes ? b.bytes - a.bytes : a.bytes - b.bytes;
    bool accesses = model ? !strcmp(model, "io-aware") : apart * 8 <= MAX(a.bytes, b.bytes);

    if (accesses && a.accesses != b.accesses)
        return a.accesses < b.accesses ? -1 : 1;
    return (a.bytes > b.bytes) - (a.bytes < b.bytes);
}
