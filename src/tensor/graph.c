/* graph.c -- nodes of a tensor program: types, shapes, folding; equal computations are one node. */
#include "tensor/tensor.h"

#include <math.h>

enum {
    WRITTEN_OUT = 32,  /* terms of a reduction of windows; twice as many for a CPU's vectors */
    PART_LEAST = 16384, /* elements of a part of a row */
    KEPT_ROW = 512,     /* elements: such a row is one tile, whatever is done to it */
};

const ElemRow elem_table[ELEM_COUNT] = {
#define ELEM(id, name, arity, rule, text, ga, gb) {name, arity, rule, text, {ga, gb}},
#include "tensor/ops.def"
#undef ELEM
};

Graph *graph_new(Arena *a, Diag *d, const Machine *m, const char *name)
{
    Graph *g = NEW(a, Graph);
    g->arena = a;
    g->diag = d;
    g->machine = m ? m : &machine_plain;
    g->least = 1;
    g->name = name;
    map_init_text(&g->known, a);
    map_init_text(&g->atoms, a);
    return g;
}

int graph_units(const Graph *g)
{
    enum { SOME = 8 }; /* where it is not known: more blocks than cores cost little */
    return g->machine->units > 0 ? g->machine->units : SOME;
}

Elem elem_find(const char *name)
{
    int e = 0;
    while (e < ELEM_COUNT && strcmp(elem_table[e].name, name))
        e++;
    return (Elem)e;
}

int64_t node_count(const Node *n)
{
    int64_t c = 1;
    for (int d = 0; d < n->rank; d++)
        c *= n->shape[d];
    return c;
}

const char *shape_text(Graph *g, int rank, const int64_t *shape)
{
    Str s;
    str_init(&s, g->arena);
    str_putc(&s, '(');
    for (int d = 0; d < rank; d++)
        str_printf(&s, "%s%s", d ? ", " : "", extent_text(g, shape[d]));
    str_puts(&s, rank == 1 ? ",)" : ")");
    return s.s;
}

const char *node_text(Graph *g, const Node *n)
{
    return arena_printf(g->arena, "%s %s", dtype_name(n->type),
                        shape_text(g, n->rank, n->shape));
}

/* ---- making ---------------------------------------------------------------------------------- */

static const char *key_of(Graph *g, const Node *n)
{
    Str s;
    str_init(&s, g->arena);
    str_printf(&s, "%d %d %d %a %s", n->kind, n->how, n->type, n->value, n->name ? n->name : "");
    for (int i = 0; i < n->narg; i++)
        str_printf(&s, " #%d", n->arg[i]->id);
    for (int d = 0; d < n->rank; d++)
        str_printf(&s, " %lld", (long long)n->shape[d]);
    str_putc(&s, '|');
    for (int d = 0; d < COUNT(n->attr); d++)
        str_printf(&s, " %lld", (long long)n->attr[d]);
    return s.s;
}

static void need_rank(Graph *g, int rank)
{
    if (rank > TENSOR_RANK)
        diag_fail(g->diag, g->at, "a tensor of %d axes; the most is %d [tensor-rank]", rank,
                  TENSOR_RANK);
}

static Node *add(Graph *g, Node n)
{
    need_rank(g, n.rank);
    extent_check(g, n.rank, n.shape);
    while (n.narg < COUNT(n.arg) && n.arg[n.narg])
        n.narg++;
    const char *key = key_of(g, &n);
    Node *old = map_get(&g->known, key);
    if (old)
        return old;
    Node *p = NEW(g->arena, Node);
    *p = n;
    p->id = g->nodes.n;
    p->span = g->at;
    vec_push(g->arena, &g->nodes, p);
    map_set(&g->known, key, p);
    return p;
}

static Node shaped(NodeKind kind, DType t, int rank, const int64_t *shape)
{
    Node n = {.kind = kind, .type = t, .rank = rank};
    for (int d = 0; d < rank && d < TENSOR_RANK; d++)
        n.shape[d] = shape[d];
    return n;
}

static bool same_shape(const Node *a, int rank, const int64_t *shape)
{
    bool same = a->rank == rank;
    for (int d = 0; same && d < rank; d++)
        same = a->shape[d] == shape[d];
    return same;
}

