/* grad.c -- reverse mode: from the last node to the first, each adds to what its operands get.
 *
 * Elements follow the formulas of ops.def; what a broadcast stretched is summed, what a reduction
 * summed is broadcast, positions go back the way they came. */
#include "tensor/attention.h"

#include <stdlib.h>

typedef struct {
    Graph *g;
    Node **into;   /* by id: what flows into it, or NULL */
    Node **again;  /* by id: weights of attention, computed again from their rows, or NULL */
    bool wide;     /* what flows on stays float32 */
    int n;
} Flow;

/* ---- formulas -------------------------------------------------------------------------------- */

/* sum := product (("+" | "-") product)*;  product := factor (("*" | "/") factor)*;
 * factor := number | letter | name "(" sum ("," sum)* ")" | "(" sum ")", compared by >= or <= */
typedef struct {
    Graph *g;
    const char *s;
    Node *value[128]; /* of letters */
} Formula;

static Node *sum(Formula *f);

static void blanks(Formula *f)
{
    while (*f->s == ' ')
        f->s++;
}

static bool take(Formula *f, const char *word)
{
    blanks(f);
    size_t n = strlen(word);
    if (strncmp(f->s, word, n))
        return false;
    f->s += n;
    return true;
}

static Node *call(Formula *f, const char *name, size_t n)
{
    Node *arg[3] = {NULL, NULL, NULL};
    int k = 0;
    do {
        arg[k++] = sum(f);
    } while (take(f, ","));
    take(f, ")");
    Elem e = elem_find(arena_strndup(f->g->arena, name, n));
    BUG(e == ELEM_COUNT, "no operator '%.*s' in a formula", (int)n, name);
    return node_elem(f->g, e, arg[0], arg[1], arg[2]);
}

static Node *factor(Formula *f)
{
    char *end;
    if (take(f, "(")) {
        Node *n = sum(f);
        take(f, ")");
        return n;
    }
    double v = strtod(f->s, &end);
    if (end != f->s) {
        f->s = end;
        return node_const(f->g, f->value['g']->type, v);
    }
    const char *name = f->s;
    while ((*f->s >= 'a' && *f->s <= 'z') || *f->s == '_' || (*f->s >= '0' && *f->s <= '9'))
        f->s++;
    size_t n = (size_t)(f->s - name);
    return take(f, "(") ? call(f, name, n) : f->value[(int)*name];
}

static Node *product(Formula *f)
{
    Node *n = factor(f);
    for (;;) {
        if (take(f, "*"))
            n = node_elem(f->g, ELEM_MUL, n, factor(f), NULL);
        else if (take(f, "/"))
            n = node_elem(f->g, ELEM_DIV, n, factor(f), NULL);
        else
            return n;
    }
}

