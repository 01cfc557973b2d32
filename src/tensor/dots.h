/* dots.h -- operands of matrix products as tiles in shared memory. */
#ifndef TL_TENSOR_DOTS_H
#define TL_TENSOR_DOTS_H

#include "tensor/tensor.h"

enum { SPATIAL_MOST = 3, CHANNELS_LEAST = 8, COLUMNS_LEAST = 64 };

typedef struct {          /* of an image [n, spatial, channels], its last axis first */
    Node *image;          /* without its border */
    int spatial, axis[SPATIAL_MOST];
    int64_t size[SPATIAL_MOST], stride[SPATIAL_MOST], dilation[SPATIAL_MOST],
        padding[SPATIAL_MOST], out[SPATIAL_MOST];
    bool taps_first;      /* offsets and channels are rows of the operand, pixels columns */
} Windows;

typedef struct {
    Node *node;
    const char *name;
    DType type;
    int64_t rows, columns;
    const Lin *row, *column;              /* positions of [i, j] */
    const char *row_base, *column_base;   /* of [0, 0] */
    const char *row_tile, *column_tile;   /* which tile it is, if it may be one of windows */
    const char *guard;                    /* NULL: always inside */
    bool copied, swapped;                 /* by T.copy; columns are the rows of the tensor */
    const char *source;                   /* of the copy */
    const char *image, *windows;          /* of T.im2col, or NULL: of pixels by offsets */
    const Lin *along;                     /* its columns in their run of memory, or NULL */
    const char *along_base;
    const Lin *at[TENSOR_RANK];
} Operand;

typedef struct { /* of an accumulator: batch, row and column of the product at [i, j] of it */
    Node *product;
    NodeVec outputs;                /* that follow from it */
    const char *acc;                /* its name */
    bool turned;                    /* rows of the accumulator are columns of the product */
    const Lin *at[3], *along;       /* columns in memory: at[2], or the part of it in one run */
    int64_t rows, columns;
    const char *row_base, *column_base, *guard;
    bool whole_rows, whole_columns; /* no tile reaches beyond the product */
    DType type;
} StoreTile;

/* leaf: the product at [i, j] */
void store_tile(Graph *g, Group *k, Str *out, const StoreTile *t, const char *leaf, int *names);
/* Of an operand of nr rows and nc columns, so many from the bases on. */
Operand tile_operand(Graph *g, Node *n, const char *name, int64_t rows, int64_t columns,
                     const char *row_base, const char *column_base, int64_t nr, int64_t nc);
void operand_plan(Graph *g, const Group *k, Operand *t, const Lin *const *at);
/* A stored tensor in another shape of as many elements. */
const char *view_name(Graph *g, const Node *n, int rank, const int64_t *shape);
void operand_alloc(const Operand *t, Str *out);
void operand_load(Graph *g, const Group *k, const Operand *t, Str *out, int indent, int *names);
const char *axis_guard(Graph *g, const char *text, int64_t extent, int64_t tile);
bool match_windows(const Node *operand, Windows *w);
int64_t channels_of_tile(const Windows *w, int64_t k);
const char *im2col_text(Graph *g, const Windows *w, int64_t run, const char *pixels,
                        const char *taps);
int64_t column_run(Graph *g, const Group *k, const Node *dot);
int64_t columns_of_run(int64_t run, int64_t columns);
const char *guard_both(Graph *g, const char *a, const char *b);

#endif
