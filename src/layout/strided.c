/* strided.c -- offsets as shape:stride pairs, the first mode fastest.
 *
 *     (4, 8):(1, 4)     index x = x0 + 4*x1 is at x0*1 + x1*4
 *
 * The laws:  coalesce(a)(x) = a(x)     compose(a, b)(x) = a(b(x))
 *            a and complement(a, n) together reach every offset below n once, where they can */
#include "layout/layout.h"

int64_t strided_size(const Strided *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->n; i++)
        n *= s->shape[i];
    return n;
}

/* The last mode goes on past its shape, as indices past the end do in compose. */
int64_t strided_eval(const Strided *s, int64_t index)
{
    int64_t offset = 0;
    for (int i = 0; i < s->n; i++) {
        int64_t x = i + 1 < s->n ? index % s->shape[i] : index;
        offset += x * s->stride[i];
        index /= s->shape[i];
    }
    return offset;
}

static bool push(Strided *s, int64_t shape, int64_t stride)
{
    if (s->n == MODES_MOST)
        return false;
    s->shape[s->n] = shape;
    s->stride[s->n++] = stride;
    return true;
}

/* Modes of one element go, modes that continue the one before join it. */
Strided strided_coalesce(const Strided *s)
{
    Strided r = {0};
    for (int i = 0; i < s->n; i++) {
        int last = r.n - 1;
        if (s->shape[i] == 1)
            continue;
        if (last >= 0 && s->stride[i] == r.shape[last] * r.stride[last])
            r.shape[last] *= s->shape[i];
        else
            push(&r, s->shape[i], s->stride[i]);
    }
    if (r.n == 0)
        push(&r, 1, 0);
    return r;
}

/* a after one mode shape:stride of b. */
static bool compose_mode(const Strided *a, int64_t shape, int64_t stride, Strided *out)
{
    if (stride == 0)
        return push(out, shape, 0);
    for (int i = 0; i < a->n && shape > 1; i++) {
        bool last = i + 1 == a->n;
        if (!last && stride % a->shape[i] == 0) {
            stride /= a->shape[i];
            continue;
        }
        if (last)
            return push(out, shape, stride * a->stride[i]);
        if (a->shape[i] % stride != 0)
            return false;
        int64_t take = MIN(a->shape[i] / stride, shape);
        if (shape % take != 0)
            return false;
        if (!push(out, take, stride * a->stride[i]))
            return false;
        shape /= take;
        if (shape > 1 && take != a->shape[i] / stride)
            return false;
        stride = 1;
    }
    return shape == 1 || a->n == 0;
}

bool strided_compose(const Strided *a, const Strided *b, Strided *out)
{
    Strided whole = strided_coalesce(a), r = {0};
    for (int i = 0; i < b->n; i++) {
        if (b->shape[i] > 1 && !compose_mode(&whole, b->shape[i], b->stride[i], &r))
            return false;
    }
    *out = strided_coalesce(&r);
    return true;
}

Strided strided_complement(const Strided *s, int64_t size)
{
    Strided sorted = strided_coalesce(s), r = {0};
    for (int i = 1; i < sorted.n; i++) {
        for (int j = i; j > 0 && sorted.stride[j - 1] > sorted.stride[j]; j--) {
            int64_t a = sorted.stride[j], b = sorted.shape[j];
            sorted.stride[j] = sorted.stride[j - 1];
            sorted.shape[j] = sorted.shape[j - 1];
            sorted.stride[j - 1] = a;
            sorted.shape[j - 1] = b;
        }
    }
    int64_t at = 1;
    for (int i = 0; i < sorted.n; i++) {
        if (sorted.stride[i] == 0)
            continue;
        if (sorted.stride[i] > at)
            push(&r, sorted.stride[i] / at, at);
        at = sorted.stride[i] * sorted.shape[i];
    }
    push(&r, MAX((size + at - 1) / at, 1), at);
    return strided_coalesce(&r);
}

/* a cut into tiles: `inside` walks one tile, `rest` walks over the tiles. */
bool strided_divide(const Strided *a, const Strided *tile, Strided *inside, Strided *rest)
{
    Strided other = strided_complement(tile, strided_size(a));
    return strided_compose(a, tile, inside) && strided_compose(a, &other, rest);
}

/* a, and after it as many copies of it as `times` says, each past the last. */
bool strided_product(const Strided *a, const Strided *times, Strided *out)
{
    Strided room = strided_complement(a, strided_size(a) * strided_size(times)), copies;
    if (!strided_compose(&room, times, &copies) || a->n + copies.n > MODES_MOST)
        return false;
    *out = *a;
    for (int i = 0; i < copies.n; i++)
        push(out, copies.shape[i], copies.stride[i]);
    return true;
}

/* ---- to and from layouts --------------------------------------------------------------------- */

/* One dimension of the tile as modes, read off its offsets; checked by strided_of. */
static bool read_dimension(const Layout *l, int d, Strided *out)
{
    int64_t at[RANK_MOST] = {0}, zero = layout_eval(l, at), n = l->extent[d], step = 1;
    while (step < n) {
        at[d] = step;
        int64_t stride = layout_eval(l, at) - zero, run = 2;
        for (; run * step < n; run++) {
            at[d] = run * step;
            if (layout_eval(l, at) - zero != run * stride)
                break;
        }
        while (n % (run * step) != 0)
            run--;
        if (run < 2 || !push(out, run, stride))
            return false;
        step *= run;
    }
    return true;
}

bool strided_of(Ir *ir, const Layout *l, Strided *out)
{
    (void)ir;
    Strided r = {0};
    int64_t at[RANK_MOST] = {0};
    if (layout_eval(l, at) != 0)
        return false;
    for (int d = 0; d < l->rank; d++) {
        if (!read_dimension(l, d, &r))
            return false;
    }
    if (r.n == 0)
        push(&r, 1, 0);
    do {
        int64_t index = 0;
        for (int d = l->rank - 1; d >= 0; d--)
            index = index * l->extent[d] + at[d];
        if (strided_eval(&r, index) != layout_eval(l, at))
            return false;
    } while (layout_next(l, at));
    *out = strided_coalesce(&r);
    return true;
}

const Layout *strided_layout(Ir *ir, const Strided *s)
{
    const Expr *i = expr_var(ir, layout_axis(ir, 0)), *e = expr_int(ir, 0);
    int64_t size = strided_size(s), below = 1;
    for (int k = 0; k < s->n; k++) {
        const Expr *x = expr_floordiv(ir, i, expr_int(ir, below));
        x = expr_floormod(ir, x, expr_int(ir, s->shape[k]));
        e = expr_add(ir, e, expr_mul(ir, x, expr_int(ir, s->stride[k])));
        below *= s->shape[k];
    }
    return layout_new(ir, 1, &size, 1, &e);
}
