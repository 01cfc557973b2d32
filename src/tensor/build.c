/* build.c -- operators that are made of others: fusing sees through them. */
#include "tensor/tensor.h"

#include <math.h>

enum { FEW_CHANNELS = 16 }; /* of a result: no product of tiles pays */

Node *build_unary(Graph *g, Elem e, Node *a)
{
    return node_elem(g, e, a, NULL, NULL);
}

Node *build_binary(Graph *g, Elem e, Node *a, Node *b)
{
    return node_elem(g, e, a, b, NULL);
}

Node *build_number(Graph *g, Elem e, Node *a, double b)
{
    DType t = a->type;
    if (t == DT_BOOL || (dtype_is_int(t) && b != trunc(b)))
        t = b == trunc(b) ? DT_I32 : DT_F32;
    return node_elem(g, e, a, node_const(g, t, b), NULL);
}

Node *keep_axes(Graph *g, Node *reduced, const Node *of, const bool *axes)
{
    int64_t shape[TENSOR_RANK];
    for (int d = 0; d < of->rank; d++)
        shape[d] = axes[d] ? 1 : of->shape[d];
    return node_reshape(g, reduced, of->rank, shape);
}

Node *build_share(Graph *g, Node *a, int64_t n)
{
    if (extent_is_open(g, n))
        return build_binary(g, ELEM_DIV, a, node_cast(g, node_extent(g, n), a->type));
    return build_number(g, ELEM_MUL, a, 1.0 / (double)n);
}

Node *build_mean(Graph *g, Node *a, const bool *axes)
{
    int64_t n = 1;
    for (int d = 0; d < a->rank; d++)
        n *= axes[d] ? a->shape[d] : 1;
    if (!dtype_is_float(a->type))
        a = node_cast(g, a, DT_F32);
    return build_share(g, node_reduce(g, REDUCE_SUM, a, axes), n);
}

Node *build_softmax(Graph *g, Node *a, int axis, bool log)
{
    bool axes[TENSOR_RANK] = {0};
    if (!dtype_is_float(a->type))
        a = node_cast(g, a, DT_F32);
    if (node_count(a) == 0)
        return a;
    axes[axis] = true;
    Node *most = keep_axes(g, node_shift(g, a, axes), a, axes);
    Node *moved = build_binary(g, ELEM_SUB, a, most), *e = build_unary(g, ELEM_EXP, moved);
    Node *sum = keep_axes(g, node_reduce(g, REDUCE_SUM, e, axes), a, axes);
    return log ? build_binary(g, ELEM_SUB, moved, build_unary(g, ELEM_LOG, sum))
               : build_binary(g, ELEM_DIV, e, sum);
}