static Node *sum(Formula *f)
{
    Node *n = product(f);
    for (;;) {
        if (take(f, "=="))
            n = node_elem(f->g, ELEM_EQ, n, product(f), NULL);
        else if (take(f, ">="))
            n = node_elem(f->g, ELEM_GE, n, product(f), NULL);
        else if (take(f, "<="))
            n = node_elem(f->g, ELEM_LE, n, product(f), NULL);
        else if (take(f, "+"))
            n = node_elem(f->g, ELEM_ADD, n, product(f), NULL);
        else if (take(f, "-"))
            n = node_elem(f->g, ELEM_SUB, n, product(f), NULL);
        else
            return n;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void give(Flow *f, Node *to, Node *d)
{
    if (!dtype_is_float(to->type) || !d)
        return;
    if (!f->wide)
        d = node_cast(f->g, d, to->type);
    BUG(to->id >= f->n, "a derivative flows to a later node");
    Node **at = &f->into[to->id];
    *at = *at ? node_elem(f->g, ELEM_ADD, *at, d, NULL) : d;
}

static void back_elem(Flow *f, Node *n, Node *d)
{
    Formula q = {.g = f->g};
    q.value['a'] = n->arg[0];
    q.value['b'] = n->arg[1];
    q.value['c'] = n->arg[2];
    q.value['y'] = n;
    q.value['g'] = d;
    if (n->how == ELEM_WHERE) {
        Node *zero = node_const(f->g, d->type, 0);
        give(f, n->arg[1], node_elem(f->g, ELEM_WHERE, n->arg[0], d, zero));
        give(f, n->arg[2], node_elem(f->g, ELEM_WHERE, n->arg[0], zero, d));
        return;
    }
    for (int k = 0; k < n->narg && k < 2; k++) {
        q.s = elem_table[n->how].grad[k];
        if (*q.s && dtype_is_float(n->arg[k]->type))
            give(f, n->arg[k], sum(&q));
    }
}

static void back_broadcast(Flow *f, Node *n, Node *d)
{
    const Node *a = n->arg[0];
    bool axes[TENSOR_RANK] = {0};
    for (int k = 0; k < n->rank; k++) {
        int own = k - (n->rank - a->rank);
        axes[k] = own < 0 || (a->shape[own] == 1 && n->shape[k] != 1);
    }
    Node *s = node_reduce(f->g, REDUCE_SUM, d, axes);
    give(f, n->arg[0], node_reshape(f->g, s, a->rank, a->shape));
}

static void back_permute(Flow *f, Node *n, Node *d)
{
    int inverse[TENSOR_RANK];
    for (int k = 0; k < n->rank; k++)
        inverse[n->attr[k]] = k;
    give(f, n->arg[0], node_permute(f->g, d, inverse));
}

static Node *flipped(Graph *g, Node *x, const bool *axes)
{
    int64_t start[TENSOR_RANK], step[TENSOR_RANK];
    for (int d = 0; d < x->rank; d++) {
        start[d] = axes[d] ? x->shape[d] - 1 : 0;
        step[d] = axes[d] ? -1 : 1;
    }
    return node_slice(g, x, start, step, x->shape);
}

static void back_slice(Flow *f, Node *n, Node *d)
{
    int64_t lo[TENSOR_RANK], step[TENSOR_RANK];
    bool back[TENSOR_RANK] = {0};
    for (int k = 0; k < n->rank; k++) {
        int64_t by = n->attr[TENSOR_RANK + k];
        back[k] = by < 0;
        step[k] = by < 0 ? -by : by;
        lo[k] = by < 0 ? n->attr[k] + (n->shape[k] - 1) * by : n->attr[k];
    }
    d = flipped(f->g, d, back);
    give(f, n->arg[0], node_pad(f->g, d, lo, step, n->arg[0]->shape, 0));
}

static void back_pad(Flow *f, Node *n, Node *d)
{
    give(f, n->arg[0], node_slice(f->g, d, n->attr, n->attr + TENSOR_RANK, n->arg[0]->shape));
}

static void back_concat(Flow *f, Node *n, Node *d)
{
    const int axis = (int)n->attr[0];
    int64_t start[TENSOR_RANK] = {0}, step[TENSOR_RANK];
    for (int k = 0; k < n->rank; k++)
        step[k] = 1;
    give(f, n->arg[0], node_slice(f->g, d, start, step, n->arg[0]->shape));
    start[axis] = n->arg[0]->shape[axis];
    give(f, n->arg[1], node_slice(f->g, d, start, step, n->arg[1]->shape));
}

/* Each element is in some windows: the sum over the offsets it has in them. */
static void back_window(Flow *f, Node *n, Node *d)
{
    const int axis = (int)n->attr[0];
    bool axes[TENSOR_RANK] = {0};
    axes[axis + 1] = true;
    Node *wide = node_spread(f->g, d, axis, n->arg[0]->shape[axis], n->attr[2], n->attr[3]);
    give(f, n->arg[0], node_reduce(f->g, REDUCE_SUM, wide, axes));
}

static void back_take(Flow *f, Node *n, Node *d)
{
    Node *a = n->arg[0], *zero = node_full(f->g, a->type, 0, a->rank, a->shape);
    const int axis = (int)n->attr[0];
    if (n->kind == NODE_TAKE) {
        give(f, a, node_scatter(f->g, zero, n->arg[1], d, axis, true));
        return;
    }
    /* Along an axis: 1 where the position is meant, summed over the positions. */
    int64_t at[TENSOR_RANK + 1], from[TENSOR_RANK + 1];
    bool axes[TENSOR_RANK] = {0};
    for (int k = 0; k <= a->rank; k++) {
        at[k] = k < axis ? a->shape[k] : k == axis ? 1 : n->shape[k - 1];
        from[k] = k == axis ? a->shape[axis] : 1;
    }
    Node *place = node_iota(f->g, n->arg[1]->type, a->rank + 1, from, axis);
    Node *same = node_elem(f->g, ELEM_EQ, place, node_reshape(f->g, n->arg[1], a->rank + 1, at),
                           NULL);
    Node *part = node_elem(f->g, ELEM_WHERE, same, node_reshape(f->g, d, a->rank + 1, at),
                           node_const(f->g, d->type, 0));
    axes[axis + 1] = true;
    give(f, a, node_reduce(f->g, REDUCE_SUM, part, axes));
}

static Node *stretched(Graph *g, Node *n, Node *reduced)
{
    bool axes[TENSOR_RANK];
    for (int d = 0; d < n->arg[0]->rank; d++)
        axes[d] = n->attr[d];
    return node_broadcast(g, keep_axes(g, reduced, n->arg[0], axes), n->arg[0]->rank,
                          n->arg[0]->shape);
}

/* The product of all elements but the one at each place: 0 where another one is 0. */
static Node *others_product(Graph *g, Node *n, const bool *axes)
{
    Node *a = n->arg[0], *zero = node_const(g, a->type, 0), *one = node_const(g, a->type, 1);
    Node *is = build_binary(g, ELEM_EQ, a, zero), *rest = node_elem(g, ELEM_WHERE, is, one, a);
    Node *count = node_cast(g, is, DT_I32);
    Node *zeros = stretched(g, n, node_reduce(g, REDUCE_SUM, count, axes));
    Node *all = stretched(g, n, node_reduce(g, REDUCE_PROD, rest, axes));
    return node_elem(g, ELEM_WHERE, build_binary(g, ELEM_EQ, zeros, count),
                     build_binary(g, ELEM_DIV, all, rest), zero);
}

/* Of equal largest elements each gets its part, as in torch.amax. */
static void back_reduce(Flow *f, Node *n, Node *d)
{
    Graph *g = f->g;
    if (node_is_shift(n))
        return;
    Node *a = n->arg[0], *wide = stretched(g, n, d), *y = stretched(g, n, n);
    bool axes[TENSOR_RANK];
    for (int k = 0; k < a->rank; k++)
        axes[k] = n->attr[k];
    if (n->how == REDUCE_SUM) {
        give(f, a, wide);
        return;
    }
    if (n->how == REDUCE_PROD) {
        give(f, a, build_binary(g, ELEM_MUL, wide, others_product(g, n, axes)));
        return;
    }
    node_compared(g, a, -1);
    Node *best = node_cast(g, node_elem(g, ELEM_EQ, a, y, NULL), a->type);
    Node *count = stretched(g, n, node_reduce(g, REDUCE_SUM, best, axes));
    give(f, a, node_elem(g, ELEM_DIV, node_elem(g, ELEM_MUL, wide, best, NULL), count, NULL));
}

/* ---- attention ------------------------------------------------------------------------------- */

static bool has_dot(Graph *g, Node *n)
{
    bool has = n->kind == NODE_DOT;
    if (n->seen == g->nseen)
        return false;
    n->seen = g->nseen;
    for (int i = 0; i < n->narg && !has && is_inline(n); i++)
        has = has_dot(g, n->arg[i]);
    return has;
}

static bool read_once(const Flow *f, const Node *n)
{
    int uses = 0;
    for (int i = n->id + 1; i < f->n; i++)
        for (int k = 0; k < f->g->nodes.at[i]->narg; k++)
            uses += f->g->nodes.at[i]->arg[k] == n;
    return uses == 1;
}

/* The softmax of another product's rows that is the left operand of n and read by nothing else. */
static Node *weights_in(const Flow *f, const Node *n, Softmax *s)
{
    Node *w = n->arg[0];
    f->g->nseen++;
    while ((w->kind == NODE_RESHAPE || w->kind == NODE_PERMUTE || w->kind == NODE_CAST) &&
           read_once(f, w))
        w = w->arg[0];
    return match_softmax(w, s) && dtype_bits(s->scores->type) <= 32 && dtype_bits(n->type) <= 32 &&
                   has_dot(f->g, s->scores) && read_once(f, w)
               ? w : NULL;
}

/* exp(scores - log(sum(exp(scores)))) in float32: what the rows keep is one number each. */
static Node *weights_again(Graph *g, const Softmax *s)
{
    Node *log2_e = node_const(g, DT_F32, LOG2_E), *x = node_cast(g, s->scores, DT_F32);
    Node *top = build_binary(g, ELEM_MUL, node_cast(g, s->max, DT_F32), log2_e);
    Node *rows = build_binary(g, ELEM_ADD,
                              build_unary(g, ELEM_LOG2, node_cast(g, s->sum, DT_F32)), top);
    bool axes[TENSOR_RANK];
    for (int d = 0; d < x->rank; d++)
        axes[d] = s->sum->attr[d];
    rows = keep_axes(g, rows, x, axes);
    x = build_binary(g, ELEM_MUL, x, log2_e);
    return build_unary(g, ELEM_EXP2, build_binary(g, ELEM_SUB, x, rows));
}

/* From weights w to the operand a that is a view of them, the same of `again`. */
static Node *viewed(Graph *g, const Node *a, const Node *w, Node *again)
{
    int perm[TENSOR_RANK];
    if (a == w)
        return node_cast(g, again, w->type);
    Node *x = viewed(g, a->arg[0], w, again);
    for (int d = 0; d < a->rank; d++)
        perm[d] = (int)a->attr[d];
    return a->kind == NODE_RESHAPE   ? node_reshape(g, x, a->rank, a->shape)
           : a->kind == NODE_PERMUTE ? node_permute(g, x, perm)
                                     : node_cast(g, x, a->type);
}

/* y = w @ v with w = softmax(s): ds = w * (dw - sum(w * dw)), and the sum is that of y * dy.  The
 * weights are computed again, in float32, so that fuse.c need not store them. */
static void back_attention(Flow *f, Node *n, Node *d, const Node *w, const Softmax *s)
{
    Graph *g = f->g;
    Node *again = f->again[w->id] = weights_again(g, s);
    Node *both = build_binary(g, ELEM_MUL, node_cast(g, d, DT_F32), node_cast(g, n, DT_F32));
    const bool axes[TENSOR_RANK] = {false, false, true};
    Node *mean = keep_axes(g, node_reduce(g, REDUCE_SUM, both, axes), both, axes);
    Node *dw = node_cast(g, build_einsum(g, "bmn,bkn->bmk", d, n->arg[1]), DT_F32);
    give(f, n->arg[1], build_einsum(g, "bmk,bmn->bkn", viewed(g, n->arg[0], w, again), d));
    f->wide = true;
    give(f, n->arg[0], build_binary(g, ELEM_SUB, dw, mean));
    f->wide = false;
}

static void back_weights(Flow *f, const Node *n, Node *d)
{
    Softmax s;
    match_softmax((Node *)n, &s);
    f->wide = true;
    give(f, s.scores, build_binary(f->g, ELEM_MUL, f->again[n->id], d));
    f->wide = false;
}

static void back_dot(Flow *f, Node *n, Node *d)
{
    Graph *g = f->g;
    Softmax s;
    Node *w = weights_in(f, n, &s);
    if (w) {
        back_attention(f, n, d, w, &s);
        return;
    }
    give(f, n->arg[0], build_einsum(g, "bmn,bkn->bmk", d, n->arg[1]));
    give(f, n->arg[1], build_einsum(g, "bmk,bmn->bkn", n->arg[0], d));
}

static void back_scatter(Flow *f, Node *n, Node *d)
{
    Graph *g = f->g;
    const int axis = (int)n->attr[0];
    Node *kept = d;
    if (!n->attr[1])
        kept = node_scatter(g, d, n->arg[1], node_const(g, d->type, 0), axis, false);
    give(f, n->arg[0], kept);
    give(f, n->arg[2], node_take(g, d, n->arg[1], axis));
}

static void back(Flow *f, Node *n, Node *d)
{
    Graph *g = f->g;
    const bool passes = n->kind == NODE_ELEM || n->kind == NODE_RESHAPE ||
                        n->kind == NODE_PERMUTE || n->kind == NODE_CAST;
    if (f->again[n->id]) {
        back_weights(f, n, d);
        return;
    }
    if (!passes)
        d = node_cast(g, d, n->type);
    f->wide = d->type != n->type;
    switch (n->kind) {
    case NODE_ELEM: back_elem(f, n, d); break;
    case NODE_CAST: give(f, n->arg[0], d); break;
    case NODE_RESHAPE:
        give(f, n->arg[0], node_reshape(g, d, n->arg[0]->rank, n->arg[0]->shape));
        break;
    case NODE_PERMUTE: back_permute(f, n, d); break;
    case NODE_BROADCAST: back_broadcast(f, n, d); break;
    case NODE_SLICE: back_slice(f, n, d); break;
    case NODE_PAD: back_pad(f, n, d); break;
    case NODE_CONCAT: back_concat(f, n, d); break;
    case NODE_WINDOW: back_window(f, n, d); break;
    case NODE_TAKE: case NODE_ALONG: back_take(f, n, d); break;
    case NODE_REDUCE: back_reduce(f, n, d); break;
    case NODE_DOT: back_dot(f, n, d); break;
    case NODE_SCAN: give(f, n->arg[0], node_scan(g, d, (int)n->attr[0], !n->attr[1])); break;
    case NODE_SCATTER: back_scatter(f, n, d); break;
    case NODE_SPREAD:
        diag_fail(g->diag, g->at, "a derivative of a derivative of windows is not there yet "
                  "[tensor-grad]");
    case NODE_SORT: case NODE_INPUT: case NODE_CONST: case NODE_IOTA: case NODE_EXTENT: break;
    }
    f->wide = false;
}

/* Which nodes the derivatives pass: those that depend on one of wrt. */
static bool *find_paths(Flow *f, Node *const *wrt, int n)
{
    bool *path = NEWN(f->g->arena, bool, f->n);
    for (int i = 0; i < n; i++)
        path[wrt[i]->id] = true;
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->g->nodes.at[i]->narg; k++)
            path[i] = path[i] || path[f->g->nodes.at[i]->arg[k]->id];
    return path;
}

void graph_grad(Graph *g, Node *y, Node *cotangent, Node *const *wrt, int n, Node **out)
{
    Flow f = {.g = g, .n = g->nodes.n};
    f.into = NEWN(g->arena, Node *, f.n);
    f.again = NEWN(g->arena, Node *, f.n);
    f.into[y->id] = cotangent;
    bool *path = find_paths(&f, wrt, n);
    for (int i = y->id; i >= 0; i--)
        if (f.into[i] && path[i])
            back(&f, g->nodes.at[i], f.into[i]);
    for (int i = 0; i < n; i++)
        out[i] = f.into[wrt[i]->id] ? node_cast(g, f.into[wrt[i]->id], wrt[i]->type)
                                    : node_full(g, wrt[i]->type, 0, wrt[i]->rank, wrt[i]->shape);
}
