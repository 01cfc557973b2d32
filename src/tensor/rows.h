/* rows.h -- what the printers of kernels share: the part of a space that a block takes. */
#ifndef TL_TENSOR_ROWS_H
#define TL_TENSOR_ROWS_H

#include "tensor/tensor.h"

typedef struct {
    int rank;
    int64_t tile[TENSOR_RANK], per[TENSOR_RANK]; /* of an axis in a block, blocks along it */
    int64_t after[TENSOR_RANK];                  /* blocks of the axes behind it */
    int64_t blocks;
    const char *per_text[TENSOR_RANK], *after_text[TENSOR_RANK], *blocks_text;
    const char *var[TENSOR_RANK];                /* of the loop over the tile; NULL: one position */
    const char *base[TENSOR_RANK];               /* where the tile begins; NULL: at 0 */
    const Lin *at[TENSOR_RANK];
    const char *guard;                           /* inside of all axes; NULL: always */
} Space;

void space_open(Space *s, Graph *g, Str *out, int rank, const int64_t *shape, const int64_t *tile);
void space_bases(const Space *s, Str *out);
void kernel_head(Str *out, const char *blocks, int threads);
int tile_threads(const Graph *g, int64_t elements);

#endif
