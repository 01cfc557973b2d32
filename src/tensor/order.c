/* order.c -- sorting and the largest elements, made of other nodes.
 *
 * Short rows, and those whose length stays open, compare all pairs; others have a kernel of their
 * own (sort.c).  A few largest elements are taken one after the other: the largest of those that
 * come behind the one before. */
#include "tensor/tensor.h"

#include <math.h>

enum {
    PAIRS_MOST = 16,  /* elements of a row */
    SELECT_MOST = 4,  /* of the largest */
    CHUNK = 256, SHORT = 1024,
};

/* x with an axis of extent 1 before or behind `axis`. */
static Node *with_axis(Graph *g, Node *x, int axis)
{
    int64_t shape[TENSOR_RANK];
    if (x->rank == TENSOR_RANK)
        diag_fail(g->diag, g->at, "sorting needs one more axis than the %d there may be "
                  "[tensor-rank]", TENSOR_RANK);
    for (int d = 0; d <= x->rank; d++)
        shape[d] = d < axis ? x->shape[d] : d == axis ? 1 : x->shape[d - 1];
    return node_reshape(g, x, x->rank + 1, shape);
}

/* Of a that came earlier: it stays before b.  NaN is more than all numbers, as in numpy. */
static Node *stays_before(Graph *g, Node *a, Node *b, bool descending)
{
    Node *in_order = build_binary(g, descending ? ELEM_GE : ELEM_LE, a, b);
    if (!dtype_is_float(a->type))
        return in_order;
    return build_binary(g, ELEM_BITOR, in_order,
                        build_unary(g, ELEM_ISNAN, descending ? a : b));
}

/* How many stand before it: smaller ones, and equal ones that came earlier. */
static Node *build_rank(Graph *g, Node *a, int axis, bool descending)
{
    Node *x = with_axis(g, a, axis + 1), *y = with_axis(g, a, axis);
    Node *at = node_iota(g, DT_I32, a->rank, a->shape, axis);
    Node *i = with_axis(g, at, axis + 1), *j = with_axis(g, at, axis);
    Node *earlier = build_binary(g, ELEM_LT, j, i);
    Node *after = build_unary(g, ELEM_NOT, stays_before(g, x, y, descending));
    Node *before = node_elem(g, ELEM_WHERE, earlier, stays_before(g, y, x, descending), after);
    bool axes[TENSOR_RANK] = {0};
    axes[axis + 1] = true;
    return node_reduce(g, REDUCE_SUM, node_cast(g, before, DT_I32), axes);
}

/* v put in places < n */
static Node *build_sorted(Graph *g, Node *v, Node *place, int axis, int64_t n)
{
    int64_t shape[TENSOR_RANK];
    for (int d = 0; d < v->rank; d++)
        shape[d] = d == axis ? n : 1;
    Node *to = with_axis(g, node_iota(g, DT_I32, v->rank, shape, axis), axis + 1);
    Node *from = with_axis(g, place, axis), *x = with_axis(g, v, axis);
    Node *zero = node_const(g, v->type, 0);
    Node *one = node_elem(g, ELEM_WHERE, build_binary(g, ELEM_EQ, from, to), x, zero);
    bool axes[TENSOR_RANK] = {0};
    axes[axis + 1] = true;
    return node_reduce(g, REDUCE_SUM, one, axes);
}

/* An axis as chunks of so many elements, the last filled up. */
static Node *chunked(Graph *g, Node *x, int axis, int64_t size, double fill)
{
    int64_t lo[TENSOR_RANK] = {0}, step[TENSOR_RANK], shape[TENSOR_RANK], parts[TENSOR_RANK];
    for (int d = 0, n = 0; d < x->rank; d++) {
        step[d] = 1;
        shape[d] = d == axis ? (x->shape[d] + size - 1) / size * size : x->shape[d];
        parts[n++] = d == axis ? shape[d] / size : shape[d];
        if (d == axis)
            parts[n++] = size;
    }
    return node_reshape(g, node_pad(g, x, lo, step, shape, fill), x->rank + 1, parts);
}

static Node *unchunked(Graph *g, Node *x, int axis)
{
    int64_t shape[TENSOR_RANK];
    for (int d = 0; d < x->rank - 1; d++)
        shape[d] = d < axis ? x->shape[d] : x->shape[d + 1];
    shape[axis] = x->shape[axis] * x->shape[axis + 1];
    return node_reshape(g, x, x->rank - 1, shape);
}

typedef struct {
    Graph *g;
    Node *x, *at; /* elements and where they came from */
    int axis;
    bool descending;
} Order;

/* All pairs are compared; the first n of each row remain. */
static void order_pairs(Order *o, int64_t n)
{
    node_compared(o->g, o->x, -1);
    Node *place = build_rank(o->g, o->x, o->axis, o->descending);
    Node *from = build_sorted(o->g, o->at, place, o->axis, n);
    o->x = build_sorted(o->g, o->x, place, o->axis, n);
    o->at = from;
}

/* What fills up the last chunk is least and came last. */
static void order_chunks(Order *o, int64_t size)
{
    const DType t = o->x->type;
    const double least = dtype_is_float(t) ? -INFINITY : dtype_min(t);
    o->x = chunked(o->g, o->x, o->axis, size, least);
    o->at = chunked(o->g, o->at, o->axis, size, 0);
    o->axis++;
}

static void order_unchunk(Order *o)
{
    o->axis--;
    o->x = unchunked(o->g, o->x, o->axis);
    o->at = unchunked(o->g, o->at, o->axis);
}

