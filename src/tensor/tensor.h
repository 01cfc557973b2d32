/* tensor.h -- whole-tensor programs: a graph of tensors into developer-level source.
 *
 *   graph.c    nodes: types, shapes, folding; one node for equal computations
 *   build.c    operators made of others: matmul by einsum, norms, random numbers
 *   order.c    the same: sorting, the k largest
 *   grad.c     reverse mode: nodes that compute derivatives
 *   extent.c   extents that are known when it runs
 *   index.c    positions in tensors as sums of loop variables, simplified
 *   element.c  the value of a node at a position, as text; layout changes become positions
 *   fuse.c     nodes into groups, one kernel each      pair.c  two products as one
 *   needs.c    what must be there before what
 *   tiles.c    a group as a kernel         attention.c  one found by its shape: online softmax
 *   dots.c     products                    conv.c       windows of images as operands of them
 *   turn.c     layout changes that exchange the innermost axis
 *   masks.c    tiles of scores that masks hide
 *   attention_back.c, attention_back_tiles.c  derivatives of attention: scores again, tile by tile
 *   sort.c     rows in order: runs merged by search
 *   explain.c  what was fused, bytes and flops
 *
 * The front end's evaluator makes the nodes (front/tensor_value.c) and reads the text again, so
 * there is one way into the IR. */
#ifndef TL_TENSOR_TENSOR_H
#define TL_TENSOR_TENSOR_H

#include "ir/ir.h"
#include "ir/machine.h"

enum { TENSOR_RANK = 8 };

typedef enum {
    NODE_INPUT,     /* name */
    NODE_CONST,     /* value */
    NODE_IOTA,      /* position along axis attr[0] */
    NODE_EXTENT,    /* attr[0], made of extents that stay open, as a number */
    NODE_ELEM,      /* elem of arg[] at the same position */
    NODE_CAST,
    NODE_RESHAPE,   /* the same elements in the same order */
    NODE_PERMUTE,   /* axis d is axis attr[d] of the operand */
    NODE_BROADCAST, /* axes aligned at the right; 1 stretches */
    NODE_SLICE,     /* attr: start of each axis, then step of each */
    NODE_PAD,       /* attr: place of element 0 on each axis, then distance of neighbours; value */
    NODE_CONCAT,    /* arg[0] then arg[1] along axis attr[0] */
    NODE_WINDOW,    /* axis attr[0] becomes position, offset: attr size, stride, dilation */
    NODE_SPREAD,    /* back: axes position, offset; what window attr takes from there, else 0 */
    NODE_TAKE,      /* arg[0] with axis attr[0] replaced by the axes of the positions arg[1] */
    NODE_ALONG,     /* arg[0] with the position on axis attr[0] from arg[1] */
    NODE_REDUCE,    /* how, attr[d] 1: axis d is reduced; rank without them; attr[TENSOR_RANK]:
                       its few terms are written out */
    NODE_DOT,       /* [b, m, k] by [b, k, n] */
    NODE_SCAN,      /* running sum along attr[0]; attr[1]: from the end */
    NODE_SORT,      /* of rows [m, n]: positions in order, equal ones as they came; attr[1]: from
                       the largest */
    NODE_SCATTER,   /* arg[0], with arg[2] put at positions arg[1] of axis attr[0] as NODE_TAKE
                       reads them; attr[1]: added */
} NodeKind;

typedef enum {
#define ELEM(id, name, arity, rule, text, ga, gb) ELEM_##id,
#include "tensor/ops.def"
#undef ELEM
    ELEM_COUNT
} Elem;

typedef struct {
    const char *name;
    int arity;
    char rule;
    const char *text, *grad[2];
} ElemRow;
extern const ElemRow elem_table[ELEM_COUNT];

