/* builtin_tensor.c -- tl.NAME of elements, reductions and products. */
#include "front/tensor.h"

#include <math.h>

static const char *name_of(const BuiltinCall *c)
{
    return strchr(c->b->name, '.') + 1;
}

static bool is_named(const BuiltinCall *c, const char *name)
{
    return !strcmp(name_of(c), name);
}

/* ---- elements -------------------------------------------------------------------------------- */

Value do_tensor_elem(BuiltinCall *c)
{
    Elem e = elem_find(name_of(c));
    Node *arg[3] = {NULL, NULL, NULL};
    const Node *like = NULL;
    Graph *g = call_graph(c);
    for (int i = elem_table[e].rule == 'w'; i < elem_table[e].arity && !like; i++)
        like = c->arg[i].kind == V_NODE ? c->arg[i].u.node : NULL;
    for (int i = 0; i < elem_table[e].arity; i++)
        arg[i] = to_node(c->ev, c->arg_span[i], &c->arg[i], like, call_what(c, i));
    g->at = c->span;
    return node_value(node_elem(g, e, arg[0], arg[1], arg[2]));
}

static Node *gelu(Graph *g, Node *x)
{
    Node *e = build_unary(g, ELEM_ERF, build_number(g, ELEM_MUL, x, 0.70710678118654752));
    return build_binary(g, ELEM_MUL, build_number(g, ELEM_MUL, x, 0.5),
                        build_number(g, ELEM_ADD, e, 1));
}

/* max(x, 0) + log(1 + exp(-|x|)): never too large. */
static Node *softplus(Graph *g, Node *x)
{
    Node *far = build_unary(g, ELEM_NEGATIVE, build_unary(g, ELEM_ABS, x));
    return build_binary(g, ELEM_ADD, build_number(g, ELEM_MAXIMUM, x, 0),
                        build_unary(g, ELEM_LOG1P, build_unary(g, ELEM_EXP, far)));
}

/* Elements that compare so with a number become it; what is left, NaN too, and its derivative, is
 * as it was. */
static Node *moved_to(Graph *g, Node *x, Elem how, Node *edge)
{
    return node_elem(g, ELEM_WHERE, build_binary(g, how, x, edge), edge, x);
}

Value do_tensor_activation(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    if (is_named(c, "relu"))
        return node_value(moved_to(g, x, ELEM_LE, node_const(g, x->type, 0)));
    if (is_named(c, "gelu"))
        return node_value(gelu(g, x));
    if (is_named(c, "softplus"))
        return node_value(softplus(g, x));
    return node_value(build_binary(g, ELEM_MUL, x, build_unary(g, ELEM_SIGMOID, x)));
}

Value do_tensor_clip(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    for (int i = 1; i < 3; i++) {
        if (!arg_given(c, i))
            continue;
        Node *edge = to_node(c->ev, c->arg_span[i], &c->arg[i], x, call_what(c, i));
        x = edge->kind == NODE_CONST
                ? moved_to(g, x, i == 1 ? ELEM_LT : ELEM_GT, edge)
                : build_binary(g, i == 1 ? ELEM_MAXIMUM : ELEM_MINIMUM, x, edge);
    }
    return node_value(x);
}

Value do_tensor_astype(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    return node_value(node_cast(c->ev->graph, x, arg_dtype(c, 1, NULL)));
}

/* ---- new tensors ----------------------------------------------------------------------------- */

static int new_shape(const BuiltinCall *c, int i, int64_t *shape)
{
    int n = to_extents(c->ev, c->arg_span[i], &c->arg[i], shape, call_what(c, i));
    for (int d = 0; d < n; d++)
        if (shape[d] < 0)
            arg_fail(c, i, "has an extent of %lld [tensor-shape]", (long long)shape[d]);
    return n;
}