Node *node_input(Graph *g, const char *name, DType t, int rank, const int64_t *shape)
{
    Node n = shaped(NODE_INPUT, t, rank, shape);
    n.name = name;
    Node *p = add(g, n);
    p->stored = true;
    p->buffer = name;
    vec_push(g->arena, &g->inputs, p);
    return p;
}

Node *node_const(Graph *g, DType t, double v)
{
    Node n = shaped(NODE_CONST, t, 0, NULL);
    n.value = dtype_is_float(t) ? v : trunc(v);
    return add(g, n);
}

Node *node_full(Graph *g, DType t, double v, int rank, const int64_t *shape)
{
    return node_broadcast(g, node_const(g, t, v), rank, shape);
}

Node *node_extent(Graph *g, int64_t v)
{
    Node n = shaped(NODE_EXTENT, DT_I32, 0, NULL);
    if (!extent_is_open(g, v))
        return node_const(g, DT_I32, (double)v);
    n.attr[0] = v;
    return add(g, n);
}

Node *node_iota(Graph *g, DType t, int rank, const int64_t *shape, int axis)
{
    Node n = shaped(NODE_IOTA, t, rank, shape);
    n.attr[0] = axis;
    return add(g, n);
}

/* ---- types ----------------------------------------------------------------------------------- */

DType compute_type(DType t)
{
    return dtype_is_float(t) && dtype_bits(t) < 32 ? DT_F32 : t;
}

/* float16 with bfloat16 is float32; an integer with a float is that float. */
/* One that holds the values of an unsigned and of a signed one; of 64 bits there is none. */
static DType signed_for(DType plain, DType with_sign)
{
    static const DType by_bits[] = {DT_I8, DT_I16, DT_I32, DT_I64};
    int i = 0;

    while (i < COUNT(by_bits) - 1 && dtype_bits(by_bits[i]) <= dtype_bits(plain))
        i++;
    return dtype_bits(with_sign) > dtype_bits(by_bits[i]) ? with_sign : by_bits[i];
}

DType promote(DType a, DType b)
{
    if (a == b || b == DT_BOOL)
        return a;
    if (a == DT_BOOL)
        return b;
    if (dtype_is_float(a) != dtype_is_float(b))
        return dtype_is_float(a) ? a : b;
    if (!dtype_is_float(a) && dtype_is_unsigned(a) != dtype_is_unsigned(b))
        return dtype_is_unsigned(a) ? signed_for(a, b) : signed_for(b, a);
    if (dtype_bits(a) != dtype_bits(b))
        return dtype_bits(a) > dtype_bits(b) ? a : b;
    return dtype_is_float(a) ? DT_F32 : a;
}

static DType result_type(char rule, DType t)
{
    if (rule == 'c' || rule == 'l')
        return DT_BOOL;
    if (rule == 'f' && !dtype_is_float(t))
        return DT_F32;
    return t;
}

/* ---- elements -------------------------------------------------------------------------------- */

static double fold_number(Elem e, double a, double b, double c, bool *ok)
{
    *ok = true;
    switch (e) {
    case ELEM_ADD: return a + b;
    case ELEM_SUB: return a - b;
    case ELEM_MUL: return a * b;
    case ELEM_DIV: return a / b;
    case ELEM_NEGATIVE: return -a;
    case ELEM_MAXIMUM: return MAX(a, b);
    case ELEM_MINIMUM: return MIN(a, b);
    case ELEM_EXP: return exp(a);
    case ELEM_LOG: return log(a);
    case ELEM_SQRT: return sqrt(a);
    case ELEM_RSQRT: return 1 / sqrt(a);
    case ELEM_POW: return pow(a, b);
    case ELEM_LT: return a < b;
    case ELEM_LE: return a <= b;
    case ELEM_GT: return a > b;
    case ELEM_GE: return a >= b;
    case ELEM_EQ: return a == b;
    case ELEM_NE: return a != b;
    case ELEM_WHERE: return a != 0 ? b : c;
    default: *ok = false; return 0;
    }
}

static bool is_number(const Node *n, double *v)
{
    while (n && n->kind == NODE_BROADCAST)
        n = n->arg[0];
    if (!n || n->kind != NODE_CONST)
        return false;
    *v = n->value;
    return true;
}

