/* conv.c -- products of the windows of an image: their tiles, and tiles of results by image.
 *
 * A GPU reads an image with channels last: rows of a tile are pixels of the result, columns a run
 * of channels at one offset of the window, and the border is zeros. */
#include "tensor/dots.h"

/* Windows of axes 1.. of an image, the last one on top: size, stride, dilation of each. */
static Node *below_windows(Node *n, Windows *w)
{
    for (; !n->stored && n->kind == NODE_WINDOW && w->spatial < SPATIAL_MOST; n = n->arg[0]) {
        const int d = w->spatial++;
        w->size[d] = n->attr[1];
        w->stride[d] = n->attr[2];
        w->dilation[d] = n->attr[3];
        w->axis[d] = (int)n->attr[0];
        w->out[d] = n->shape[n->attr[0]];
    }
    bool ok = w->spatial > 0 && n->rank == w->spatial + 2;
    for (int d = 0; d < w->spatial && ok; d++)
        ok = w->axis[d] == 1 + 2 * (w->spatial - 1 - d);
    return ok ? n : NULL;
}

static Node *below_border(Node *n, Windows *w)
{
    const int last = n->rank - 1;
    if (n->stored || n->kind != NODE_PAD)
        return n;
    bool ok = n->value == 0 && n->attr[0] == 0 && n->attr[last] == 0;
    for (int d = 0; d < n->rank; d++)
        ok = ok && n->attr[TENSOR_RANK + d] == 1;
    for (int d = 0; d < w->spatial; d++) {
        w->padding[d] = n->attr[w->spatial - d];
        ok = ok && n->shape[w->spatial - d] ==
                       n->arg[0]->shape[w->spatial - d] + 2 * w->padding[d];
    }
    return ok && n->shape[0] == n->arg[0]->shape[0] && n->shape[last] == n->arg[0]->shape[last]
               ? n->arg[0]
               : NULL;
}

/* Of axes n, x, i, y, j, c: the offsets i, j and c as one axis, pixels n, x, y as the other. */
static bool has_both(const Node *n, const Windows *w, bool *taps_first)
{
    const int taps = w->spatial + 1;
    bool ok = n->rank == 2 * taps;
    *taps_first = ok && n->attr[0] == 2;
    for (int d = 0; d < taps && ok; d++) {
        const int tap = *taps_first ? d : taps + d, pixel = *taps_first ? taps + d : d;
        ok = n->attr[tap] == (d < w->spatial ? 2 + 2 * d : n->rank - 1) &&
             n->attr[pixel] == (d ? 2 * d - 1 : 0);
    }
    return ok;
}

bool match_windows(const Node *operand, Windows *w)
{
    *w = (Windows){.spatial = 0};
    const Node *n = operand;
    const bool turned = !n->stored && n->kind == NODE_PERMUTE && n->rank == 3 && n->attr[0] == 0;
    n = turned ? n->arg[0] : n;
    if (n->stored || n->kind != NODE_RESHAPE || n->rank != 3 || n->shape[0] != 1)
        return false;
    n = n->arg[0];
    if (n->stored || n->kind != NODE_PERMUTE)
        return false;
    w->image = below_windows(n->arg[0], w);
    if (w->image)
        w->image = below_border(w->image, w);
    if (!w->image || !has_both(n, w, &w->taps_first))
        return false;
    int64_t taps = w->image->shape[w->image->rank - 1];
    for (int d = 0; d < w->spatial; d++)
        taps *= w->size[d];
    w->taps_first = w->taps_first != turned;
    return operand->shape[w->taps_first ? 1 : 2] == taps;
}

/* The run of channels of a tile, at most k: one that whole tiles make up; k: none is worth it. */
int64_t channels_of_tile(const Windows *w, int64_t k)
{
    const int64_t c = w->image->shape[w->image->rank - 1];
    int64_t run = k;
    while (run > CHANNELS_LEAST && c % run)
        run /= 2;
    return c % run ? k : run;
}

static bool is_square(const Windows *w)
{
    return w->spatial == 2 && w->size[0] == w->size[1] && w->stride[0] == w->stride[1] &&
           w->dilation[0] == w->dilation[1] && w->padding[0] == w->padding[1];
}

/* The arguments of T.im2col behind the tile, for tile `pixels` of pixels and `taps` of offsets. */
const char *im2col_text(Graph *g, const Windows *w, int64_t run, const char *pixels,
                        const char *taps)
{
    const Node *image = w->image;
    if (!is_square(w) || !image->stored || image->shape[3] % run)
        return NULL;
    return arena_printf(g->arena, "%s, %s, %lld, %lld, %lld, %lld", pixels, taps,
                        (long long)w->size[0], (long long)w->stride[0],
                        (long long)w->dilation[0], (long long)w->padding[0]);
}

/* ---- columns of a product by image ----------------------------------------------------------- */

/* Columns that are one run of memory in what the group stores; 0: all, or none. */
int64_t column_run(Graph *g, const Group *k, const Node *dot)
{
    const int64_t N = dot->shape[2];
    const Lin *at[3] = {lin_var(g, "bz", 0, dot->shape[0] - 1),
                        lin_var(g, "m", 0, dot->shape[1] - 1), lin_var(g, "n", 0, N - 1)};
    Place **place = places_from(g, k->anchor, at);
    int64_t run = 0;
    for (int i = 0; i < k->outputs.n; i++) {
        const Place *p = place[k->outputs.at[i]->id];
        for (int d = 0; p && d < k->outputs.at[i]->rank; d++)
            for (int j = 0; j < p->at[d]->n; j++) {
                const Atom *a = p->at[d]->atom[j];
                if (a->kind == '/' && lin_same(a->of, at[2]))
                    run = MAX(run, a->c);
            }
    }
    return run;
}

/* The widest tile of at most `columns` that whole runs are made of; 0: there is none. */
int64_t columns_of_run(int64_t run, int64_t columns)
{
    for (int64_t n = columns; run && n >= columns / 4 && n >= COLUMNS_LEAST; n -= 16)
        if (run % n == 0)
            return n;
    return 0;
}

