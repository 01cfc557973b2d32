/* parallel_width.c -- how many iterations of a nest's innermost loop touch memory as one.
 *
 * An access is as wide as its neighbours are together: [i, j] from a multiple of the width, in rows
 * of a multiple of it.  Of an index that divides ([i, j // 2]) several iterations share an element,
 * and what all of a group share ([i, j // 32]) sets no limit. */
#include "op/op.h"

bool parallel_moves_along(Ir *ir, const LoopNest *p, const LoopAccess *a)
{
    bool moves = false;
    for (int d = 0; d < a->n; d++)
        moves |= expr_uses_var(a->at[d], layout_axis(ir, p->n - 1));
    return moves;
}

/* How many iterations of each group of w of the innermost loop use one element, if the group uses
 * neighbours, the first at a multiple of their number: 1 for [j], 2 for [j // 2], w for what all
 * use; else 0.  By trying the members of a group: for indices that divide. */
static int shared_by(Ir *ir, const LoopNest *p, const LoopAccess *a, int w)
{
    Var *inner = layout_axis(ir, p->n - 1), *group = var_new(ir, "q", inner->type, (Span){0});
    Facts *f = p->facts ? p->facts : facts_new(ir);
    int mark = facts_mark(f), last = a->n - 1, each = w;
    bool together = true;
    int64_t by;

    facts_range(f, group, expr_int(ir, 0), expr_int(ir, MAX(p->extent[p->n - 1] / w, 1)));
    const Expr *start = expr_mul(ir, expr_var(ir, group), expr_int(ir, w));
    for (int d = 0; d < a->n && together; d++) {
        const Expr *first = simplify(ir, f, expr_subst(ir, a->at[d], inner, start));
        for (int r = 1; r < w && together; r++) {
            const Expr *at = expr_subst(ir, a->at[d], inner,
                                        expr_add(ir, start, expr_int(ir, r)));
            const Expr *step = simplify(ir, f, expr_sub(ir, at, first));
            together = expr_is_int(step, &by);
            if (d == last && together && by == 1 && each == w)
                each = r;
            together &= by == (d == last ? r / each : 0);
        }
        Modular m = modular_of(f, first);
        together &= d != last || (w % each == 0 && m.coef % (w / each) == 0 &&
                                  m.base % (w / each) == 0);
    }
    facts_pop(f, mark);
    return together ? each : 0;
}

static Modular row_of(const LoopNest *p, const LoopAccess *a)
{
    int64_t extent;
    const Expr *row = a->buf->shape[a->n - 1];
    return expr_is_int(row, &extent) ? (Modular){0, extent} : modular_of(p->facts, row);
}

/* The place of an access among all elements; NULL: it has a run-time row. */
static const Expr *flat_index(Ir *ir, const LoopAccess *a)
{
    const Expr *at = a->at[0];
    int64_t extent;

    for (int d = 1; d < a->n; d++) {
        if (!expr_is_int(a->buf->shape[d], &extent))
            return NULL;
        at = expr_add(ir, expr_mul(ir, at, expr_int(ir, extent)), a->at[d]);
    }
    return at;
}

/* Does each group of w iterations read whole runs of `bits`, in whatever order?  Not where one
 * element has more than that. */
