/* panel.c -- tiles of shared memory as bulk tensor copies lay them out.
 *
 * They fill tiles: row-major, or swizzled panels of one span side by side. */
#include "layout/layout.h"

enum { PERIOD = 8 }; /* rows of a swizzle before it starts again */

/* Of the last two dimensions of a shared tile: bytes of its panels, 0 row-major, -1 neither. */
static int find_span(Kernel *k, const Buffer *b, const Layout *l)
{
    int64_t shape[RANK_MOST], at[RANK_MOST] = {0};
    int n = b->rank, bits = dtype_bits(b->type);

    if (!buffer_static_shape(b, shape))
        return -1;
    int64_t lead = n > 2 ? layout_size(l) : 0;
    for (int d = 0; d < n - 2; d++)
        lead /= shape[d];
    for (int span = 128; span >= 0; span = span > 32 ? span / 2 : span - 32) {
        const Layout *s = NULL;
        int64_t two[2] = {n > 1 ? shape[n - 2] : 1, shape[n - 1]};
        if (span && (two[0] % PERIOD || two[1] * bits % (span * 8)))
            continue;
        s = span ? layout_swizzle(k->ir, two[0], two[1], bits, span)
                 : layout_row_major(k->ir, 2, two);
        bool same = true;
        memset(at, 0, sizeof at);
        do {
            int64_t in[2] = {n > 1 ? at[n - 2] : 0, at[n - 1]}, ahead = 0;
            for (int d = 0; d < n - 2; d++)
                ahead = ahead * shape[d] + at[d];
            same = layout_eval(l, at) == ahead * lead + layout_eval(s, in);
        } while (same && layout_next(l, at));
        if (same)
            return span;
    }
    return -1;
}

int buffer_panel_span(Kernel *k, const Buffer *b)
{
    BufferPlan *p = buffer_plan(k, b);

    if (!p->layout)
        return 0;
    if (p->tiled != p->layout) {
        int span = find_span(k, b, p->layout);
        p = buffer_plan(k, b);
        p->panel_span = span;
        p->tiled = p->layout;
    }
    return p->panel_span;
}