Node *build_argmax(Graph *g, Node *a, int axis, bool least)
{
    bool axes[TENSOR_RANK] = {0};
    axes[axis] = true;
    node_compared(g, a, axis);
    Node *best = keep_axes(g, node_reduce(g, least ? REDUCE_MIN : REDUCE_MAX, a, axes), a, axes);
    Node *at = node_iota(g, DT_I32, a->rank, a->shape, axis);
    Node *none = node_extent(g, a->shape[axis]);
    Node *is = build_binary(g, ELEM_EQ, a, best);
    if (dtype_is_float(a->type)) /* a best that is NaN is the first of them */
        is = build_binary(g, ELEM_BITOR, is, build_binary(g, ELEM_NE, a, a));
    Node *here = node_elem(g, ELEM_WHERE, is, at, none);
    return node_reduce(g, REDUCE_MIN, here, axes);
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct {
    char label[TENSOR_RANK];
    int n;
} Labels;

NORETURN static void bad_spec(Graph *g, const char *spec, const char *why)
{
    diag_fail(g->diag, g->at, "einsum \"%s\": %s [tensor-einsum]", spec, why);
}

static int label_at(const Labels *l, char c)
{
    for (int i = 0; i < l->n; i++)
        if (l->label[i] == c)
            return i;
    return -1;
}

/* "bhqd,bhkd->bhqk"; without "->" labels that stand once, sorted. */
static int read_spec(Graph *g, const char *spec, Labels *in, Labels *out)
{
    int n = 0, count[128] = {0};
    const char *s = spec;
    for (; *s && *s != '-'; s++) {
        if (*s == ',') {
            if (++n > 1)
                bad_spec(g, spec, "more than two operands");
        } else if (*s != ' ') {
            if (*s < 'A' || *s > 'z' || in[n].n == TENSOR_RANK)
                bad_spec(g, spec, "labels are letters, one for each axis");
            in[n].label[in[n].n++] = *s;
            count[(int)*s]++;
        }
    }
    if (s[0] == '-' && s[1] != '>')
        bad_spec(g, spec, "'-' stands without '>'");
    for (const char *o = s[0] ? s + 2 : ""; *o; o++)
        if (*o != ' ') {
            if (out->n == TENSOR_RANK || *o < 'A' || *o > 'z' || !count[(int)*o])
                bad_spec(g, spec, "a label of the result stands in no operand");
            out->label[out->n++] = *o;
        }
    for (int c = 'A'; !s[0] && c <= 'z'; c++)
        if (count[c] == 1)
            out->label[out->n++] = (char)c;
    return n + 1;
}

/* An operand with its axes in the order of the labels, those it lacks left out. */
static Node *arranged(Graph *g, Node *a, const Labels *have, const Labels *want)
{
    int perm[TENSOR_RANK], n = 0;
    for (int i = 0; i < want->n; i++)
        if (label_at(have, want->label[i]) >= 0)
            perm[n++] = label_at(have, want->label[i]);
    return node_permute(g, a, perm);
}

/* A label that stands twice: both axes as one, of which every n + 1st element is meant. */
static Node *diagonal(Graph *g, Node *a, Labels *l, int i, int j)
{
    const int64_t n = a->shape[i];
    int perm[TENSOR_RANK] = {i, j}, m = 2;
    int64_t flat[TENSOR_RANK] = {n * n}, start[TENSOR_RANK] = {0}, step[TENSOR_RANK] = {n + 1};
    Labels left = {.label = {l->label[i]}, .n = 1};
    if (n != a->shape[j])
        diag_fail(g->diag, g->at, "einsum: '%c' is %s and %s in %s [tensor-einsum]",
                  l->label[i], extent_text(g, n), extent_text(g, a->shape[j]),
                  shape_text(g, a->rank, a->shape));
    for (int d = 0; d < l->n; d++)
        if (d != i && d != j) {
            perm[m] = d;
            flat[m - 1] = a->shape[d];
            step[m++ - 1] = 1;
            left.label[left.n++] = l->label[d];
        }
    a = node_reshape(g, node_permute(g, a, perm), left.n, flat);
    flat[0] = n;
    *l = left;
    return node_slice(g, a, start, step, flat);
}

static Node *diagonals(Graph *g, Node *a, Labels *l)
{
    for (int i = 0; i < l->n; i++)
        for (int j = i + 1; j < l->n; j++)
            if (l->label[i] == l->label[j])
                return diagonals(g, diagonal(g, a, l, i, j), l);
    return a;
}

/* Labels that nobody else has are summed. */
static Node *own_sums(Graph *g, Node *a, Labels *l, const Labels *other, const Labels *out)
{
    bool axes[TENSOR_RANK] = {0}, any = false;
    Labels left = {.n = 0};
    for (int i = 0; i < l->n; i++) {
        axes[i] = label_at(other, l->label[i]) < 0 && label_at(out, l->label[i]) < 0;
        any = any || axes[i];
        if (!axes[i])
            left.label[left.n++] = l->label[i];
    }
    *l = left;
    return any ? node_reduce(g, REDUCE_SUM, a, axes) : a;
}

static int64_t extent_of(const Node *a, const Labels *l, char c)
{
    return a->shape[label_at(l, c)];
}

typedef struct {
    Labels batch, m, n, k;
} Parts;

static int64_t product_of(const Labels *l, const Node *a, const Labels *la, const Node *b,
                          const Labels *lb)
{
    int64_t p = 1;
    for (int i = 0; i < l->n; i++)
        p *= label_at(la, l->label[i]) >= 0 ? extent_of(a, la, l->label[i])
                                            : extent_of(b, lb, l->label[i]);
    return p;
}

static void append(Labels *to, const Labels *l)
{
    for (int i = 0; i < l->n; i++)
        to->label[to->n++] = l->label[i];
}

/* An operand with the axes of all labels, 1 where it has none. */
static Node *stretched(Graph *g, Node *a, const Labels *have, const Labels *all)
{
    int64_t shape[TENSOR_RANK];
    for (int i = 0; i < all->n; i++)
        shape[i] = label_at(have, all->label[i]) < 0 ? 1 : extent_of(a, have, all->label[i]);
    return node_reshape(g, arranged(g, a, have, all), all->n, shape);
}

/* By products and sums where no matrix instruction has the type, or a side is one row.  The axes
 * stand as in the larger operand, so that its elements are read as they stand in memory. */
static Node *dot_by_sums(Graph *g, Node *a, const Labels *la, Node *b, const Labels *lb,
                         const Labels *k, Labels *left)
{
    const bool swap = node_count(a) > node_count(b);
    const Labels *large = swap ? la : lb, *small = swap ? lb : la;
    Labels all = {0};
    bool axes[TENSOR_RANK] = {0};
    for (int i = 0; i < small->n; i++)
        if (label_at(large, small->label[i]) < 0)
            all.label[all.n++] = small->label[i];
    append(&all, large);
    for (int i = 0; i < all.n; i++) {
        axes[i] = label_at(k, all.label[i]) >= 0;
        if (!axes[i])
            left->label[left->n++] = all.label[i];
    }
    Node *p = build_binary(g, ELEM_MUL, stretched(g, a, la, &all), stretched(g, b, lb, &all));
    return node_reduce(g, REDUCE_SUM, p, axes);
}

/* Without axes of extent 1. */
static Node *narrowed(Graph *g, Node *a, Labels *l)
{
    int64_t shape[TENSOR_RANK];
    int n = 0;
    for (int i = 0; i < l->n; i++)
        if (a->shape[i] != 1) {
            shape[n] = a->shape[i];
            l->label[n++] = l->label[i];
        }
    l->n = n;
    return node_reshape(g, a, n, shape);
}

/* The same, with the axes of the result as `out` names them and those of extent 1 left out. */
static Node *sums_of(Graph *g, Node *a, Labels la, Node *b, Labels lb, const Labels *k,
                     const Labels *out)
{
    Labels left = {0}, want = {0};
    a = narrowed(g, a, &la);
    b = narrowed(g, b, &lb);
    Node *y = dot_by_sums(g, a, &la, b, &lb, k, &left);
    for (int i = 0; i < out->n; i++)
        if (label_at(&left, out->label[i]) >= 0)
            want.label[want.n++] = out->label[i];
    return arranged(g, y, &left, &want);
}

static bool has_gemm(DType t)
{
    return t == DT_F16 || t == DT_BF16 || t == DT_F32;
}

static void part_labels(Parts *p, const Labels *la, const Labels *lb, const Labels *out)
{
    for (int i = 0; i < out->n; i++) {
        char c = out->label[i];
        bool left = label_at(la, c) >= 0, right = label_at(lb, c) >= 0;
        Labels *to = left && right ? &p->batch : left ? &p->m : &p->n;
        to->label[to->n++] = c;
    }
    for (int i = 0; i < la->n; i++)
        if (label_at(out, la->label[i]) < 0)
            p->k.label[p->k.n++] = la->label[i];
}

static Node *einsum_two(Graph *g, const char *spec, Node *a, Labels la, Node *b, Labels lb,
                        const Labels *out)
{
    Parts p = {0};
    Labels oa = {0}, ob = {0}, oc = {0};
    /* Columns of the product are what the result has last: it is stored as it is computed. */
    if (out->n && label_at(&lb, out->label[out->n - 1]) < 0)
        return einsum_two(g, spec, b, lb, a, la, out);
    a = diagonals(g, a, &la);
    b = diagonals(g, b, &lb);
    for (int i = 0; i < la.n; i++)
        if (label_at(&lb, la.label[i]) >= 0 &&
            extent_of(a, &la, la.label[i]) != extent_of(b, &lb, la.label[i]))
            bad_spec(g, spec, arena_printf(g->arena, "'%c' is %s in %s and %s in %s",
                                           la.label[i], extent_text(g, a->shape[i]),
                                           shape_text(g, a->rank, a->shape),
                                           extent_text(g, extent_of(b, &lb, la.label[i])),
                                           shape_text(g, b->rank, b->shape)));
    a = own_sums(g, a, &la, &lb, out);
    b = own_sums(g, b, &lb, &la, out);
    part_labels(&p, &la, &lb, out);
    append(&oa, &p.batch), append(&oa, &p.m), append(&oa, &p.k);
    append(&ob, &p.batch), append(&ob, &p.k), append(&ob, &p.n);
    append(&oc, &p.batch), append(&oc, &p.m), append(&oc, &p.n);
    int64_t B = product_of(&p.batch, a, &la, b, &lb), M = product_of(&p.m, a, &la, b, &lb),
            N = product_of(&p.n, a, &la, b, &lb), K = product_of(&p.k, a, &la, b, &lb);
    int64_t full[TENSOR_RANK];
    for (int i = 0; i < oc.n; i++)
        full[i] = product_of(&(Labels){.label = {oc.label[i]}, .n = 1}, a, &la, b, &lb);
    DType t = promote(a->type, b->type);
    a = node_cast(g, a, t);
    b = node_cast(g, b, t);
    const bool sums = !has_gemm(t) || M == 1 || N == 1 || K < 4;
    Node *y;
    if (sums && oc.n + p.k.n <= TENSOR_RANK) {
        y = sums_of(g, a, la, b, lb, &p.k, &oc);
    } else {
        a = node_reshape(g, arranged(g, a, &la, &oa), 3, (const int64_t[]){B, M, K});
        b = node_reshape(g, arranged(g, b, &lb, &ob), 3, (const int64_t[]){B, K, N});
        y = sums ? sums_of(g, a, (Labels){"bmk", 3}, b, (Labels){"bkn", 3}, &(Labels){"k", 1},
                           &(Labels){"bmn", 3})
                 : node_dot(g, a, b);
    }
    return arranged(g, node_reshape(g, y, oc.n, full), &oc, out);
}

Node *build_einsum(Graph *g, const char *spec, Node *a, Node *b)
{
    Labels in[2] = {{.n = 0}}, out = {.n = 0};
    int n = read_spec(g, spec, in, &out);
    if (n != (b ? 2 : 1) || in[0].n != a->rank || (b && in[1].n != b->rank))
        diag_fail(g->diag, g->at, "einsum \"%s\" does not name the axes of %s%s%s [tensor-einsum]",
                  spec, shape_text(g, a->rank, a->shape), b ? " and " : "",
                  b ? shape_text(g, b->rank, b->shape) : "");
    if (b)
        return einsum_two(g, spec, a, in[0], b, in[1], &out);
    a = own_sums(g, diagonals(g, a, &in[0]), &in[0], &(Labels){.n = 0}, &out);
    return arranged(g, a, &in[0], &out);
}

Node *build_matmul(Graph *g, Node *a, Node *b)
{
    if (a->rank == 0 || b->rank == 0)
        diag_fail(g->diag, g->at, "@ needs tensors of one axis or more, not %s and %s "
                  "[tensor-matmul]", node_text(g, a), node_text(g, b));
    int64_t ka = a->shape[a->rank - 1], kb = b->shape[MAX(b->rank - 2, 0)];
    if (ka != kb)
        diag_fail(g->diag, g->at, "@ of shapes %s and %s: %s columns meet %s rows "
                  "[tensor-matmul]", shape_text(g, a->rank, a->shape),
                  shape_text(g, b->rank, b->shape), extent_text(g, ka), extent_text(g, kb));
    static const char letters[] = "abcdefgh";
    const int ra = MAX(a->rank - 2, 0), rb = MAX(b->rank - 2, 0), r = MAX(ra, rb);
    Str s;
    int64_t shape[TENSOR_RANK];
    str_init(&s, g->arena);
    /* Batch axes that only one side has belong to its rows; those of extent 1 are dropped. */
    for (int d = 0; d < r; d++) {
        int64_t x = d >= r - ra ? a->shape[d - (r - ra)] : 1,
                y = d >= r - rb ? b->shape[d - (r - rb)] : 1;
        if (x != y && x != 1 && y != 1)
            diag_fail(g->diag, g->at, "@ of shapes %s and %s: their batch axes differ "
                      "[tensor-matmul]", shape_text(g, a->rank, a->shape),
                      shape_text(g, b->rank, b->shape));
        shape[d] = MAX(x, y);
    }
    const Node *side[2] = {a, b};
    Node *plain[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        int own = i ? rb : ra, rank = 0;
        int64_t left[TENSOR_RANK];
        if (i)
            str_putc(&s, ',');
        for (int d = 0; d < own; d++)
            if (side[i]->shape[d] != 1 || shape[r - own + d] == 1) {
                str_putc(&s, letters[r - own + d]);
                left[rank++] = side[i]->shape[d];
            }
        for (int d = own; d < side[i]->rank; d++)
            left[rank++] = side[i]->shape[d];
        str_puts(&s, side[i]->rank == 1 ? "k" : i ? "kn" : "mk");
        plain[i] = node_reshape(g, plain[i], rank, left);
    }
    str_puts(&s, "->");
    for (int d = 0; d < r; d++)
        str_putc(&s, letters[d]);
    str_puts(&s, a->rank > 1 ? "m" : "");
    str_puts(&s, b->rank > 1 ? "n" : "");
    return build_einsum(g, s.s, plain[0], plain[1]);
}

/* ---- random numbers: Philox 2x32, ten rounds ------------------------------------------------- */

static Node *high_low(Graph *g, Node *x, Node **low)
{
    Node *p = build_binary(g, ELEM_MUL, node_cast(g, x, DT_U64),
                           node_const(g, DT_U64, (double)0xD256D193u));
    *low = node_cast(g, p, DT_U32);
    return node_cast(g, build_binary(g, ELEM_SHR, p, node_const(g, DT_U64, 32)), DT_U32);
}

Node *build_random(Graph *g, int rank, const int64_t *shape, Node *seed)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= shape[d];
    Node *flat = node_iota(g, DT_U32, 1, &n, 0), *x = node_reshape(g, flat, rank, shape);
    Node *y = node_full(g, DT_U32, 0, rank, shape);
    Node *key = node_cast(g, seed, DT_U32);
    for (int round = 0; round < 10; round++) {
        Node *low, *high = high_low(g, x, &low);
        x = build_binary(g, ELEM_BITXOR, build_binary(g, ELEM_BITXOR, high, key), y);
        y = low;
        key = build_binary(g, ELEM_ADD, key, node_const(g, DT_U32, (double)0x9E3779B9u));
    }
    return x;
}

