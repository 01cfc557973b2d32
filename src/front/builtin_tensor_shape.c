/* builtin_tensor_shape.c -- tl.NAME of layout, positions, order, random and quantised numbers. */
#include "front/tensor.h"

static bool is_named(const BuiltinCall *c, const char *name)
{
    return !strcmp(strchr(c->b->name, '.') + 1, name);
}

static int call_axis(const BuiltinCall *c, int i, int rank)
{
    return to_axis(c->ev, c->arg_span[i], &c->arg[i], rank, call_what(c, i));
}

/* What `*rest` took, or the one sequence in it. */
static Value rest_tuple(const BuiltinCall *c)
{
    if (c->nrest == 1 && value_is_seq(&c->rest[0]))
        return c->rest[0];
    return value_tuple(c->ev, c->rest, c->nrest);
}

/* ---- layout ---------------------------------------------------------------------------------- */

Value do_tensor_reshape(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Value v = rest_tuple(c);
    int64_t shape[TENSOR_RANK], known = 1;
    int rank = to_extents(c->ev, c->span, &v, shape, call_title(c)), open = -1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0 && open >= 0)
            call_fail(c, "two extents are -1 [tensor-shape]");
        open = shape[d] < 0 ? d : open;
        known *= shape[d] < 0 ? 1 : shape[d];
    }
    if (open >= 0)
        shape[open] = known ? node_count(x) / known : 0;
    return node_value(node_reshape(c->ev->graph, x, rank, shape));
}

Value do_tensor_transpose(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Value v = rest_tuple(c);
    int perm[TENSOR_RANK];
    bool seen[TENSOR_RANK] = {0};
    int n = c->nrest ? v.u.seq->n : x->rank;
    if (n != x->rank)
        call_fail(c, "%d axes are named of %d [tensor-axis]", n, x->rank);
    for (int d = 0; d < n; d++) {
        perm[d] = c->nrest ? to_axis(c->ev, c->span, &v.u.seq->at[d], x->rank, call_title(c))
                           : x->rank - 1 - d;
        if (seen[perm[d]])
            call_fail(c, "axis %d is named twice [tensor-axis]", perm[d]);
        seen[perm[d]] = true;
    }
    return node_value(node_permute(c->ev->graph, x, perm));
}

Value do_tensor_swapaxes(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    int perm[TENSOR_RANK], a = call_axis(c, 1, x->rank), b = call_axis(c, 2, x->rank);
    for (int d = 0; d < x->rank; d++)
        perm[d] = d == a ? b : d == b ? a : d;
    return node_value(node_permute(c->ev->graph, x, perm));
}

static Node *with_axis(Graph *g, Node *x, int axis)
{
    int64_t shape[TENSOR_RANK + 1];
    for (int d = 0; d <= x->rank; d++)
        shape[d] = d < axis ? x->shape[d] : d == axis ? 1 : x->shape[d - 1];
    return node_reshape(g, x, x->rank + 1, shape);
}

Value do_tensor_expand(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    return node_value(with_axis(c->ev->graph, x, call_axis(c, 1, x->rank + 1)));
}

Value do_tensor_squeeze(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    bool axes[TENSOR_RANK];
    int64_t shape[TENSOR_RANK];
    int rank = 0;
    to_axes(c->ev, c->arg_span[1], &c->arg[1], x->rank, axes, call_what(c, 1));
    for (int d = 0; d < x->rank; d++) {
        if (axes[d] && x->shape[d] != 1 && arg_given(c, 1))
            arg_fail(c, 1, "names axis %d, which has %s elements [tensor-axis]", d,
                     extent_text(c->ev->graph, x->shape[d]));
        if (!axes[d] || x->shape[d] != 1)
            shape[rank++] = x->shape[d];
    }
    return node_value(node_reshape(c->ev->graph, x, rank, shape));
}

Value do_tensor_broadcast(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    int64_t shape[TENSOR_RANK];
    int rank = to_extents(c->ev, c->arg_span[1], &c->arg[1], shape, call_what(c, 1));
    return node_value(node_broadcast(c->ev->graph, x, rank, shape));
}

Value do_tensor_join(BuiltinCall *c)
{
    Graph *g = call_graph(c);
    const bool fresh = is_named(c, "stack");
    if (!value_is_seq(&c->arg[0]) || c->arg[0].u.seq->n == 0)
        arg_fail(c, 0, "must be a tuple or list of tensors [tensor-shape]");
    Node *all = NULL;
    for (int i = 0; i < c->arg[0].u.seq->n; i++) {
        Node *x = to_node(c->ev, c->arg_span[0], &c->arg[0].u.seq->at[i], NULL, call_what(c, 0));
        int axis = call_axis(c, 1, x->rank + fresh);
        g->at = c->span;
        x = fresh ? with_axis(g, x, axis) : x;
        all = all ? node_concat(g, all, x, axis) : x;
    }
    return node_value(all);
}

