/* from_end.c -- an index that is always negative counts from the end of its dimension.
 *
 *     for i in serial(0, 4): A[-1 - i]    ->    A[N - 1 - i]
 *
 * Ranges of loops, blocks, threads and named values decide; where the sign is not known, or
 * differs, the index stays as it is. */
#include "arith/arith.h"

static const Expr *wrap(Ir *ir, const Facts *f, const Buffer *b, int d, const Expr *at)
{
    return at->lanes == 1 && bounds_of(f, at).hi < 0 ? expr_add(ir, at, b->shape[d]) : at;
}

static const Expr *wrap_load(Ir *ir, const Expr *e, void *arg)
{
    if (e->op != EX_LOAD && e->op != EX_ADDR)
        return e;
    const Expr *kid[RANK_MOST + 2];
    for (int d = 0; d < e->nkid; d++)
        kid[d] = d < expr_nindex(e) ? wrap(ir, arg, e->u.buf, d, e->kid[d]) : e->kid[d];
    return expr_with_kids(ir, e, kid);
}

static const Expr *wrap_expr(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, wrap_load, arg);
}

static bool wrap_all(Ir *ir, const Facts *f, const Buffer *b, const Expr *const *from, int n,
                     const Expr **to)
{
    bool any = false;

    for (int d = 0; d < n; d++) {
        to[d] = wrap(ir, f, b, d, from[d]);
        any |= to[d] != from[d];
    }
    return any;
}

static const Stmt *wrap_stmt(Ir *ir, const Stmt *s, void *arg)
{
    const Expr *at[RANK_MOST];
    int n;
    const Expr *const *from = stmt_indices(s, &n);

    return from && wrap_all(ir, arg, stmt_stores(s), from, n, at) ? stmt_reindex(ir, s, at, n) : s;
}

void count_from_end(Kernel *k)
{
    Facts *f = facts_new(k->ir);

    facts_kernel(f, k);
    facts_body(f, k->body);
    k->body = stmt_map_expr(k->ir, k->body, wrap_expr, f);
    k->body = stmt_map(k->ir, k->body, wrap_stmt, f);
}