typedef enum { REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD } ReduceHow;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    int how;               /* Elem, ReduceHow */
    DType type;
    int rank;
    int64_t shape[TENSOR_RANK];
    int64_t attr[2 * TENSOR_RANK];
    double value;          /* of a constant; of a maximum: it is a shift */
    const char *name;      /* of an input; of others the variable it was given to, or NULL */
    Node *arg[3];
    int narg;
    int id;                /* operands have smaller ones */
    Span span;
    /* fuse.c */
    int nuse;              /* by nodes that matter and outputs */
    bool live, is_output;
    Node *meet;            /* all ways from here to the outputs go through it; NULL: none */
    bool stored;           /* it has a buffer: an input, an output or a temporary */
    bool held;             /* wanted in memory for all that fusing could do */
    bool once;             /* node_compared: of its elements only one computation counts */
    bool inside;           /* of derivatives of attention: computed tile by tile, never stored */
    int weight;            /* operations to compute one element from what is stored */
    const char *buffer;    /* its name */
    const Node *lender;    /* the temporary before it whose memory it has, or NULL */
    struct Group *group;   /* that computes it */
    uint64_t *needs;       /* needs.c */
    int seen;
};

typedef VEC(Node *) NodeVec;

enum { OPEN_MOST = 3 };
typedef struct {
    const char *name, *variable; /* in the program, in the text of its kernels */
    int64_t stand_in, example;   /* a prime; a value it has, or -1 */
} OpenExtent;

typedef struct Graph {
    Arena *arena;
    Diag *diag;
    const Machine *machine;
    const char *name;      /* of the function */
    NodeVec nodes, inputs, outputs;
    Map known;             /* text of a node -> it */
    Map atoms;             /* index.c */
    Span at;               /* of the call that makes nodes now */
    VEC(struct Group *) groups;
    NodeVec back_ends, back_weights; /* attention_back.c: products, and the weights each reads */
    Map views;             /* dots.c: buffer and shape -> name of it in that shape */
    Str view_lines;        /* that make them */
    const char *text, *explain; /* after graph_tiles */
    OpenExtent open[OPEN_MOST];
    int nopen;
    int64_t least;         /* all open extents are at least so large */
    bool other_primes;     /* the second time it is made */
    bool closed;           /* no extent stays open */
    int nword, nseen;      /* needs.c: of a set; walks over nodes so far */
    bool counted;          /* sets are as groups are */
    bool in_place;         /* outputs may have the memory of inputs of their shape */
} Graph;

/* ---- graph.c --------------------------------------------------------------------------------- */

Graph *graph_new(Arena *a, Diag *d, const Machine *m, const char *name);
int64_t node_count(const Node *n);                         /* elements */
int graph_units(const Graph *g);                           /* that blocks are spread over */
const char *shape_text(Graph *g, int rank, const int64_t *shape); /* "(4, 8)" */
const char *node_text(Graph *g, const Node *n);            /* "q float32 (4, 8)", for messages */
Elem elem_find(const char *name);                          /* ELEM_COUNT: none */

Node *node_output(Graph *g, Node *n); /* n, or a copy of what has a buffer of its own already */
Node *node_input(Graph *g, const char *name, DType t, int rank, const int64_t *shape);
Node *node_const(Graph *g, DType t, double v);
Node *node_full(Graph *g, DType t, double v, int rank, const int64_t *shape);
Node *node_extent(Graph *g, int64_t v); /* a constant where nothing of it is open */
Node *node_iota(Graph *g, DType t, int rank, const int64_t *shape, int axis);
Node *node_elem(Graph *g, Elem e, Node *a, Node *b, Node *c);  /* broadcasts, promotes */
Node *node_cast(Graph *g, Node *a, DType t);
Node *node_reshape(Graph *g, Node *a, int rank, const int64_t *shape);
Node *node_permute(Graph *g, Node *a, const int *perm);
Node *node_broadcast(Graph *g, Node *a, int rank, const int64_t *shape);
Node *node_slice(Graph *g, Node *a, const int64_t *start, const int64_t *step,
                 const int64_t *shape);
Node *node_pad(Graph *g, Node *a, const int64_t *lo, const int64_t *step, const int64_t *shape,
               double fill);