bool number_fits(DType t, double v)
{
    if (!dtype_is_int(t))
        return true;
    return v == trunc(v) && v >= dtype_min(t) && v <= dtype_max(t);
}

static Node *fold_elem(Graph *g, Elem e, DType t, Node *const *arg, int n)
{
    double v[3] = {0}, y;
    bool all = true, ok;
    for (int i = 0; i < n; i++)
        all = is_number(arg[i], &v[i]) && all;
    if (!all || (dtype_is_int(t) && dtype_bits(t) > 32))
        return NULL;
    y = fold_number(e, v[0], v[1], v[2], &ok);
    if (!ok || !number_fits(t, y))
        return NULL;
    return node_full(g, t, y, arg[0]->rank, arg[0]->shape);
}

static bool is_extent(const Node *n, int64_t *v)
{
    *v = n->kind == NODE_EXTENT ? n->attr[0] : (int64_t)n->value;
    return n->kind == NODE_EXTENT || (n->kind == NODE_CONST && dtype_is_int(n->type));
}

/* Sums, differences and products of extents are extents. */
static Node *fold_extents(Graph *g, Elem e, const Node *a, const Node *b)
{
    int64_t x, y;
    if (!is_extent(a, &x) || !is_extent(b, &y) ||
        (a->kind != NODE_EXTENT && b->kind != NODE_EXTENT))
        return NULL;
    return e == ELEM_ADD                                  ? node_extent(g, x + y)
           : e == ELEM_SUB                                ? node_extent(g, x - y)
           : e == ELEM_MUL                                ? node_extent(g, x * y)
           : e == ELEM_FLOORDIV && y > 0 && x % y == 0    ? node_extent(g, x / y)
                                                          : NULL;
}

/* x + 0, x * 1 and x / 1 are x, whatever x is; x ** 2 is a product. */
static Node *simpler_elem(Graph *g, Elem e, Node *a, Node *b)
{
    double v;
    if (b && is_number(b, &v)) {
        if ((v == 0 && e == ELEM_SUB) || (v == 1 && (e == ELEM_MUL || e == ELEM_DIV)))
            return a;
        if (e == ELEM_ADD && v == 0 && dtype_is_int(a->type))
            return a;
        if (e == ELEM_POW && v == 1)
            return a;
        if (e == ELEM_POW && v == 2)
            return node_elem(g, ELEM_MUL, a, a, NULL);
        if (e == ELEM_POW && v == 3)
            return node_elem(g, ELEM_MUL, node_elem(g, ELEM_MUL, a, a, NULL), a, NULL);
        if (e == ELEM_POW && v == 0.5)
            return node_elem(g, ELEM_SQRT, a, NULL, NULL);
        if (e == ELEM_POW && v == -0.5)
            return node_elem(g, ELEM_RSQRT, a, NULL, NULL);
        if (e == ELEM_POW && v == -1)
            return node_elem(g, ELEM_DIV, node_full(g, a->type, 1, a->rank, a->shape), a, NULL);
    }
    if (b && is_number(a, &v) && v == 1 && e == ELEM_MUL)
        return b;
    return NULL;
}

static void common_shape(Graph *g, Elem e, Node *const *arg, int n, Node *out)
{
    for (int i = 0; i < n; i++)
        out->rank = MAX(out->rank, arg[i]->rank);
    for (int d = 0; d < out->rank; d++)
        out->shape[d] = 1;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < arg[i]->rank; d++) {
            int64_t s = arg[i]->shape[d], *to = &out->shape[d + out->rank - arg[i]->rank];
            if (s != 1 && *to != 1 && s != *to)
                diag_fail(g->diag, g->at, "%s of shapes %s and %s: axis %d is %s here and %s "
                          "there [tensor-broadcast]", elem_table[e].name,
                          shape_text(g, arg[0]->rank, arg[0]->shape),
                          shape_text(g, arg[i]->rank, arg[i]->shape), d - arg[i]->rank,
                          extent_text(g, *to), extent_text(g, s));
            *to = s == 1 ? *to : s;
        }
}

