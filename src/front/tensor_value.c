/* tensor_value.c -- tensors of a tensor program as values: operators, attributes, subscripts. */
#include "front/tensor.h"

#include <math.h>

Value node_value(Node *n)
{
    return (Value){.kind = V_NODE, .u.node = n};
}

Graph *tensor_graph(Eval *ev, Span at, const char *what)
{
    if (!ev->graph)
        diag_fail(ev->diag, at, "%s works on tensors of a @tl.tensor_program, and none is being "
                  "traced [tensor-outside]", what);
    ev->graph->at = at;
    return ev->graph;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* An integer as it is: nodes hold numbers as doubles, which have 53 bits. */
static Node *whole_node(Graph *g, DType t, int64_t i)
{
    if ((int64_t)(double)i == i && fabs((double)i) < 9e18)
        return node_const(g, t, (double)i);
    Node *high = node_const(g, t, (double)(i >> 32));
    Node *moved = build_number(g, ELEM_SHL, high, 32);
    return build_number(g, ELEM_ADD, moved, (double)(i & 0xffffffff));
}

static Node *number_node(Eval *ev, Span at, const Value *v, const Node *like)
{
    Graph *g = ev->graph;
    DType t = v->kind == V_BOOL   ? DT_BOOL
              : v->kind == V_FLOAT ? DT_F32
              : number_fits(DT_I32, (double)v->u.i) ? DT_I32 : DT_I64;
    if (like && like->type != DT_BOOL && v->kind != V_BOOL &&
        (v->kind == V_INT || dtype_is_float(like->type)))
        t = like->type;
    if (v->kind == V_INT && dtype_is_int(t) && !number_fits(t, (double)v->u.i))
        diag_fail(ev->diag, at, "%lld does not fit %s, the type of the tensor beside it "
                  "[tensor-number]", (long long)v->u.i, dtype_name(t));
    if (v->kind == V_INT && dtype_is_int(t))
        return whole_node(g, t, v->u.i);
    return node_const(g, t, v->kind == V_FLOAT ? v->u.f : (double)v->u.i);
}

Node *to_node(Eval *ev, Span at, const Value *v, const Node *like, const char *what)
{
    tensor_graph(ev, at, what);
    if (v->kind == V_NODE)
        return v->u.node;
    if (is_number(v))
        return number_node(ev, at, v, like);
    if (v->kind == V_FOREIGN || v->kind == V_OPAQUE)
        diag_fail(ev->diag, at, "%s: %s is no tensor of this program; arrays come in as arguments "
                  "of the program [tensor-capture]", what, value_kind_name(v));
    diag_fail(ev->diag, at, "%s must be a tensor or a number, not %s [tensor-argument]", what,
              value_kind_name(v));
}

int to_axis(Eval *ev, Span at, const Value *v, int rank, const char *what)
{
    int64_t d = to_int(ev, at, v, what);
    if (d < -rank || d >= rank)
        diag_fail(ev->diag, at, "%s is %lld, but there %s [tensor-axis]", what, (long long)d,
                  rank == 1 ? "is 1 axis" : arena_printf(ev->arena, "are %d axes", rank));
    return (int)(d < 0 ? d + rank : d);
}

void to_axes(Eval *ev, Span at, const Value *v, int rank, bool *axes, const char *what)
{
    for (int d = 0; d < rank; d++)
        axes[d] = v->kind == V_NONE;
    if (v->kind == V_NONE)
        return;
    if (!value_is_seq(v)) {
        axes[to_axis(ev, at, v, rank, what)] = true;
        return;
    }
    for (int i = 0; i < v->u.seq->n; i++) {
        const int d = to_axis(ev, at, &v->u.seq->at[i], rank, what);
        if (axes[d])
            diag_fail(ev->diag, at, "%s names axis %d twice [tensor-axis]", what, d);
        axes[d] = true;
    }
}

int64_t to_extent(Eval *ev, Span at, const Value *v, const char *what)
{
    if (v->kind == V_NODE && v->u.node->kind == NODE_EXTENT)
        return v->u.node->attr[0];
    return to_int(ev, at, v, what);
}

static Value extent_value(Graph *g, int64_t n)
{
    return extent_is_open(g, n) ? node_value(node_extent(g, n)) : value_int(n);
}

int to_extents(Eval *ev, Span at, const Value *v, int64_t *out, const char *what)
{
    int n = value_is_seq(v) ? v->u.seq->n : 1;
    if (n > TENSOR_RANK)
        diag_fail(ev->diag, at, "%s has %d extents; the most is %d [tensor-rank]", what, n,
                  TENSOR_RANK);
    for (int i = 0; i < n; i++) {
        out[i] = to_extent(ev, at, value_is_seq(v) ? &v->u.seq->at[i] : v, what);
        if (out[i] < -1)
            diag_fail(ev->diag, at, "%s: an extent of %lld [tensor-shape]", what,
                      (long long)out[i]);
    }
    return n;
}

Graph *call_graph(const BuiltinCall *c)
{
    return tensor_graph(c->ev, c->span, call_title(c));
}

Node *arg_node(const BuiltinCall *c, int i)
{
    call_graph(c);
    Node *n = to_node(c->ev, c->arg_span[i], &c->arg[i], NULL, call_what(c, i));
    c->ev->graph->at = c->span;
    return n;
}

/* ---- operators ------------------------------------------------------------------------------- */

static Elem token_elem(TokenKind op)
{
    static const struct { TokenKind token; Elem elem; } rows[] = {
        {TK_ADD, ELEM_ADD}, {TK_SUB, ELEM_SUB}, {TK_MUL, ELEM_MUL}, {TK_DIV, ELEM_DIV},
        {TK_FLOORDIV, ELEM_FLOORDIV}, {TK_MOD, ELEM_MOD}, {TK_POW, ELEM_POW},
        {TK_BITAND, ELEM_BITAND}, {TK_BITOR, ELEM_BITOR}, {TK_BITXOR, ELEM_BITXOR},
        {TK_SHL, ELEM_SHL}, {TK_SHR, ELEM_SHR}, {TK_LT, ELEM_LT}, {TK_LE, ELEM_LE},
        {TK_GT, ELEM_GT}, {TK_GE, ELEM_GE}, {TK_EQ, ELEM_EQ}, {TK_NE, ELEM_NE},
    };
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].token == op)
            return rows[i].elem;
    return ELEM_COUNT;
}