Node *node_concat(Graph *g, Node *a, Node *b, int axis);
Node *node_window(Graph *g, Node *a, int axis, int64_t size, int64_t stride, int64_t dilation);
Node *node_spread(Graph *g, Node *a, int axis, int64_t extent, int64_t stride, int64_t dilation);
Node *node_take(Graph *g, Node *a, Node *at, int axis);
Node *node_along(Graph *g, Node *a, Node *at, int axis);
Node *node_reduce(Graph *g, ReduceHow how, Node *a, const bool *axes);
/* The maximum that is taken away before an exponential and put back behind it: no derivative. */
Node *node_shift(Graph *g, Node *a, const bool *axes);
bool node_is_shift(const Node *n);
/* a is compared with its largest elements along an axis, or by other kernels (-1).  Computed twice
 * it might differ in the last bit, so it is stored before, but for rows that stay in a tile. */
void node_compared(const Graph *g, Node *a, int axis);
Node *node_dot(Graph *g, Node *a, Node *b);
Node *node_scan(Graph *g, Node *a, int axis, bool reverse);
Node *node_sort(Graph *g, Node *a, bool descending); /* [m, n]; n is known */
Node *node_scatter(Graph *g, Node *a, Node *at, Node *v, int axis, bool add);
DType promote(DType a, DType b);
bool number_fits(DType t, double v); /* a whole number that an integer type holds; any for floats */
DType compute_type(DType t); /* that elements are computed in: float32 for narrower floats */

/* ---- build.c --------------------------------------------------------------------------------- */

Node *keep_axes(Graph *g, Node *reduced, const Node *of, const bool *axes); /* with extents 1 */
Node *build_unary(Graph *g, Elem e, Node *a);
Node *build_binary(Graph *g, Elem e, Node *a, Node *b);
Node *build_number(Graph *g, Elem e, Node *a, double b); /* a op b, b of a's type */
Node *build_share(Graph *g, Node *a, int64_t n);         /* a / n */
Node *build_mean(Graph *g, Node *a, const bool *axes);   /* without them */
Node *build_einsum(Graph *g, const char *spec, Node *a, Node *b); /* b NULL: one operand */
Node *build_matmul(Graph *g, Node *a, Node *b);
Node *build_softmax(Graph *g, Node *a, int axis, bool log);

/* ---- order.c --------------------------------------------------------------------------------- */

/* x in order along an axis, equal ones as they came, and its positions `at` alike. */
void build_order(Graph *g, Node **x, Node **at, int axis, bool descending);
/* x and its positions `at`, both of the k largest along an axis alone, in order. */
void build_top(Graph *g, Node **x, Node **at, int axis, int64_t k);
Node *build_argmax(Graph *g, Node *a, int axis, bool least);
Node *build_random(Graph *g, int rank, const int64_t *shape, Node *seed); /* uint32, Philox */
Node *build_conv(Graph *g, Node *x, Node *w, int nspatial, const int64_t *stride,
                 const int64_t *padding, const int64_t *dilation, int64_t groups);

/* ---- grad.c ---------------------------------------------------------------------------------- */

/* Derivatives of the sum of g * y by each of wrt; zeros where nothing flows. */
void graph_grad(Graph *g, Node *y, Node *cotangent, Node *const *wrt, int n, Node **out);

/* ---- extent.c -------------------------------------------------------------------------------- */

/* The number that stands for an extent; its value in the call, or -1. */
int64_t graph_open(Graph *g, const char *name, int64_t example);
bool extent_is_open(const Graph *g, int64_t v);
bool extent_le(const Graph *g, int64_t a, int64_t b);         /* whatever open extents are */
bool extent_divides(const Graph *g, int64_t by, int64_t v);   /* the same */
int64_t extent_floor(const Graph *g, int64_t a, int64_t b);   /* a / b, or more */
int64_t extent_example(const Graph *g, int64_t v);            /* in the call */
int64_t extent_usual(const Graph *g, int64_t v);              /* that tiles are chosen for */
const char *extent_text(Graph *g, int64_t v);                 /* "n * 4 + 1" */
const char *extent_factor(Graph *g, int64_t v);               /* the same, in parentheses */
const char *extent_addend(Graph *g, int64_t v);               /* behind + or - */
const char *extent_blocks(Graph *g, int64_t extent, int64_t tile); /* quotient, rounded up */
void extent_check(Graph *g, int rank, const int64_t *shape);