static DType operand_type(Graph *g, Elem e, Node *const *arg, int n)
{
    const ElemRow *row = &elem_table[e];
    DType t = arg[row->rule == 'w' ? 1 : 0]->type;
    for (int i = row->rule == 'w' ? 2 : 1; i < n; i++)
        t = promote(t, arg[i]->type);
    if (row->rule == 'i' && dtype_is_float(t))
        diag_fail(g->diag, g->at, "%s needs integers or bools, not %s [tensor-type]", row->name,
                  dtype_name(t));
    if (t == DT_BOOL && (row->rule == 'a' || row->rule == 'f') && e != ELEM_MAXIMUM &&
        e != ELEM_MINIMUM)
        t = DT_I32;
    return row->rule == 'f' && !dtype_is_float(t) ? DT_F32 : row->rule == 'l' ? DT_BOOL : t;
}

/* An integer to the power of a small number: products, of its type.  NULL: it is no such. */
static Node *whole_power(Graph *g, Node *a, const Node *b)
{
    enum { POWER_MOST = 64 };
    double v;
    if (!dtype_is_int(a->type) || a->type == DT_BOOL || !dtype_is_int(b->type) ||
        !is_number(b, &v) || v < 0 || v > POWER_MOST || b->rank)
        return NULL;
    Node *y = node_full(g, a->type, 1, a->rank, a->shape);
    for (int64_t n = (int64_t)v; n; n >>= 1) {
        y = n & 1 ? node_elem(g, ELEM_MUL, y, a, NULL) : y;
        a = n > 1 ? node_elem(g, ELEM_MUL, a, a, NULL) : a;
    }
    return y;
}

Node *node_elem(Graph *g, Elem e, Node *a, Node *b, Node *c)
{
    const ElemRow *row = &elem_table[e];
    Node *arg[3] = {a, b, c};
    Node n = {.kind = NODE_ELEM, .how = e};
    Node *known = row->arity == 2 ? fold_extents(g, e, a, b) : NULL;
    if (!known && e == ELEM_POW)
        known = whole_power(g, a, b);
    if (known)
        return known;
    common_shape(g, e, arg, row->arity, &n);
    DType t = operand_type(g, e, arg, row->arity);
    for (int i = 0; i < row->arity; i++) {
        DType own = row->rule == 'w' && i == 0 ? DT_BOOL : t;
        arg[i] = node_broadcast(g, node_cast(g, arg[i], own), n.rank, n.shape);
        n.arg[i] = arg[i];
    }
    n.type = result_type(row->rule, t);
    Node *other = fold_elem(g, e, n.type, arg, row->arity);
    if (!other && row->arity == 2)
        other = simpler_elem(g, e, arg[0], arg[1]);
    return other ? other : add(g, n);
}

Node *node_cast(Graph *g, Node *a, DType t)
{
    double v;
    if (a->type == t)
        return a;
    if (is_number(a, &v) && t != DT_BOOL && number_fits(t, v))
        return node_full(g, t, v, a->rank, a->shape);
    Node n = shaped(NODE_CAST, t, a->rank, a->shape);
    n.arg[0] = a;
    return add(g, n);
}

/* What no kernel computes, or what is returned twice, is copied: each output has a buffer. */
Node *node_output(Graph *g, Node *n)
{
    bool twice = n->kind <= NODE_EXTENT;
    for (int i = 0; i < g->outputs.n; i++)
        twice = twice || g->outputs.at[i] == n;
    if (!twice)
        return n;
    Node copy = shaped(NODE_CAST, n->type, n->rank, n->shape);
    copy.arg[0] = n;
    copy.attr[0] = g->outputs.n + 1;
    return add(g, copy);
}

/* ---- layout changes -------------------------------------------------------------------------- */

Node *node_reshape(Graph *g, Node *a, int rank, const int64_t *shape)
{
    Node n = shaped(NODE_RESHAPE, a->type, rank, shape);
    need_rank(g, rank);
    if (same_shape(a, rank, shape))
        return a;
    if (node_count(&n) != node_count(a))
        diag_fail(g->diag, g->at, "%s has %s elements and cannot be reshaped to %s of %s "
                  "[tensor-shape]", shape_text(g, a->rank, a->shape),
                  extent_text(g, node_count(a)), shape_text(g, rank, shape),
                  extent_text(g, node_count(&n)));
    if (a->kind == NODE_RESHAPE)
        return node_reshape(g, a->arg[0], rank, shape);
    double v;
    if (is_number(a, &v))
        return node_full(g, a->type, v, rank, shape);
    n.arg[0] = a;
    return add(g, n);
}