static Node *piece(Graph *g, Node *x, int axis, int64_t from, int64_t to)
{
    int64_t start[TENSOR_RANK] = {0}, step[TENSOR_RANK], shape[TENSOR_RANK];
    for (int d = 0; d < x->rank; d++) {
        step[d] = 1;
        shape[d] = x->shape[d];
    }
    start[axis] = from;
    shape[axis] = MAX(to - from, 0);
    return node_slice(g, x, start, step, shape);
}

Value do_tensor_split(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    const int axis = call_axis(c, 2, x->rank);
    const int64_t n = x->shape[axis];
    Value parts = value_seq(c->ev, V_LIST, NULL, 0);
    const bool places = value_is_seq(&c->arg[1]);
    int64_t count = places ? c->arg[1].u.seq->n + 1 : arg_int(c, 1), from = 0;
    if (!places && (count <= 0 || !extent_divides(g, count, n)))
        arg_fail(c, 1, "is %lld, which does not divide the %s elements of axis %d "
                 "[tensor-argument]", (long long)count, extent_text(g, n), axis);
    for (int64_t i = 0; i < count; i++) {
        int64_t to = !places ? (i + 1) * (n / count)
                     : i + 1 < count ? to_extent(c->ev, c->arg_span[1], &c->arg[1].u.seq->at[i],
                                                 call_what(c, 1)) : n;
        if (extent_is_open(g, n) && !extent_le(g, to, n))
            arg_fail(c, 1, "has a place %s of an axis of %s, which stays open [tensor-extent]",
                     extent_text(g, to), extent_text(g, n));
        Value v = node_value(piece(g, x, axis, from, MIN(to, n)));
        seq_push(c->ev, parts.u.seq, &v);
        from = MIN(to, n);
    }
    return value_tuple(c->ev, parts.u.seq->at, parts.u.seq->n);
}

/* One number, (before, behind), or a pair for each axis. */
Value do_tensor_pad(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    const Value *w = &c->arg[1];
    int64_t lo[TENSOR_RANK], one[TENSOR_RANK], shape[TENSOR_RANK];
    if (!value_is_number(&c->arg[2]))
        arg_fail(c, 2, "must be a number [tensor-argument]");
    for (int d = 0; d < x->rank; d++) {
        const Value *pair = w, *at;
        if (value_is_seq(w) && w->u.seq->n && value_is_seq(&w->u.seq->at[0])) {
            if (w->u.seq->n != x->rank)
                arg_fail(c, 1, "has %d pairs for %d axes [tensor-argument]", w->u.seq->n, x->rank);
            pair = &w->u.seq->at[d];
        }
        at = value_is_seq(pair) && pair->u.seq->n == 2 ? pair->u.seq->at : NULL;
        if (!at && value_is_seq(pair))
            arg_fail(c, 1, "must be a number, a pair, or a pair for each axis [tensor-argument]");
        lo[d] = to_int(c->ev, c->arg_span[1], at ? &at[0] : pair, call_what(c, 1));
        int64_t hi = to_int(c->ev, c->arg_span[1], at ? &at[1] : pair, call_what(c, 1));
        if (lo[d] < 0 || hi < 0)
            arg_fail(c, 1, "must not be negative [tensor-argument]");
        one[d] = 1;
        shape[d] = x->shape[d] + lo[d] + hi;
    }
    return node_value(node_pad(c->ev->graph, x, lo, one, shape, value_number(&c->arg[2])));
}

Value do_tensor_flip(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    bool axes[TENSOR_RANK];
    int64_t start[TENSOR_RANK], step[TENSOR_RANK];
    to_axes(c->ev, c->arg_span[1], &c->arg[1], x->rank, axes, call_what(c, 1));
    for (int d = 0; d < x->rank; d++) {
        start[d] = axes[d] ? x->shape[d] - 1 : 0;
        step[d] = axes[d] ? -1 : 1;
    }
    return node_value(node_slice(c->ev->graph, x, start, step, x->shape));
}

Value do_tensor_roll(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    int axis = call_axis(c, 2, x->rank);
    int64_t n = MAX(x->shape[axis], 1), by = ((arg_int(c, 1) % n) + n) % n;
    Graph *g = c->ev->graph;
    if (extent_is_open(g, n) && !extent_le(g, by + 1, n))
        arg_fail(c, 1, "is not known to be less than %s, which stays open [tensor-extent]",
                 extent_text(g, n));
    return node_value(node_concat(g, piece(g, x, axis, n - by, n), piece(g, x, axis, 0, n - by),
                                  axis));
}

/* ---- positions ------------------------------------------------------------------------------- */

Value do_tensor_take(BuiltinCall *c)
{
    Node *x = arg_node(c, 0), *at = arg_node(c, 1);
    Graph *g = c->ev->graph;
    int64_t all = node_count(x);
    if (!arg_given(c, 2))
        x = node_reshape(g, x, 1, &all);
    int axis = arg_given(c, 2) ? call_axis(c, 2, x->rank) : 0;
    g->at = c->span;
    return node_value(is_named(c, "take") ? node_take(g, x, at, axis) : node_along(g, x, at, axis));
}