/* ---- index.c --------------------------------------------------------------------------------- */

typedef struct Lin Lin;
typedef struct {
    char kind;        /* v variable, / quotient, % remainder of `of` by c */
    const char *text; /* v */
    const Lin *of;
    int64_t c, lo, hi;
} Atom;
enum { LIN_MOST = 12 };
struct Lin { /* c + sum of coef * atom; interned atoms, ordered by their making */
    int n;
    int64_t c, lo, hi;
    int64_t coef[LIN_MOST];
    const Atom *atom[LIN_MOST];
};
const Lin *lin_const(Graph *g, int64_t c);
const Lin *lin_var(Graph *g, const char *text, int64_t lo, int64_t hi);
const Lin *lin_add(Graph *g, const Lin *a, const Lin *b);
const Lin *lin_mul(Graph *g, const Lin *a, int64_t c);
const Lin *lin_div(Graph *g, const Lin *a, int64_t c);
const Lin *lin_mod(Graph *g, const Lin *a, int64_t c);
bool lin_same(const Lin *a, const Lin *b);
bool lin_uses(const Lin *a, const Lin *var);
const char *lin_text(Graph *g, const Lin *a);

typedef struct { /* lo <= what <= hi, and what divisible by mod */
    const Lin *what;
    int64_t lo, hi, mod;
} Guard;
/* Positions of argument k of n when n is at `at`; guards (RANK_MOST at most) tell where the
 * argument is there at all.  Not of NODE_TAKE and NODE_ALONG, whose positions are values. */
int operand_index(Graph *g, const Node *n, int k, const Lin *const *at, const Lin **out,
                  Guard *guard);

/* ---- element.c ------------------------------------------------------------------------------- */

typedef struct {
    const Node *node;
    const char *text;  /* of its value where the body stands */
    const Lin *const *at; /* at this position; NULL: fuse.c saw to it that there is no other */
} Leaf;

typedef struct Body { /* statements of one loop body that is being written */
    Graph *g;
    Str *out;
    int indent;
    int *nname;        /* of the kernel */
    Map memo;          /* node and position -> text of its value */
    VEC(Leaf) leaves;
    const struct Group *group; /* its outputs are computed here, not loaded */
    bool quick;        /* quotients by numbers are products */
    bool moved;        /* values are not computed with: they keep their type */
} Body;

void body_open(Body *b, Graph *g, Str *out, int indent, int *nname);
const char *body_value(Body *b, Node *n, const Lin *const *at); /* of compute_type */
const Lin *body_position(Body *b, Node *n, const Lin *const *at, int64_t extent); /* as an index */
void body_store(Body *b, Node *n, const char *target, Node *value, const Lin *const *at);
void body_line(Body *b, const char *fmt, ...) PRINTF(2, 3);
const char *number_text(Graph *g, DType t, double v);
const char *combine_text(Graph *g, int how, DType t, const char *a, const char *b); /* ReduceHow */
const char *place_text(Graph *g, const char *buffer, int rank, const Lin *const *at);
/* Calls see for all that n reads at `at`, stored nodes and those that cannot be inlined; true: what
 * that one reads is seen as well. */
typedef bool ReadFn(void *arg, Node *n, const Lin *const *at);
void each_read(Graph *g, Node *n, const Lin *const *at, ReadFn *see, void *arg);
/* Where along var some condition of padding or concatenation changes, in what k computes of n. */
typedef VEC(int64_t) Breaks;
void find_breaks(Graph *g, struct Group *k, Node *n, const Lin *const *at, const Lin *var,
                 Breaks *out);