/* The tensor whose type a number beside it takes; none where it is compared with one past all
 * that the type has. */
static const Node *like_of(TokenKind op, const Node *n, const Value *v)
{
    const bool compares = op == TK_LT || op == TK_LE || op == TK_GT || op == TK_GE ||
                          op == TK_EQ || op == TK_NE;
    return compares && v->kind == V_INT && dtype_is_int(n->type) &&
                   !number_fits(n->type, (double)v->u.i) ? NULL : n;
}

static void check_divisor(Eval *ev, Span at, TokenKind op, const Node *x, const Value *v)
{
    if (!is_number(v) || !dtype_is_int(x->type) || v->kind == V_FLOAT)
        return;
    if ((op == TK_FLOORDIV || op == TK_MOD) && v->u.i == 0)
        diag_fail(ev->diag, at, "an integer tensor divided by zero [tensor-number]");
    if ((op == TK_SHL || op == TK_SHR) && (v->u.i < 0 || v->u.i >= dtype_bits(x->type)))
        diag_fail(ev->diag, at, "%s is shifted by %lld bits [tensor-number]", dtype_name(x->type),
                  (long long)v->u.i);
}

bool tensor_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b, Value *out)
{
    if (a->kind != V_NODE && b->kind != V_NODE)
        return false;
    const char *what = arena_printf(ev->arena, "the operand of '%s'", token_text(op));
    Node *x = a->kind == V_NODE ? a->u.node : NULL, *y = b->kind == V_NODE ? b->u.node : NULL;
    Node *l = x ? x : to_node(ev, at, a, like_of(op, y, a), what);
    Node *r = y ? y : to_node(ev, at, b, like_of(op, x, b), what);
    if (x)
        check_divisor(ev, at, op, x, b);
    Graph *g = tensor_graph(ev, at, what);
    Elem e = token_elem(op);
    *out = node_value(op == TK_AT ? build_matmul(g, l, r) : build_binary(g, e, l, r));
    return true;
}