Value do_tensor_scatter(BuiltinCall *c)
{
    Node *x = arg_node(c, 0), *at = arg_node(c, 1);
    Node *v = to_node(c->ev, c->arg_span[2], &c->arg[2], x, call_what(c, 2));
    int axis = call_axis(c, 3, x->rank);
    c->ev->graph->at = c->span;
    return node_value(node_scatter(c->ev->graph, x, at, v, axis, is_named(c, "scatter_add")));
}

Value do_tensor_one_hot(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    int64_t n = to_extent(c->ev, c->arg_span[1], &c->arg[1], call_what(c, 1));
    Node *at = node_iota(g, x->type, 1, &n, 0);
    Node *is = build_binary(g, ELEM_EQ, with_axis(g, x, x->rank), at);
    return node_value(node_cast(g, is, arg_dtype(c, 2, NULL)));
}

Value do_tensor_sort(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    const bool top = is_named(c, "top_k");
    const int axis = call_axis(c, top ? 2 : 1, x->rank);
    int64_t n = top ? arg_int(c, 1) : x->shape[axis];
    if (n < 0 || !extent_le(g, n, x->shape[axis]))
        arg_fail(c, 1, "is %s of the %s elements of axis %d [tensor-argument]", extent_text(g, n),
                 extent_text(g, x->shape[axis]), axis);
    Node *at = node_iota(g, DT_I32, x->rank, x->shape, axis);
    if (top) {
        build_top(g, &x, &at, axis, n);
        return value_tuple(c->ev, (Value[]){node_value(x), node_value(at)}, 2);
    }
    build_order(g, &x, &at, axis, arg_bool(c, 2));
    return node_value(is_named(c, "sort") ? x : at);
}

/* ---- random and quantised numbers ------------------------------------------------------------ */

static Node *uniform(Graph *g, Node *bits)
{
    Node *high = build_number(g, ELEM_SHR, bits, 8);
    return build_number(g, ELEM_MUL, node_cast(g, high, DT_F32), 1.0 / (1 << 24));
}

/* Box and Muller: two uniform numbers, the first never 0. */
static Node *normal(Graph *g, int rank, const int64_t *shape, Node *seed)
{
    Node *a = uniform(g, build_random(g, rank, shape, seed));
    Node *other = build_number(g, ELEM_BITXOR, node_cast(g, seed, DT_U32), (double)0x5BD1E995u);
    Node *b = uniform(g, build_random(g, rank, shape, other));
    Node *left = build_number(g, ELEM_ADD, build_unary(g, ELEM_NEGATIVE, a), 1);
    Node *r = build_unary(g, ELEM_SQRT, build_number(g, ELEM_MUL, build_unary(g, ELEM_LOG, left),
                                                     -2));
    return build_binary(g, ELEM_MUL, r,
                        build_unary(g, ELEM_COS, build_number(g, ELEM_MUL, b, 6.283185307179586)));
}

Value do_tensor_random(BuiltinCall *c)
{
    int64_t shape[TENSOR_RANK];
    Graph *g = call_graph(c);
    int rank = to_extents(c->ev, c->arg_span[0], &c->arg[0], shape, call_what(c, 0));
    Node *seed = arg_node(c, 1);
    if (is_named(c, "random_normal"))
        return node_value(normal(g, rank, shape, seed));
    Node *bits = build_random(g, rank, shape, seed);
    return node_value(is_named(c, "random_bits") ? bits : uniform(g, bits));
}

Value do_tensor_quantize(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    DType t = arg_dtype(c, 1, NULL);
    bool axes[TENSOR_RANK];
    to_axes(c->ev, c->arg_span[2], &c->arg[2], x->rank, axes, call_what(c, 2));
    Node *wide = node_cast(g, x, compute_type(x->type));
    Node *most = keep_axes(g, node_reduce(g, REDUCE_MAX, build_unary(g, ELEM_ABS, wide), axes), x,
                           axes);
    Node *scale = build_number(g, ELEM_MAXIMUM,
                               build_number(g, ELEM_MUL, most, 1.0 / dtype_max(t)), 1e-30);
    Node *q = build_binary(g, ELEM_DIV, wide, scale);
    if (!dtype_is_float(t))
        q = build_unary(g, ELEM_ROUND, q);
    q = build_number(g, ELEM_MINIMUM, build_number(g, ELEM_MAXIMUM, q, -dtype_max(t)),
                     dtype_max(t));
    Value both[2] = {node_value(node_cast(g, q, t)), node_value(scale)};
    return value_tuple(c->ev, both, 2);
}

Value do_tensor_dequantize(BuiltinCall *c)
{
    Node *q = arg_node(c, 0), *scale = arg_node(c, 1);
    DType t = arg_dtype(c, 2, NULL);
    return node_value(build_binary(c->ev->graph, ELEM_MUL, node_cast(c->ev->graph, q, t), scale));
}