Value do_tensor_iota(BuiltinCall *c)
{
    int64_t shape[TENSOR_RANK];
    Graph *g = call_graph(c);
    int rank;
    if (c->arg[0].kind == V_NODE) {
        rank = c->arg[0].u.node->rank;
        memcpy(shape, c->arg[0].u.node->shape, sizeof shape);
    } else {
        rank = new_shape(c, 0, shape);
    }
    int axis = to_axis(c->ev, c->arg_span[1], &c->arg[1], rank, call_what(c, 1));
    return node_value(node_iota(g, arg_dtype(c, 2, NULL), rank, shape, axis));
}

Value do_tensor_arange(BuiltinCall *c)
{
    Graph *g = call_graph(c);
    bool two = arg_given(c, 1);
    int64_t from = two ? arg_int(c, 0) : 0, step = arg_int(c, 2);
    int64_t to = to_extent(c->ev, c->arg_span[two], &c->arg[two], call_what(c, two));
    if (step == 0)
        arg_fail(c, 2, "must not be 0 [tensor-subscript]");
    if (extent_is_open(g, to) && step != 1)
        arg_fail(c, 2, "is %lld, up to %s, which stays open [tensor-extent]", (long long)step,
                 extent_text(g, to));
    int64_t n = step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step;
    n = MAX(n, 0);
    Node *x = node_iota(g, arg_dtype(c, 3, NULL), 1, &n, 0);
    x = step == 1 ? x : build_number(g, ELEM_MUL, x, (double)step);
    return node_value(from ? build_number(g, ELEM_ADD, x, (double)from) : x);
}

Value do_tensor_full(BuiltinCall *c)
{
    int64_t shape[TENSOR_RANK];
    Graph *g = call_graph(c);
    int rank = new_shape(c, 0, shape);
    bool given = is_named(c, "full");
    DType t = arg_dtype(c, given ? 2 : 1, NULL);
    if (!given)
        return node_value(node_full(g, t, is_named(c, "ones"), rank, shape));
    Node *v = arg_node(c, 1);
    return node_value(node_broadcast(g, node_cast(g, v, t), rank, shape));
}

Value do_tensor_like(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    return node_value(node_full(c->ev->graph, x->type, is_named(c, "ones_like"), x->rank,
                                x->shape));
}

/* ---- reductions ------------------------------------------------------------------------------ */

static int64_t axes_count(const Node *x, const bool *axes)
{
    int64_t n = 1;
    for (int d = 0; d < x->rank; d++)
        n *= axes[d] ? x->shape[d] : 1;
    return n;
}

static Node *variance(Graph *g, Node *x, const bool *axes, int64_t ddof)
{
    const int64_t n = axes_count(x, axes);
    if (!dtype_is_float(x->type))
        x = node_cast(g, x, DT_F32);
    Node *mean = keep_axes(g, build_mean(g, x, axes), x, axes);
    Node *far = build_binary(g, ELEM_SUB, x, mean);
    Node *sum = node_reduce(g, REDUCE_SUM, build_binary(g, ELEM_MUL, far, far), axes);
    return build_share(g, sum, n - ddof);
}

/* An infinite maximum is not taken away: infinities less themselves would be NaN. */
static Node *logsumexp(Graph *g, Node *x, const bool *axes)
{
    Node *most = node_shift(g, x, axes);
    most = node_elem(g, ELEM_WHERE, build_unary(g, ELEM_ISFINITE, most), most,
                     node_const(g, most->type, 0));
    Node *kept = keep_axes(g, most, x, axes);
    Node *e = build_unary(g, ELEM_EXP, build_binary(g, ELEM_SUB, x, kept));
    Node *sum = node_reduce(g, REDUCE_SUM, e, axes);
    return build_binary(g, ELEM_ADD, build_unary(g, ELEM_LOG, sum), most);
}

/* Of no elements none is true, and none is not. */
static Node *truths(Graph *g, Node *x, const bool *axes, ReduceHow how)
{
    Node *is = node_cast(g, node_cast(g, x, DT_BOOL), DT_I32);
    if (axes_count(x, axes) == 0)
        is = node_reduce(g, how == REDUCE_MAX ? REDUCE_SUM : REDUCE_PROD, is, axes);
    else
        is = node_reduce(g, how, is, axes);
    return node_cast(g, is, DT_BOOL);
}