/* x with `axis` last, as rows. */
static Node *as_rows(Graph *g, Node *x, int axis)
{
    int perm[TENSOR_RANK], n = 0;
    for (int d = 0; d < x->rank; d++)
        if (d != axis)
            perm[n++] = d;
    perm[n] = axis;
    const int64_t along = x->shape[axis], shape[2] = {node_count(x) / MAX(along, 1), along};
    return node_reshape(g, node_permute(g, x, perm), 2, shape);
}

/* Back: rows as `like` has them along its axis. */
static Node *from_rows(Graph *g, Node *rows, const Node *like, int axis)
{
    int perm[TENSOR_RANK], n = 0;
    int64_t shape[TENSOR_RANK];
    for (int d = 0; d < like->rank; d++) {
        if (d != axis)
            shape[n++] = like->shape[d];
        perm[d] = d < axis ? d : d == axis ? like->rank - 1 : d - 1;
    }
    shape[n] = like->shape[axis];
    return node_permute(g, node_reshape(g, rows, like->rank, shape), perm);
}

static Node *first_of(Graph *g, Node *x, int axis, int64_t n)
{
    int64_t start[TENSOR_RANK] = {0}, step[TENSOR_RANK], shape[TENSOR_RANK];
    for (int d = 0; d < x->rank; d++) {
        step[d] = 1;
        shape[d] = d == axis ? n : x->shape[d];
    }
    return n == x->shape[axis] ? x : node_slice(g, x, start, step, shape);
}

/* The first n of each row, in order. */
static void order_rows(Order *o, int64_t n)
{
    Graph *g = o->g;
    const int64_t along = o->x->shape[o->axis];
    if (extent_is_open(g, along) || along <= PAIRS_MOST || n == 0) {
        order_pairs(o, n);
        return;
    }
    const bool first = o->at->kind == NODE_IOTA && o->at->attr[0] == o->axis;
    Node *place = node_sort(g, as_rows(g, o->x, o->axis), o->descending);
    place = first_of(g, from_rows(g, place, o->x, o->axis), o->axis, n);
    o->x = node_along(g, o->x, place, o->axis);
    o->at = first ? place : node_along(g, o->at, place, o->axis);
}

void build_order(Graph *g, Node **x, Node **at, int axis, bool descending)
{
    Order o = {g, *x, *at, axis, descending};
    order_rows(&o, (*x)->shape[axis]);
    *x = o.x;
    *at = o.at;
}

/* ---- a few of the largest -------------------------------------------------------------------- */

static Node *either(Graph *g, Node *a, Node *b)
{
    return build_binary(g, ELEM_BITOR, a, b);
}

/* Elements that come behind the one with value `best` at `at`. */
static Node *behind(Graph *g, Node *x, Node *i, Node *best, Node *at)
{
    Node *later = build_binary(g, ELEM_GT, i, at);
    Node *equal = build_binary(g, ELEM_BITAND, build_binary(g, ELEM_EQ, x, best), later);
    Node *less = either(g, build_binary(g, ELEM_LT, x, best), equal);
    if (!dtype_is_float(x->type))
        return less;
    Node *number = build_binary(g, ELEM_EQ, x, x);
    return node_elem(g, ELEM_WHERE, build_binary(g, ELEM_NE, best, best), either(g, number, later),
                     less);
}

static void order_select(Order *o, int64_t k)
{
    Graph *g = o->g;
    Node *x = o->x, *i = o->at, *values = NULL, *places = NULL, *left = NULL;
    const DType t = x->type;
    Node *least = node_const(g, t, dtype_is_float(t) ? -INFINITY : dtype_min(t));
    Node *none = node_extent(g, x->shape[o->axis]), *zero = node_const(g, t, 0);
    bool axes[TENSOR_RANK] = {0};
    axes[o->axis] = true;
    node_compared(g, x, o->axis);
    for (int64_t n = 0; n < k; n++) {
        Node *some = left ? node_elem(g, ELEM_WHERE, left, x, least) : x;
        Node *best = keep_axes(g, node_reduce(g, REDUCE_MAX, some, axes), x, axes);
        Node *is = build_binary(g, ELEM_EQ, x, best);
        if (dtype_is_float(t))
            is = either(g, is, build_binary(g, ELEM_NE, x, x));
        is = left ? build_binary(g, ELEM_BITAND, left, is) : is;
        Node *here = node_elem(g, ELEM_WHERE, is, i, none);
        Node *at = keep_axes(g, node_reduce(g, REDUCE_MIN, here, axes), x, axes);
        Node *one = node_elem(g, ELEM_WHERE, build_binary(g, ELEM_EQ, i, at), x, zero);
        Node *v = keep_axes(g, node_reduce(g, REDUCE_SUM, one, axes), x, axes);
        values = values ? node_concat(g, values, v, o->axis) : v;
        places = places ? node_concat(g, places, at, o->axis) : at;
        left = behind(g, x, i, best, at);
    }
    o->x = values;
    o->at = places;
}

/* Of a long row those of its chunks, whose largest are a shorter row. */
void build_top(Graph *g, Node **x, Node **at, int axis, int64_t k)
{
    Order o = {g, *x, *at, axis, true};
    const int64_t along = o.x->shape[axis];
    if (k > 0 && k <= SELECT_MOST && o.x->type != DT_BOOL) {
        order_select(&o, k);
    } else {
        while (!extent_is_open(g, along) && o.x->shape[axis] > SHORT && k <= CHUNK / 4 &&
               o.x->rank + 2 <= TENSOR_RANK) {
            order_chunks(&o, CHUNK);
            order_rows(&o, k);
            order_unchunk(&o);
        }
        order_rows(&o, k);
    }
    *x = o.x;
    *at = o.at;
}