bool tensor_unary(Eval *ev, Span at, TokenKind op, const Value *a, Value *out)
{
    if (a->kind != V_NODE)
        return false;
    Graph *g = tensor_graph(ev, at, token_text(op));
    *out = op == TK_ADD   ? *a
           : op == TK_SUB ? node_value(build_unary(g, ELEM_NEGATIVE, a->u.node))
                          : node_value(build_unary(g, a->u.node->type == DT_BOOL ? ELEM_NOT
                                                                                 : ELEM_INVERT,
                                                   a->u.node));
    return true;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* x.sum(axis) is tl.sum(x, axis). */
static Value node_method(Eval *ev, const Value *v, const char *name)
{
    static const char *const words[] = {"sum", "mean", "max", "min", "prod", "any", "all", "var",
        "std", "argmax", "argmin", "reshape", "transpose", "swapaxes", "squeeze", "astype", "clip",
        "cumsum", "take", "sort", "argsort", "round"};
    for (int i = 0; i < COUNT(words); i++)
        if (!strcmp(words[i], name))
            return method_of(ev, v, arena_printf(ev->arena, "tilelang.%s", name));
    return (Value){0};
}

Value tensor_attr(Eval *ev, Span at, const Value *v, const char *name)
{
    Node *n = v->u.node;
    Value shape[TENSOR_RANK];
    int perm[TENSOR_RANK];
    for (int d = 0; d < n->rank; d++) {
        shape[d] = extent_value(ev->graph, n->shape[d]);
        perm[d] = n->rank - 1 - d;
    }
    if (!strcmp(name, "shape"))
        return value_tuple(ev, shape, n->rank);
    if (!strcmp(name, "dtype"))
        return value_dtype(n->type, 1);
    if (!strcmp(name, "ndim"))
        return value_int(n->rank);
    if (!strcmp(name, "size"))
        return extent_value(ev->graph, node_count(n));
    if (!strcmp(name, "T"))
        return node_value(node_permute(tensor_graph(ev, at, "T"), n, perm));
    return node_method(ev, v, name);
}

/* ---- subscripts ------------------------------------------------------------------------------ */

typedef struct {
    Eval *ev;
    Graph *g;
    Span at;
    Node *x;
    int axis;                           /* of x, next to be looked at */
    int64_t start[TENSOR_RANK], step[TENSOR_RANK], shape[TENSOR_RANK];
    int rank;                           /* of the result so far */
    int64_t out[TENSOR_RANK + 1];
    int naxis;                          /* tensors as subscripts */
    int at_axis[TENSOR_RANK], at_out;
    bool apart;                         /* not side by side */
    Node *index[TENSOR_RANK];
} Subscript;

static int64_t bound(Subscript *s, const Value *v, int64_t otherwise, int64_t extent, bool back)
{
    if (v->kind == V_NONE)
        return otherwise;
    int64_t i = to_extent(s->ev, s->at, v, "a slice");
    i = i < 0 ? i + extent : i;
    if (extent_is_open(s->g, extent) && (!extent_le(s->g, 0, i) || !extent_le(s->g, i, extent)))
        diag_fail(s->ev->diag, s->at, "a slice to %s of an axis of %s, which stays open "
                  "[tensor-extent]", extent_text(s->g, i), extent_text(s->g, extent));
    return MIN(MAX(i, back ? -1 : 0), back ? extent - 1 : extent);
}

static void take_slice(Subscript *s, const Value *v)
{
    const Value *part = v->u.seq->at;
    const int d = s->axis++;
    const int64_t n = s->x->shape[d];
    int64_t step = part[2].kind == V_NONE ? 1 : to_int(s->ev, s->at, &part[2], "a step");
    if (step == 0)
        diag_fail(s->ev->diag, s->at, "a slice with step 0 [tensor-subscript]");
    int64_t from = bound(s, &part[0], step > 0 ? 0 : n - 1, n, step < 0),
            to = bound(s, &part[1], step > 0 ? n : -1, n, step < 0);
    if (extent_is_open(s->g, n) && step != 1 && step != -1)
        diag_fail(s->ev->diag, s->at, "a slice by %lld of an axis of %s, which stays open "
                  "[tensor-extent]", (long long)step, extent_text(s->g, n));
    int64_t count = step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step;
    s->start[d] = from;
    s->step[d] = step;
    s->shape[d] = MAX(count, 0);
    s->out[s->rank++] = s->shape[d];
}

static void take_number(Subscript *s, const Value *v)
{
    const int d = s->axis++;
    int64_t i = to_extent(s->ev, s->at, v, "a subscript"), n = s->x->shape[d];
    if (!extent_le(s->g, -n, i) || !extent_le(s->g, i + 1, n))
        diag_fail(s->ev->diag, s->at, "subscript %s of axis %d, which has %s elements "
                  "[tensor-subscript]", extent_text(s->g, i), d, extent_text(s->g, n));
    s->start[d] = i < 0 ? i + n : i;
    s->step[d] = 1;
    s->shape[d] = 1;
}

static void take_whole(Subscript *s)
{
    const int d = s->axis++;
    s->start[d] = 0;
    s->step[d] = 1;
    s->out[s->rank++] = s->shape[d] = s->x->shape[d];
}

static void take_tensor(Subscript *s, Node *n)
{
    const int d = s->axis;
    if (n->type == DT_BOOL)
        diag_fail(s->ev->diag, s->at, "a mask as a subscript gives a shape that is known only when "
                  "it runs; tl.where keeps the shape [tensor-subscript]");
    if (!dtype_is_int(n->type))
        diag_fail(s->ev->diag, s->at, "a tensor as a subscript must have integers, not %s "
                  "[tensor-subscript]", dtype_name(n->type));
    if (!s->naxis)
        s->at_out = s->rank;
    s->at_axis[s->naxis] = d;
    s->index[s->naxis++] = n;
    take_whole(s);
    s->apart = s->apart || (s->naxis > 1 && s->at_axis[s->naxis - 2] != d - 1);
    s->rank--;
}

/* Axes with a tensor each, and others between them: as numpy does, theirs come first. */
static Node *side_by_side(Subscript *s, Node *x)
{
    int perm[TENSOR_RANK], n = s->naxis;
    for (int d = 0, k = 0; d < x->rank; d++)
        perm[k < s->naxis && s->at_axis[k] == d ? k++ : n++] = d;
    for (int k = 0; k < s->naxis; k++)
        s->at_axis[k] = k;
    s->at_out = 0;
    return node_permute(s->g, x, perm);
}

/* A list of numbers is a tensor of them. */
static Node *list_node(Subscript *s, const Value *v)
{
    const int64_t one = 1;
    Node *all = NULL;
    for (int i = 0; i < v->u.seq->n; i++) {
        const int64_t at = to_int(s->ev, s->at, &v->u.seq->at[i], "a subscript"),
                      n = s->x->shape[s->axis];
        if (!extent_le(s->g, -n, at) || !extent_le(s->g, at + 1, n))
            diag_fail(s->ev->diag, s->at, "subscript %lld of axis %d, which has %s elements "
                      "[tensor-subscript]", (long long)at, s->axis, extent_text(s->g, n));
        Node *next = node_full(s->g, DT_I32, (double)at, 1, &one);
        all = all ? node_concat(s->g, all, next, 0) : next;
    }
    return all ? all : node_full(s->g, DT_I32, 0, 1, &(int64_t){0});
}

static void take_one(Subscript *s, const Value *v)
{
    if (v->kind == V_NONE) {
        if (s->rank == TENSOR_RANK)
            diag_fail(s->ev->diag, s->at, "more than %d axes [tensor-rank]", TENSOR_RANK);
        s->out[s->rank++] = 1;
        return;
    }
    if (s->axis >= s->x->rank)
        diag_fail(s->ev->diag, s->at, "too many subscripts for a tensor of shape %s "
                  "[tensor-subscript]", shape_text(s->g, s->x->rank, s->x->shape));
    if (v->kind == V_SLICE)
        take_slice(s, v);
    else if (v->kind == V_NODE)
        take_tensor(s, v->u.node);
    else if (v->kind == V_LIST)
        take_tensor(s, list_node(s, v));
    else
        take_number(s, v);
}

static bool is_ellipsis(const Value *v)
{
    return v->kind == V_OPAQUE && !strcmp(v->u.s.text, "...");
}

/* From the end where negative, and inside: a position of several axes is no neighbour's. */
static Node *inside(Graph *g, Node *at, int64_t extent)
{
    Node *zero = node_const(g, DT_I32, 0), *size = node_extent(g, extent);
    Node *last = build_number(g, ELEM_SUB, size, 1);
    Node *wrap = build_binary(g, ELEM_ADD, at, size);
    at = node_elem(g, ELEM_WHERE, build_binary(g, ELEM_LT, at, zero), wrap, at);
    return build_binary(g, ELEM_MINIMUM, build_binary(g, ELEM_MAXIMUM, at, zero), last);
}

/* Side by side axes with a tensor each: one axis, positions by the extents. */
static Node *take_tensors(Subscript *s, Node *x)
{
    Graph *g = s->g;
    int64_t shape[TENSOR_RANK];
    int rank = 0;
    Node *at = NULL;
    for (int i = 0; i < s->naxis; i++) {
        int64_t n = x->shape[s->at_axis[i]];
        Node *one = node_cast(g, s->index[i], DT_I32), *size = node_extent(g, n);
        if (s->naxis > 1)
            one = inside(g, one, n);
        at = at ? build_binary(g, ELEM_ADD, build_binary(g, ELEM_MUL, at, size), one) : one;
    }
    for (int d = 0; d < x->rank; d++) {
        if (d > s->at_axis[0] && d < s->at_axis[0] + s->naxis)
            shape[rank - 1] *= x->shape[d];
        else
            shape[rank++] = x->shape[d];
    }
    return node_take(g, node_reshape(g, x, rank, shape), at, s->at_axis[0]);
}

static Value finish_subscript(Subscript *s)
{
    Graph *g = s->g;
    while (s->axis < s->x->rank)
        take_whole(s);
    Node *x = node_slice(g, s->x, s->start, s->step, s->shape);
    if (!s->naxis)
        return node_value(node_reshape(g, x, s->rank, s->out));
    Node *y = take_tensors(s, s->apart ? side_by_side(s, x) : x);
    const int inner = y->rank - (s->x->rank - s->naxis);
    int64_t shape[2 * TENSOR_RANK];
    int rank = 0;
    for (int d = 0; d <= s->rank; d++) {
        for (int e = 0; d == s->at_out && e < inner; e++)
            shape[rank++] = y->shape[s->at_axis[0] + e];
        if (d < s->rank)
            shape[rank++] = s->out[d];
    }
    return node_value(node_reshape(g, y, rank, shape));
}

Value tensor_index(Eval *ev, Span at, const Value *v, const Value *index)
{
    Subscript s = {.ev = ev, .g = tensor_graph(ev, at, "a subscript"), .at = at, .x = v->u.node};
    const Value *all = index->kind == V_TUPLE ? index->u.seq->at : index;
    int n = index->kind == V_TUPLE ? index->u.seq->n : 1, used = 0;
    for (int i = 0, dots = 0; i < n; i++) {
        used += all[i].kind != V_NONE && !is_ellipsis(&all[i]);
        dots += is_ellipsis(&all[i]);
        if (dots > 1)
            diag_fail(ev->diag, at, "a subscript has '...' twice [tensor-subscript]");
    }
    for (int i = 0; i < n; i++) {
        if (!is_ellipsis(&all[i])) {
            take_one(&s, &all[i]);
            continue;
        }
        for (int k = s.x->rank - used; k > 0; k--)
            take_whole(&s);
    }
    return finish_subscript(&s);
}

Value tensor_length(Eval *ev, Span at, const Value *v)
{
    const Node *n = v->u.node;
    if (!n->rank)
        diag_fail(ev->diag, at, "a tensor without axes has no length [tensor-axis]");
    return extent_value(ev->graph, n->shape[0]);
}

int tensor_items(Eval *ev, Span at, const Value *v, Value **out, const char *what)
{
    const Value length = tensor_length(ev, at, v);
    if (length.kind == V_NODE)
        diag_fail(ev->diag, at, "%s: rows of a tensor of %s, which stays open [tensor-extent]",
                  what, extent_text(ev->graph, v->u.node->shape[0]));
    eval_work(ev, at, (size_t)length.u.i);
    *out = NEWN(ev->arena, Value, length.u.i + 1);
    for (int64_t i = 0; i < length.u.i; i++)
        (*out)[i] = tensor_index(ev, at, v, &(Value){.kind = V_INT, .u.i = i});
    return (int)length.u.i;
}