static Node *reduced(BuiltinCall *c, Node *x, const bool *axes)
{
    Graph *g = c->ev->graph;
    if (is_named(c, "any") || is_named(c, "all"))
        return truths(g, x, axes, is_named(c, "any") ? REDUCE_MAX : REDUCE_MIN);
    if (x->type == DT_BOOL)
        x = node_cast(g, x, DT_I32);
    if (is_named(c, "mean"))
        return build_mean(g, x, axes);
    if (is_named(c, "logsumexp"))
        return logsumexp(g, dtype_is_float(x->type) ? x : node_cast(g, x, DT_F32), axes);
    if (is_named(c, "var") || is_named(c, "std")) {
        Node *v = variance(g, x, axes, arg_int(c, 3));
        return is_named(c, "std") ? build_unary(g, ELEM_SQRT, v) : v;
    }
    ReduceHow how = is_named(c, "max")    ? REDUCE_MAX
                    : is_named(c, "min")  ? REDUCE_MIN
                    : is_named(c, "prod") ? REDUCE_PROD
                                          : REDUCE_SUM;
    if ((how == REDUCE_SUM || how == REDUCE_PROD) && dtype_is_int(x->type) &&
        dtype_bits(x->type) < 32)
        x = node_cast(g, x, DT_I32);
    return node_reduce(g, how, x, axes);
}

Value do_tensor_reduce(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    bool axes[TENSOR_RANK] = {0};
    to_axes(c->ev, c->arg_span[1], &c->arg[1], x->rank, axes, call_what(c, 1));
    c->ev->graph->at = c->span;
    Node *y = reduced(c, x, axes);
    return node_value(arg_bool(c, 2) ? keep_axes(c->ev->graph, y, x, axes) : y);
}

Value do_tensor_argmax(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    int64_t all = node_count(x);
    bool axes[TENSOR_RANK] = {0};
    if (!arg_given(c, 1))
        x = node_reshape(g, x, 1, &all);
    int axis = arg_given(c, 1)
                   ? to_axis(c->ev, c->arg_span[1], &c->arg[1], x->rank, call_what(c, 1)) : 0;
    axes[axis] = true;
    Node *y = build_argmax(g, x, axis, is_named(c, "argmin"));
    return node_value(arg_bool(c, 2) ? keep_axes(g, y, x, axes) : y);
}

Value do_tensor_softmax(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    int axis = to_axis(c->ev, c->arg_span[1], &c->arg[1], x->rank, call_what(c, 1));
    return node_value(build_softmax(c->ev->graph, x, axis, is_named(c, "log_softmax")));
}

Value do_tensor_norm(BuiltinCall *c)
{
    const bool layer = is_named(c, "layer_norm");
    Node *x = arg_node(c, 0), *y = x;
    Graph *g = c->ev->graph;
    bool axes[TENSOR_RANK] = {0};
    const int eps = layer ? 3 : 2, axis = eps + 1;
    to_axes(c->ev, c->arg_span[axis], &c->arg[axis], x->rank, axes, call_what(c, axis));
    if (!value_is_number(&c->arg[eps]))
        arg_fail(c, eps, "must be a number [tensor-argument]");
    if (layer)
        y = build_binary(g, ELEM_SUB, x, keep_axes(g, build_mean(g, x, axes), x, axes));
    Node *square = build_mean(g, build_binary(g, ELEM_MUL, y, y), axes);
    Node *by = build_unary(g, ELEM_RSQRT, build_number(g, ELEM_ADD, square,
                                                       value_number(&c->arg[eps])));
    y = build_binary(g, ELEM_MUL, y, keep_axes(g, by, x, axes));
    if (arg_given(c, 1))
        y = build_binary(g, ELEM_MUL, y, arg_node(c, 1));
    if (layer && arg_given(c, 2))
        y = build_binary(g, ELEM_ADD, y, arg_node(c, 2));
    return node_value(y);
}