/* ---- convolution ----------------------------------------------------------------------------- */

/* The same with one axis for all offsets of a window: groups leave no axis for each of them. */
static Node *conv_by_groups(Graph *g, Node *p, Node *w, int ns, int64_t groups)
{
    int perm[TENSOR_RANK] = {0, 1};
    int64_t sp[TENSOR_RANK] = {p->shape[0], groups, p->shape[1] / groups},
            sw[4] = {groups, w->shape[0] / groups, w->shape[1], 1},
            out[TENSOR_RANK] = {p->shape[0], w->shape[0]};
    for (int d = 0; d < ns; d++) {
        perm[2 + d] = 2 + 2 * d;
        perm[2 + ns + d] = 3 + 2 * d;
        sp[3 + d] = out[2 + d] = p->shape[2 + 2 * d];
        sw[3] *= w->shape[2 + d];
    }
    sp[3 + ns] = sw[3];
    Node *windows = node_reshape(g, node_permute(g, p, perm), ns + 4, sp);
    Node *y = build_einsum(g, "ngcxyzi,goci->ngoxyz", windows, node_reshape(g, w, 4, sw));
    return node_reshape(g, y, ns + 2, out);
}

/* A GPU takes tiles of an image with its channels last: neighbours in memory are neighbours in the
 * sum, whole vectors of them, and a window is a tap's place plus theirs. */