Node *node_permute(Graph *g, Node *a, const int *perm)
{
    Node n = {.kind = NODE_PERMUTE, .type = a->type, .rank = a->rank};
    bool same = true;
    int both[TENSOR_RANK];
    for (int d = 0; d < a->rank; d++) {
        n.shape[d] = a->shape[perm[d]];
        n.attr[d] = perm[d];
        same = same && perm[d] == d;
        both[d] = a->kind == NODE_PERMUTE ? (int)a->attr[perm[d]] : 0;
    }
    if (same)
        return a;
    if (a->kind == NODE_PERMUTE)
        return node_permute(g, a->arg[0], both);
    n.arg[0] = a;
    return add(g, n);
}

Node *node_broadcast(Graph *g, Node *a, int rank, const int64_t *shape)
{
    if (same_shape(a, rank, shape))
        return a;
    bool ok = rank >= a->rank;
    for (int d = 0; ok && d < a->rank; d++)
        ok = a->shape[d] == 1 || a->shape[d] == shape[d + rank - a->rank];
    if (!ok)
        diag_fail(g->diag, g->at, "shape %s cannot be broadcast to %s [tensor-broadcast]",
                  shape_text(g, a->rank, a->shape), shape_text(g, rank, shape));
    if (a->kind == NODE_BROADCAST)
        return node_broadcast(g, a->arg[0], rank, shape);
    Node n = shaped(NODE_BROADCAST, a->type, rank, shape);
    n.arg[0] = a;
    return add(g, n);
}

Node *node_slice(Graph *g, Node *a, const int64_t *start, const int64_t *step,
                 const int64_t *shape)
{
    Node n = shaped(NODE_SLICE, a->type, a->rank, shape);
    bool all = same_shape(a, a->rank, shape);
    for (int d = 0; d < a->rank; d++) {
        n.attr[d] = start[d];
        n.attr[TENSOR_RANK + d] = step[d];
        all = all && start[d] == 0 && step[d] == 1;
    }
    n.arg[0] = a;
    return all ? a : add(g, n);
}

Node *node_pad(Graph *g, Node *a, const int64_t *lo, const int64_t *step, const int64_t *shape,
               double fill)
{
    Node n = shaped(NODE_PAD, a->type, a->rank, shape);
    bool all = same_shape(a, a->rank, shape);
    for (int d = 0; d < a->rank; d++) {
        n.attr[d] = lo[d];
        n.attr[TENSOR_RANK + d] = step[d];
        all = all && lo[d] == 0;
    }
    n.value = fill;
    n.arg[0] = a;
    if (node_count(a) == 0)
        return node_full(g, a->type, fill, a->rank, shape);
    return all ? a : add(g, n);
}

Node *node_concat(Graph *g, Node *a, Node *b, int axis)
{
    DType t = promote(a->type, b->type);
    a = node_cast(g, a, t);
    b = node_cast(g, b, t);
    Node n = shaped(NODE_CONCAT, t, a->rank, a->shape);
    bool ok = a->rank == b->rank;
    for (int d = 0; ok && d < a->rank; d++)
        ok = d == axis || a->shape[d] == b->shape[d];
    if (!ok)
        diag_fail(g->diag, g->at, "concatenate of shapes %s and %s along axis %d: the other axes "
                  "differ [tensor-shape]", shape_text(g, a->rank, a->shape),
                  shape_text(g, b->rank, b->shape), axis);
    n.shape[axis] += b->shape[axis];
    n.attr[0] = axis;
    n.arg[0] = a;
    n.arg[1] = b;
    return a->shape[axis] == 0 ? b : b->shape[axis] == 0 ? a : add(g, n);
}

