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

static Node *number_node(Graph *g, const Value *v, const Node *like)
{
    double x = v->kind == V_FLOAT ? v->u.f : (double)v->u.i;
    DType t = v->kind == V_BOOL ? DT_BOOL : v->kind == V_INT ? DT_I32 : DT_F32;
    if (like && like->type != DT_BOOL && v->kind != V_BOOL &&
        (v->kind == V_INT || dtype_is_float(like->type)))
        t = like->type;
    return node_const(g, t, x);
}

Node *to_node(Eval *ev, Span at, const Value *v, const Node *like, const char *what)
{
    Graph *g = tensor_graph(ev, at, what);
    if (v->kind == V_NODE)
        return v->u.node;
    if (is_number(v))
        return number_node(g, v, like);
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
        diag_fail(ev->diag, at, "%s is %lld, but there are %d axes [tensor-axis]", what,
                  (long long)d, rank);
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
    for (int i = 0; i < v->u.seq->n; i++)
        axes[to_axis(ev, at, &v->u.seq->at[i], rank, what)] = true;
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

bool tensor_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b, Value *out)
{
    if (a->kind != V_NODE && b->kind != V_NODE)
        return false;
    const char *what = arena_printf(ev->arena, "the operand of '%s'", token_text(op));
    Node *x = a->kind == V_NODE ? a->u.node : NULL, *y = b->kind == V_NODE ? b->u.node : NULL;
    Node *l = x ? x : to_node(ev, at, a, y, what), *r = y ? y : to_node(ev, at, b, x, what);
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
    if (!s->naxis)
        s->at_out = s->rank;
    s->at_axis[s->naxis] = d;
    s->index[s->naxis++] = n;
    take_whole(s);
    if (s->naxis > 1 && s->at_axis[s->naxis - 2] != d - 1)
        diag_fail(s->ev->diag, s->at, "tensors as subscripts must stand side by side "
                  "[tensor-subscript]");
    s->rank--;
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
    else
        take_number(s, v);
}

static bool is_ellipsis(const Value *v)
{
    return v->kind == V_OPAQUE && !strcmp(v->u.s.text, "...");
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
        Node *zero = node_const(g, DT_I32, 0), *one = node_cast(g, s->index[i], DT_I32);
        Node *size = node_extent(g, n), *wrap = build_binary(g, ELEM_ADD, one, size);
        if (s->naxis > 1)
            one = node_elem(g, ELEM_WHERE, build_binary(g, ELEM_LT, one, zero), wrap, one);
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
    Node *y = take_tensors(s, x);
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
    for (int i = 0; i < n; i++)
        used += all[i].kind != V_NONE && !is_ellipsis(&all[i]);
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