static bool channels_last(const Graph *g, const Node *x, const Node *w, int64_t groups)
{
    return machine_has(g->machine, HAS_THREADS) && groups == 1 && has_gemm(x->type) &&
           !extent_is_open(g, x->shape[1]) && x->shape[1] * dtype_bits(x->type) % 128 == 0 &&
           !extent_is_open(g, w->shape[0]) && w->shape[0] >= FEW_CHANNELS;
}

static Node *moved_last(Graph *g, Node *a)
{
    int perm[TENSOR_RANK] = {0};
    for (int d = 2; d < a->rank; d++)
        perm[d - 1] = d;
    perm[a->rank - 1] = 1;
    return node_permute(g, a, perm);
}

/* Windows of one element, one beside the other: a product for each pixel. */
static bool is_pointwise(const Node *w, int ns, const int64_t *stride, const int64_t *padding)
{
    bool one = true;
    for (int d = 0; d < ns; d++)
        one = one && w->shape[2 + d] == 1 && stride[d] == 1 && padding[d] == 0;
    return one;
}

static Node *conv_of_pixels(Graph *g, Node *x, Node *w, int ns)
{
    static const char *const spec[] = {"ncx,oc->nox", "ncxy,oc->noxy", "ncxyz,oc->noxyz"};
    return build_einsum(g, spec[ns - 1], x, node_reshape(g, w, 2, w->shape));
}