Node *node_window(Graph *g, Node *a, int axis, int64_t size, int64_t stride, int64_t dilation)
{
    int64_t reach = (size - 1) * dilation + 1;
    Node n = {.kind = NODE_WINDOW, .type = a->type, .rank = a->rank + 1};
    if (extent_is_open(g, a->shape[axis]) && stride > 1)
        diag_fail(g->diag, g->at, "windows that move by %lld need an extent that is known, not %s "
                  "[tensor-extent]", (long long)stride, extent_text(g, a->shape[axis]));
    if (!extent_le(g, reach, a->shape[axis]))
        diag_fail(g->diag, g->at, "a window of %lld does not fit into axis %d of %s "
                  "[tensor-conv]", (long long)reach, axis,
                  shape_text(g, a->rank, a->shape));
    need_rank(g, n.rank);
    for (int d = 0; d < n.rank && d < TENSOR_RANK; d++)
        n.shape[d] = d == axis       ? (a->shape[d] - reach) / stride + 1
                     : d == axis + 1 ? size
                                     : a->shape[d - (d > axis)];
    n.attr[0] = axis;
    n.attr[1] = size;
    n.attr[2] = stride;
    n.attr[3] = dilation;
    n.arg[0] = a;
    return add(g, n);
}

Node *node_spread(Graph *g, Node *a, int axis, int64_t extent, int64_t stride, int64_t dilation)
{
    Node n = shaped(NODE_SPREAD, a->type, a->rank, a->shape);
    n.shape[axis] = extent;
    n.attr[0] = axis;
    n.attr[2] = stride;
    n.attr[3] = dilation;
    n.arg[0] = a;
    return add(g, n);
}

/* ---- values as positions --------------------------------------------------------------------- */

static void need_positions(Graph *g, const Node *at, const char *what)
{
    if (!dtype_is_int(at->type))
        diag_fail(g->diag, g->at, "%s: positions must be integers, not %s [tensor-type]", what,
                  dtype_name(at->type));
}

Node *node_take(Graph *g, Node *a, Node *at, int axis)
{
    need_positions(g, at, "take");
    Node n = {.kind = NODE_TAKE, .type = a->type};
    if (a->rank - 1 + at->rank > TENSOR_RANK)
        diag_fail(g->diag, g->at, "take gives %d dimensions; the most is %d [tensor-rank]",
                  a->rank - 1 + at->rank, TENSOR_RANK);
    for (int d = 0; d < a->rank; d++) {
        if (d != axis)
            n.shape[n.rank++] = a->shape[d];
        for (int e = 0; d == axis && e < at->rank; e++)
            n.shape[n.rank++] = at->shape[e];
    }
    n.attr[0] = axis;
    n.arg[0] = a;
    n.arg[1] = at;
    return add(g, n);
}

Node *node_along(Graph *g, Node *a, Node *at, int axis)
{
    need_positions(g, at, "take_along_axis");
    Node n = shaped(NODE_ALONG, a->type, at->rank, at->shape);
    bool ok = a->rank == at->rank;
    for (int d = 0; ok && d < a->rank; d++)
        ok = d == axis || at->shape[d] == a->shape[d];
    if (!ok)
        diag_fail(g->diag, g->at, "take_along_axis of %s by positions %s: only axis %d may differ "
                  "[tensor-shape]", shape_text(g, a->rank, a->shape),
                  shape_text(g, at->rank, at->shape), axis);
    n.attr[0] = axis;
    n.arg[0] = a;
    n.arg[1] = at;
    return add(g, n);
}