Value do_tensor_cumsum(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    int axis = to_axis(c->ev, c->arg_span[1], &c->arg[1], x->rank, call_what(c, 1));
    if (x->type == DT_BOOL || (dtype_is_int(x->type) && dtype_bits(x->type) < 32))
        x = node_cast(c->ev->graph, x, DT_I32);
    return node_value(node_scan(c->ev->graph, x, axis, arg_bool(c, 2)));
}

/* ---- products -------------------------------------------------------------------------------- */

Value do_tensor_matmul(BuiltinCall *c)
{
    Node *a = arg_node(c, 0), *b = arg_node(c, 1);
    return node_value(build_matmul(c->ev->graph, a, b));
}

enum { EINSUM_MOST = 16 };

static Node *rest_node(const BuiltinCall *c, int i)
{
    Node *n = to_node(c->ev, c->span, &c->rest[i], NULL, call_title(c));
    return n;
}

typedef struct {
    const char *spec;              /* without dots */
    Node *operand[EINSUM_MOST];
    int n;
} Einsum;

/* Letters that stand nowhere in the labels, for the axes of "...". */
static void free_labels(const BuiltinCall *c, const char *spec, int n, char *out)
{
    int found = 0;
    for (char l = 'A'; l <= 'z' && found < n; l++)
        if ((l <= 'Z' || l >= 'a') && !strchr(spec, l))
            out[found++] = l;
    if (found < n)
        call_fail(c, "\"%s\" leaves no letters for '...' [tensor-einsum]", spec);
    out[n] = 0;
}

static int count_letters(const char *s, size_t n)
{
    int found = 0;
    for (size_t i = 0; i < n; i++)
        found += s[i] != '.' && s[i] != ' ';
    return found;
}

/* Labels of one operand, with some for its dots, which end where those of all others do; an axis of
 * one element there has none, so that it goes with all. */
static void label_dots(const BuiltinCall *c, Einsum *e, int k, const char *s, size_t n,
                       const char *dots, Str *out)
{
    Node *x = e->operand[k];
    int64_t shape[TENSOR_RANK];
    int rank = 0, d = 0;
    const int all = (int)strlen(dots), own = x->rank - count_letters(s, n);
    if (own < 0)
        call_fail(c, "\"%s\" names more axes than %s has [tensor-einsum]", e->spec,
                  shape_text(c->ev->graph, x->rank, x->shape));
    for (size_t i = 0; i < n; i++) {
        if (s[i] == ' ')
            continue;
        if (s[i] != '.') {
            str_putc(out, s[i]);
            shape[rank++] = x->shape[d++];
            continue;
        }
        for (int j = all - own; j < all; j++, d++)
            if (x->shape[d] != 1) {
                str_putc(out, dots[j]);
                shape[rank++] = x->shape[d];
            }
        i += 2;
    }
    e->operand[k] = node_reshape(c->ev->graph, x, rank, shape);
}

/* Labels of the result, where none are said: those of the dots, then those that stand once. */
static void implied_labels(const char *spec, Str *out)
{
    str_puts(out, "->...");
    for (char l = 'A'; l <= 'z'; l++)
        if (strchr(spec, l) && (l <= 'Z' || l >= 'a') && strchr(spec, l) == strrchr(spec, l))
            str_putc(out, l);
}

/* Axes that are all 1 under the dots have no label: they come back at the end. */
static Node *restore_dots(BuiltinCall *c, Node *y, const char *to, const char *dots,
                          const char *named)
{
    int64_t shape[TENSOR_RANK + 1];
    int rank = 0, d = 0;
    for (const char *p = to; *p && rank <= TENSOR_RANK; p++) {
        if (*p == ' ')
            continue;
        if (*p != '.') {
            shape[rank++] = y->shape[d++];
            continue;
        }
        for (const char *l = dots; *l && rank <= TENSOR_RANK; l++)
            shape[rank++] = strchr(named, *l) ? y->shape[d++] : 1;
        p += 2;
    }
    return node_reshape(c->ev->graph, y, rank, shape);
}