static Node *conv_of_channels_last(Graph *g, Node *x, Node *w, int ns, const int64_t *stride,
                                   const int64_t *padding, const int64_t *dilation)
{
    static const char *const spec[] = {"nxic,oic->nox", "nxiyjc,oijc->noxy",
                                       "nxiyjzkc,oijkc->noxyz"};
    int64_t lo[TENSOR_RANK] = {0}, one[TENSOR_RANK], shape[TENSOR_RANK];
    Node *p = moved_last(g, x);
    for (int d = 0; d < p->rank; d++) {
        lo[d] = d && d <= ns ? padding[d - 1] : 0;
        one[d] = 1;
        shape[d] = p->shape[d] + 2 * lo[d];
    }
    p = node_pad(g, p, lo, one, shape, 0);
    for (int d = 0; d < ns; d++)
        p = node_window(g, p, 1 + 2 * d, w->shape[2 + d], stride[d], dilation[d]);
    return build_einsum(g, spec[ns - 1], p, moved_last(g, w));
}

static void conv_check(Graph *g, const Node *x, const Node *w, int ns, int64_t groups)
{
    if (x->rank != ns + 2 || w->rank != ns + 2 || w->shape[1] * groups != x->shape[1] ||
        w->shape[0] % groups)
        diag_fail(g->diag, g->at, "a convolution of %s by weights %s in %lld group%s "
                  "[tensor-conv]", shape_text(g, x->rank, x->shape),
                  shape_text(g, w->rank, w->shape), (long long)groups,
                  groups == 1 ? "" : "s");
}

