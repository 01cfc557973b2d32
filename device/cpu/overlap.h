/* overlap.h -- whether a tensor that a kernel writes shares memory with another one of the call. */
#ifndef TL_OVERLAP_H
#define TL_OVERLAP_H

#define TL_OVERLAP 2 /* of an entry: nothing was done, because tensors overlap */

typedef struct {
    uintptr_t first, end; /* bytes */
    int written;
} tl_span;

/* stride, in elements: 0 where the tensor is contiguous. */
static __attribute__((unused)) tl_span tl_span_of(const void *data, int bits, int rank,
    const int64_t *shape, const int64_t *stride, int written)
{
    int64_t low = 0, high = 0, n = 1;
    for (int d = rank - 1; d >= 0; d--) {
        const int64_t reach = (shape[d] - 1) * (stride ? stride[d] : n);
        *(reach < 0 ? &low : &high) += reach;
        n *= shape[d];
    }
    const uintptr_t at = (uintptr_t)data;
    if (n <= 0 || !data)
        return (tl_span){at, at, written};
    return (tl_span){at + (uintptr_t)(low * bits / 8), at + (uintptr_t)((high + 1) * bits + 7) / 8,
                     written};
}

static __attribute__((unused)) int tl_spans_overlap(const tl_span *s, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; s[i].written && j < n; j++)
            if (i != j && s[i].first < s[j].end && s[j].first < s[i].end)
                return 1;
    return 0;
}

#endif
