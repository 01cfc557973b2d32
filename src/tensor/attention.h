/* attention.h -- what the kernels of attention and of its derivatives share. */
#ifndef TL_TENSOR_ATTENTION_H
#define TL_TENSOR_ATTENTION_H

#include "tensor/tensor.h"

#define LOG2_E 1.4426950408889634

/* ---- attention.c ----------------------------------------------------------------------------- */

typedef struct { /* e / sum(e), e = exp(scores - max(scores)) */
    Node *scores, *max, *moved, *exp, *sum;
} Softmax;
bool match_softmax(Node *w, Softmax *out);

/* ---- masks.c --------------------------------------------------------------------------------- */

typedef struct {           /* a tile of scores */
    Graph *g;
    const Lin *row, *column; /* positions of [i, j] */
    int64_t M, N, m, n;    /* rows and columns of all scores, of the tile */
    const char *block;     /* of rows: its number; that of columns is k */
    const char *columns;   /* inside of all columns; NULL: always */
} Area;

typedef struct {
    Area area;
    const char *first, *last; /* columns that a block of rows may see: tiles [first, last) */
    const char *edge;         /* some of the tile is hidden; NULL: never */
    Node *rest;               /* the scores without the conditions that positions alone decide */
} Seen;

bool is_elem(const Node *n, Elem e);
Node *skip_views(Node *n);                       /* reshapes and broadcasts */
bool is_number_of(const Node *n, double *v);     /* the same number everywhere */
bool is_mask(const Node *n);                     /* where(cond, s, -inf), or the other way round */
bool is_hidden(const Node *n);                   /* -inf */
Node *under_mask(const Node *n);
Seen find_seen(const Area *a, Node *scores, const Lin *const *place);
/* The condition under which [i, j] of a tile is seen: all that find_seen took off the scores. */
const char *seen_text(const Seen *s, Body *b, Node *scores, const Lin *const *place);
/* Is n the product times a positive number? */
bool find_factor(const Node *n, const Node *dot, double *factor);
void seen_loop(const Seen *s, int stages, Str *out); /* over tiles of columns */

/* ---- attention_back.c ------------------------------------------------------------------------ */

enum {
    INNER_MOST = 2,
    BACK_ROOM_BESIDE = 4096, /* bytes of shared memory for barriers, alignment, numbers of rows */
};
typedef struct {       /* a product that reads what is made of the weights */
    Graph *g;
    Node *dot;
    int side;          /* which operand that is */
    int64_t rows, steps, width;
    int ndot;          /* products that are computed again; the first is of the scores */
    Node *inner[INNER_MOST];
    bool turned[INNER_MOST]; /* steps are its rows */
    const Lin *batch[INNER_MOST];
    const Lin *at[3];  /* of the operand */
    const Lin *row, *step;
    bool ok;
} End;

/* row and step: texts of the positions of the axis that stays and of the one that is summed.
 * False: the product is none that is computed tile by tile. */
bool read_end(Graph *g, Node *dot, Node *weights, const char *row, const char *step, End *e);
bool reads(Graph *g, Node *n, const Node *t); /* through what is computed where it is read */

#endif