/* x [n, c, spatial], w [o, c / groups, spatial]: windows of x by the weights of their group. */
Node *build_conv(Graph *g, Node *x, Node *w, int ns, const int64_t *stride, const int64_t *padding,
                 const int64_t *dilation, int64_t groups)
{
    int64_t lo[TENSOR_RANK] = {0}, one[TENSOR_RANK], shape[TENSOR_RANK];
    static const char in_axes[] = "xiyjzk";
    conv_check(g, x, w, ns, groups);
    const DType both = promote(x->type, w->type);
    if (groups == 1 && is_pointwise(w, ns, stride, padding))
        return conv_of_pixels(g, x, w, ns);
    if (channels_last(g, x, w, groups) && both == x->type)
        return conv_of_channels_last(g, x, node_cast(g, w, both), ns, stride, padding, dilation);
    for (int d = 0; d < x->rank; d++) {
        lo[d] = d < 2 ? 0 : padding[d - 2];
        one[d] = 1;
        shape[d] = x->shape[d] + 2 * lo[d];
    }
    Node *p = node_pad(g, x, lo, one, shape, 0);
    for (int d = 0; d < ns; d++)
        p = node_window(g, p, 2 + 2 * d, w->shape[2 + d], stride[d], dilation[d]);
    Str s, t;
    str_init(&s, g->arena);
    str_init(&t, g->arena);
    str_puts(&s, groups > 1 ? "ngc" : "nc");
    str_puts(&t, groups > 1 ? "goc" : "oc");
    for (int d = 0; d < ns; d++) {
        str_putn(&s, in_axes + 2 * d, 2);
        str_putc(&t, in_axes[2 * d + 1]);
    }
    if (groups > 1 && p->rank + 1 > TENSOR_RANK)
        return conv_by_groups(g, p, w, ns, groups);
    if (groups > 1) { /* channels as groups of them */
        int64_t sp[TENSOR_RANK + 1] = {p->shape[0], groups, p->shape[1] / groups},
                sw[TENSOR_RANK + 1] = {groups, w->shape[0] / groups, w->shape[1]};
        for (int d = 2; d < p->rank; d++)
            sp[d + 1] = p->shape[d];
        for (int d = 2; d < w->rank; d++)
            sw[d + 1] = w->shape[d];
        p = node_reshape(g, p, p->rank + 1, sp);
        w = node_reshape(g, w, w->rank + 1, sw);
    }
    Str spec;
    str_init(&spec, g->arena);
    str_printf(&spec, "%s,%s->%s", s.s, t.s, groups > 1 ? "ngo" : "no");
    for (int d = 0; d < ns; d++)
        str_putc(&spec, in_axes[2 * d]);
    Node *y = build_einsum(g, spec.s, p, w);
    if (groups == 1)
        return y;
    int64_t out[TENSOR_RANK] = {y->shape[0], y->shape[1] * y->shape[2]};
    for (int d = 3; d < y->rank; d++)
        out[d - 1] = y->shape[d];
    return node_reshape(g, y, y->rank - 1, out);
}