static Node *einsum_of(BuiltinCall *c, const Einsum *e);

/* Dots stand by three, once in each part, and there are as many parts as operands. */
static void check_dots(const BuiltinCall *c, const Einsum *e)
{
    int parts = 1, dots = 0;
    for (const char *p = e->spec; *p; p++) {
        parts += *p == ',';
        dots = *p == ',' || *p == '-' ? 0 : dots;
        if (*p == '.' && (strncmp(p, "...", 3) || p[3] == '.' || dots++))
            call_fail(c, "\"%s\": '...' stands once in each part [tensor-einsum]", e->spec);
        p += *p == '.' ? 2 : 0;
    }
    if (parts != e->n)
        call_fail(c, "\"%s\" names %d operands, and there are %d [tensor-einsum]", e->spec, parts,
                  e->n);
}

static Node *einsum_dots(BuiltinCall *c, Einsum *e)
{
    check_dots(c, e);
    char dots[TENSOR_RANK + 1];
    const char *arrow = strstr(e->spec, "->"), *s = e->spec;
    const size_t left = arrow ? (size_t)(arrow - s) : strlen(s);
    int most = 0;
    Str from, to, all;
    str_init(&from, c->ev->arena);
    str_init(&to, c->ev->arena);
    str_init(&all, c->ev->arena);
    for (int i = 0; i < e->n; i++, s++) {
        const size_t n = strcspn(s, ",-");
        if (memmem(s, n, "...", 3))
            most = MAX(most, e->operand[i]->rank - count_letters(s, n));
        s += n;
    }
    free_labels(c, e->spec, most, dots);
    s = e->spec;
    for (int i = 0; i < e->n; i++) {
        const size_t n = strcspn(s, ",-");
        str_puts(&from, i ? "," : "");
        label_dots(c, e, i, s, n, dots, &from);
        s += n + (s[n] == ',');
    }
    if (arrow)
        str_puts(&to, arrow);
    else
        implied_labels(arena_printf(c->ev->arena, "%.*s", (int)left, e->spec), &to);
    str_puts(&all, from.s);
    for (const char *p = to.s; *p; p++) {
        if (*p != '.') {
            str_putc(&all, *p);
            continue;
        }
        for (const char *l = dots; *l; l++)
            if (strchr(from.s, *l))
                str_putc(&all, *l);
        p += 2;
    }
    Einsum plain = *e;
    plain.spec = all.s;
    return restore_dots(c, einsum_of(c, &plain), to.s + 2, dots, from.s);
}

/* More than two operands: from the left, keeping what the rest still names. */
static Node *einsum_many(BuiltinCall *c, const Einsum *e)
{
    Graph *g = c->ev->graph;
    const char *spec = e->spec;
    const char *arrow = strstr(spec, "->");
    if (!arrow)
        call_fail(c, "of more than two operands needs '->' [tensor-einsum]");
    Node *x = e->operand[0];
    const char *s = spec + strcspn(spec, ",-");
    Str have;
    str_init(&have, c->ev->arena);
    str_putn(&have, spec, (size_t)(s - spec));
    for (int i = 1; i < e->n; i++) {
        if (*s != ',')
            call_fail(c, "\"%s\" names fewer operands than there are [tensor-einsum]", spec);
        const char *next = ++s, *end = s + strcspn(s, ",-");
        Str keep;
        str_init(&keep, c->ev->arena);
        for (const char *p = have.s; p < have.s + have.n; p++)
            if (strchr(end, *p) && !strchr(keep.s, *p))
                str_putc(&keep, *p);
        for (const char *p = next; p < end; p++)
            if (strchr(end, *p) && !strchr(keep.s, *p))
                str_putc(&keep, *p);
        const char *to = i + 1 == e->n ? arrow + 2 : keep.s;
        x = build_einsum(g, arena_printf(c->ev->arena, "%s,%.*s->%s", have.s, (int)(end - next),
                                         next, to), x, e->operand[i]);
        have = keep;
        s = end;
    }
    return x;
}