static bool reads_runs(Ir *ir, const LoopNest *p, const LoopAccess *a, int bits, int w)
{
    Var *inner = layout_axis(ir, p->n - 1), *group = var_new(ir, "q", inner->type, (Span){0});
    int n = bits / (int)dtype_bits(a->buf->type);
    const Expr *flat = a->how & ACC_WRITE || a->buf->scope != MEM_GLOBAL || n < 1 || n >= w || w % n
                           ? NULL : flat_index(ir, a);
    Facts *f = p->facts ? p->facts : facts_new(ir);
    int mark = facts_mark(f);
    bool whole = flat != NULL;
    int64_t by, start[4] = {0};
    uint32_t used[4] = {0};

    if (!whole)
        return false;
    facts_range(f, group, expr_int(ir, 0), expr_int(ir, MAX(p->extent[p->n - 1] / w, 1)));
    const Expr *at = expr_mul(ir, expr_var(ir, group), expr_int(ir, w));
    const Expr *first = simplify(ir, f, expr_subst(ir, flat, inner, at));
    Modular m = modular_of(f, first);
    whole = m.coef % n == 0 && m.base % n == 0 && w / n <= COUNT(used) && n <= 32;
    for (int r = 0; r < w && whole; r++) {
        const Expr *here = expr_subst(ir, flat, inner, expr_add(ir, at, expr_int(ir, r)));
        int o = 0;
        whole = expr_is_int(simplify(ir, f, expr_sub(ir, here, first)), &by);
        while (whole && o < w / n && used[o] && start[o] != floor_div(by, n) * n)
            o++;
        if (!whole || o == w / n) {
            whole = false;
            break;
        }
        start[o] = floor_div(by, n) * n;
        used[o] |= 1u << (by - start[o]);
    }
    for (int o = 0; o < w / n && whole; o++)
        whole = used[o] == (uint32_t)((1ull << n) - 1);
    facts_pop(f, mark);
    return whole;
}

/* Likewise of an index that divides: at most w. */
static int divided_width(Ir *ir, const LoopNest *p, const LoopAccess *a, int bits, int w)
{
    for (; w > 1; w /= 2) {
        if (reads_runs(ir, p, a, bits, w))
            break;
        int each = shared_by(ir, p, a, w);
        if (!each || (a->how & ACC_WRITE && each > 1))
            continue;
        Modular row = row_of(p, a);
        int runs = w / each;
        if (runs * (int)dtype_bits(a->buf->type) <= bits &&
            (runs == 1 || a->n == 1 || (row.coef % runs == 0 && row.base % runs == 0)))
            break;
    }
    return w;
}

/* Is the index linear in the innermost loop, and only the last one moves along? */
static bool is_plain(Ir *ir, const LoopNest *p, const LoopAccess *a, int64_t *coef,
                     const Expr **base)
{
    Var *inner = layout_axis(ir, p->n - 1);

    for (int d = 0; d < a->n - 1; d++)
        if (expr_uses_var(a->at[d], inner))
            return false;
    return affine_of(ir, a->at[a->n - 1], &inner, 1, coef, base);
}

/* How wide this access may be along the innermost loop. */
static int access_width(Ir *ir, const LoopNest *p, const LoopAccess *a, int most)
{
    int64_t coef = 0;
    const Expr *base = NULL;
    int w = most;

    if (!is_plain(ir, p, a, &coef, &base) || coef != 1)
        return 1;
    Modular m = modular_of(p->facts, base), row = row_of(p, a);
    while (w > 1 && (m.coef % w || m.base % w || (a->n > 1 && (row.coef % w || row.base % w))))
        w /= 2;
    return w;
}

int parallel_width(Ir *ir, const LoopNest *p, int max_bytes)
{
    enum { LEAST_BITS = 4 };
    int w = 0, bits = max_bytes * 8;
    int64_t coef;
    const Expr *base;

    /* Those that divide come last: there are fewer widths to try. */
    for (int i = 0; i < p->access.n * 2; i++) {
        const LoopAccess *a = &p->access.at[i % p->access.n];
        if ((a->buf->scope != MEM_GLOBAL && a->buf->scope != MEM_SHARED) ||
            !parallel_moves_along(ir, p, a))
            continue;
        bool plain = a->buf->stride || is_plain(ir, p, a, &coef, &base);
        if (plain != (i < p->access.n))
            continue;
        int most = MAX(bits / (int)dtype_bits(a->buf->type), 1);
        int now = a->buf->stride ? 1
                  : plain        ? access_width(ir, p, a, most)
                                 : divided_width(ir, p, a, bits, w ? w : bits / LEAST_BITS);
        w = w ? MIN(w, now) : now;
    }
    w = MAX(w, 1);
    while (w > 1 && (p->extent[p->n - 1] % w != 0 || (p->width && w > p->width)))
        w /= 2;
    return w;
}