Node *node_scatter(Graph *g, Node *a, Node *at, Node *v, int axis, bool put)
{
    need_positions(g, at, "scatter");
    Node *like = node_take(g, a, at, axis);
    Node n = shaped(NODE_SCATTER, a->type, a->rank, a->shape);
    n.attr[0] = axis;
    n.attr[1] = put;
    n.arg[0] = a;
    n.arg[1] = at;
    n.arg[2] = node_broadcast(g, node_cast(g, v, a->type), like->rank, like->shape);
    return add(g, n);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Windows overlap: neighbours read the same elements, which a loop over all terms at once keeps. */
static bool reads_windows(const Node *a, int depth)
{
    bool found = a->kind == NODE_WINDOW || a->kind == NODE_SPREAD;
    for (int i = 0; i < a->narg && !found && depth; i++)
        found = a->kind >= NODE_ELEM && a->kind <= NODE_BROADCAST &&
                reads_windows(a->arg[i], depth - 1);
    return found;
}

/* The largest divisor of n that is at most `most`. */
static int64_t divisor(const Graph *g, int64_t n, int64_t most)
{
    int64_t d = MIN(n, most);
    while (d > 1 && !extent_divides(g, d, n))
        d--;
    return d;
}

static Node *reduce(Graph *g, ReduceHow how, Node *a, const bool *axes, bool is_shift);

/* Few long rows keep few cores busy: their parts come first.  NULL: there are rows enough. */
static Node *reduce_in_parts(Graph *g, ReduceHow how, Node *a, const bool *axes, int64_t count,
                             bool is_shift)
{
    const int64_t rows = node_count(a) / MAX(1, count), units = graph_units(g);
    const int64_t most = MIN(4 * units / MAX(1, rows), count / PART_LEAST);
    bool first[TENSOR_RANK] = {0}, second[TENSOR_RANK] = {0};
    int64_t shape[TENSOR_RANK], parts = 1;
    int axis = 0, n = 0;
    while (axis < a->rank && (!axes[axis] || a->shape[axis] < 2))
        axis++;
    if (rows * 2 > units || most < 2 || axis == a->rank || a->rank == TENSOR_RANK ||
        (parts = divisor(g, a->shape[axis], most)) * rows < units)
        return NULL;
    for (int d = 0, kept = 0; d < a->rank; d++) {
        if (d == axis) {
            second[kept++] = true;
            shape[n++] = parts;
        } else if (!axes[d]) {
            kept++;
        }
        first[n] = axes[d];
        shape[n++] = d == axis ? a->shape[d] / parts : a->shape[d];
    }
    a = reduce(g, how, node_reshape(g, a, n, shape), first, is_shift);
    return reduce(g, how, a, second, is_shift);
}

static Node *reduce(Graph *g, ReduceHow how, Node *a, const bool *axes, bool is_shift)
{
    Node n = {.kind = NODE_REDUCE, .how = how, .type = a->type};
    int64_t count = 1;
    for (int d = 0; d < a->rank; d++) {
        n.attr[d] = axes[d];
        count *= axes[d] ? a->shape[d] : 1;
        if (!axes[d])
            n.shape[n.rank++] = a->shape[d];
    }
    if (count == 0 && how != REDUCE_SUM && how != REDUCE_PROD)
        diag_fail(g->diag, g->at, "a maximum or minimum of no elements [tensor-argument]");
    if (count == 0)
        return node_full(g, a->type, how == REDUCE_PROD, n.rank, n.shape);
    if (count == 1)
        return node_reshape(g, a, n.rank, n.shape);
    Node *parted = reduce_in_parts(g, how, a, axes, count, is_shift);
    if (parted)
        return parted;
    const int most = machine_has(g->machine, HAS_THREADS) ? WRITTEN_OUT : 2 * WRITTEN_OUT;
    n.attr[TENSOR_RANK] = count <= most && reads_windows(a, 6);
    n.value = is_shift;
    n.arg[0] = a;
    return add(g, n);
}

Node *node_reduce(Graph *g, ReduceHow how, Node *a, const bool *axes)
{
    return reduce(g, how, a, axes, false);
}

Node *node_shift(Graph *g, Node *a, const bool *axes)
{
    return reduce(g, REDUCE_MAX, a, axes, true);
}

bool node_is_shift(const Node *n)
{
    return n->kind == NODE_REDUCE && n->value != 0;
}

void node_compared(const Graph *g, Node *a, int axis)
{
    bool kept = axis >= 0 && !extent_is_open(g, a->shape[axis]) && a->shape[axis] <= KEPT_ROW;
    for (int d = axis + 1; kept && d < a->rank; d++)
        kept = a->shape[d] == 1;
    a->once = a->once || !kept;
}

Node *node_dot(Graph *g, Node *a, Node *b)
{
    Node n = {.kind = NODE_DOT, .type = a->type, .rank = 3,
              .shape = {a->shape[0], a->shape[1], b->shape[2]}, .arg = {a, b}};
    return add(g, n);
}

Node *node_sort(Graph *g, Node *a, bool descending)
{
    Node n = shaped(NODE_SORT, DT_I32, a->rank, a->shape);
    n.attr[1] = descending;
    n.arg[0] = a;
    return add(g, n);
}

Node *node_scan(Graph *g, Node *a, int axis, bool reverse)
{
    Node n = shaped(NODE_SCAN, a->type, a->rank, a->shape);
    n.attr[0] = axis;
    n.attr[1] = reverse;
    n.arg[0] = a;
    return add(g, n);
}