bool is_moved(const Node *n, const struct Group *k);
bool is_inline(const Node *n); /* a value at a position is cheap text */

/* ---- fuse.c ---------------------------------------------------------------------------------- */

typedef enum { GROUP_MAP, GROUP_ROW, GROUP_DOT, GROUP_ATTENTION, GROUP_BACK, GROUP_SCAN,
               GROUP_SCATTER, GROUP_SORT } GroupKind;
typedef struct Group {
    GroupKind kind;
    int order;
    Node *anchor;          /* dot, scan, scatter; the first reduction of rows */
    NodeVec reductions;    /* of rows, in order; phase of each */
    VEC(int) phase;
    NodeVec outputs;       /* stored by it */
    Node *space;           /* of rows: a node of the full shape */
    Map reads;             /* of elementwise ones: what is loaded */
    const char *why;       /* it ends where it does */
    Node *scores, *values; /* attention: the dot inside, the right operand */
    Node *weight, *sum, *max, *exp; /* attention: the parts of its softmax */
    Node *rows;            /* attention: made of its sums and maxima, stored too, or NULL */
    Node *pair;            /* dot: another of the same rows, computed beside it, or NULL */
    int first;             /* derivatives of attention: outputs of the anchor; others are of pair */
    Node *again[2];        /* the same: products that it computes again, stored or not */
    uint64_t *needs, *members; /* sets of nodes */
} Group;
typedef struct {
    const Lin *at[TENSOR_RANK];
} Place;
void graph_fuse(Graph *g);
bool group_loads(const Group *k, const Node *n); /* n is stored by another one, and read here */
/* Positions of all nodes that follow from one's, by id; NULL: they do not. */
Place **places_from(Graph *g, Node *from, const Lin *const *at);
/* The same of all nodes that can be walked over as the rows of k are, at `full`. */
Place **row_places(Graph *g, const Group *k, const Lin *const *full);
/* Where a node with one value a row stands, its axes reduced or of extent 1; false: it is none. */
bool row_value_at(Graph *g, const Group *k, const Node *n, const Lin *const *full, const Lin **at);
bool match_attention(Graph *g, Node *dot, Group *out);

/* ---- attention_back.c ------------------------------------------------------------------------ */

void find_backs(Graph *g); /* marks what derivatives of attention compute again */
void fuse_backs(Graph *g); /* groups of their products */

/* ---- needs.c --------------------------------------------------------------------------------- */

void group_take(Graph *g, Group *k, Node *n);               /* n is computed by k */
bool depends(Graph *g, const Node *n, const Group *k);      /* n cannot be there before k */
bool reads_between(Graph *g, const Node *n, const Group *k); /* what depends on k, outside of it */
bool may_read(Graph *g, const Node *n, const Node *a);      /* directly or not; or it is a */
bool waits_for(Graph *g, const Group *k, const Node *n);    /* a group that k reads needs n */

/* ---- pair.c ---------------------------------------------------------------------------------- */

void fuse_pairs(Graph *g);

/* ---- tiles.c --------------------------------------------------------------------------------- */

/* The program as the text of a module with one @T.prim_func: inputs, then outputs. */
const char *graph_tiles(Graph *g);
/* A name that no buffer has; i < 0: the stem alone. */
const char *fresh_name(Graph *g, const char *stem, int i);
void tiles_row(Graph *g, Group *k, Str *out);
void tiles_dot(Graph *g, Group *k, Str *out);
bool tiles_turn(Graph *g, const Group *k, Str *out); /* false: it is no such layout change */
void tiles_attention(Graph *g, Group *k, Str *out);
void tiles_back(Graph *g, Group *k, Str *out);
void tiles_scan(Graph *g, Group *k, Str *out);
void tiles_sort(Graph *g, Group *k, Str *out);

/* ---- explain.c ------------------------------------------------------------------------------- */

const char *graph_explain(Graph *g);

#endif
