/* dots.h -- operands of matrix products as tiles in shared memory. */
#ifndef TL_TENSOR_DOTS_H
#define TL_TENSOR_DOTS_H

#include "tensor/tensor.h"

typedef struct {
    Node *node;
    const char *name;
    DType type;
    int64_t rows, columns;
    const Lin *row, *column;              /* positions of [i, j] */
    const char *row_base, *column_base;   /* of [0, 0] */
    const char *guard;                    /* NULL: always inside */
    bool copied, swapped;                 /* by T.copy; columns are the rows of the tensor */
    const char *source;                   /* of the copy */
    const Lin *at[TENSOR_RANK];
} Operand;

typedef struct { /* of the accumulator "acc", and where the product stands at [i, j] of it */
    const Lin *at[3];
    int64_t rows, columns;
    const char *row_base, *column_base, *guard;
    bool whole_rows, whole_columns; /* no tile reaches beyond the product */
    DType type;
} StoreTile;

/* leaf: the product at [i, j] */
void store_tile(Graph *g, Group *k, Str *out, const StoreTile *t, const char *leaf, int *names);
void operand_plan(Graph *g, const Group *k, Operand *t, const Lin *const *at);
/* A stored tensor in another shape of as many elements. */
const char *view_name(Graph *g, const Node *n, int rank, const int64_t *shape);
void operand_alloc(const Operand *t, Str *out);
void operand_load(Graph *g, const Group *k, const Operand *t, Str *out, int indent, int *names);
const char *axis_guard(Graph *g, const char *text, int64_t extent, int64_t tile);
const char *guard_both(Graph *g, const char *a, const char *b);

#endif