static Node *einsum_of(BuiltinCall *c, const Einsum *e)
{
    return e->n > 2 ? einsum_many(c, e)
                    : build_einsum(c->ev->graph, e->spec, e->operand[0],
                                   e->n > 1 ? e->operand[1] : NULL);
}

Value do_tensor_einsum(BuiltinCall *c)
{
    Einsum e = {.spec = arg_text(c, 0), .n = c->nrest};
    Graph *g = call_graph(c);
    if (!e.spec || e.n < 1 || e.n > EINSUM_MOST)
        call_fail(c, "needs the labels as a str, then 1 to %d tensors [tensor-einsum]",
                  EINSUM_MOST);
    for (int i = 0; i < e.n; i++)
        e.operand[i] = rest_node(c, i);
    g->at = c->span;
    return node_value(strstr(e.spec, "...") ? einsum_dots(c, &e) : einsum_of(c, &e));
}

/* One number for each of n axes, or one for all, none below `least`. */
static void spatial(const BuiltinCall *c, int i, int n, int64_t least, int64_t *out)
{
    int have = arg_ints(c, i, out, n);
    if (have != 1 && have != n)
        arg_fail(c, i, "must be one number or %d [tensor-conv]", n);
    for (int d = 0; d < have; d++)
        if (out[d] < least)
            arg_fail(c, i, "is %lld, and %lld is the least [tensor-conv]", (long long)out[d],
                     (long long)least);
    for (int d = have; d < n; d++)
        out[d] = out[0];
}

Value do_tensor_conv(BuiltinCall *c)
{
    Node *x = arg_node(c, 0), *w = arg_node(c, 1);
    int64_t stride[TENSOR_RANK], padding[TENSOR_RANK], dilation[TENSOR_RANK];
    const int n = x->rank - 2;
    if (n < 1 || n > 3)
        arg_fail(c, 0, "must have 3, 4 or 5 axes, not %d [tensor-conv]", x->rank);
    spatial(c, 2, n, 1, stride);
    spatial(c, 3, n, 0, padding);
    spatial(c, 4, n, 1, dilation);
    const int64_t groups = arg_int(c, 5);
    if (groups < 1)
        arg_fail(c, 5, "is %lld, and 1 is the least [tensor-conv]", (long long)groups);
    return node_value(build_conv(c->ev->graph, x, w, n, stride, padding, dilation, groups));
}

Value do_tensor_pool(BuiltinCall *c)
{
    Node *x = arg_node(c, 0);
    Graph *g = c->ev->graph;
    int64_t size[TENSOR_RANK], stride[TENSOR_RANK], padding[TENSOR_RANK], lo[TENSOR_RANK] = {0},
            one[TENSOR_RANK], shape[TENSOR_RANK];
    const int n = arg_ints(c, 1, size, 3), first = x->rank - n;
    const bool most = is_named(c, "max_pool");
    bool axes[TENSOR_RANK] = {0};
    if (n > x->rank)
        arg_fail(c, 1, "names more axes than there are [tensor-conv]");
    spatial(c, 1, n, 1, size);
    memcpy(stride, size, sizeof stride);
    if (arg_given(c, 2))
        spatial(c, 2, n, 1, stride);
    spatial(c, 3, n, 0, padding);
    for (int d = 0; d < x->rank; d++) {
        lo[d] = d < first ? 0 : padding[d - first];
        one[d] = 1;
        shape[d] = x->shape[d] + 2 * lo[d];
    }
    Node *p = node_pad(g, x, lo, one, shape, most ? -INFINITY : 0);
    for (int d = 0; d < n; d++) {
        p = node_window(g, p, first + 2 * d, size[d], stride[d], 1);
        axes[first + 2 * d + 1] = true;
    }
    return node_value(most ? node_reduce(g, REDUCE_MAX, p, axes) : build_mean(g, p, axes));
}
