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

    if (s->kind == ST_STORE &&
        wrap_all(ir, arg, s->u.store.buf, s->u.store.at, s->u.store.n, at))
        return stmt_store_as(ir, s, at, s->u.store.n, s->u.store.value, s->u.store.guard);
    if (s->kind == ST_ATOMIC &&
        wrap_all(ir, arg, s->u.atomic.buf, s->u.atomic.at, s->u.atomic.n, at))
        return stmt_atomic(ir, s->span, s->u.atomic.op, s->u.atomic.buf, at, s->u.atomic.n,
                           s->u.atomic.value, s->u.atomic.order, s->u.atomic.bind);
    return s;
}

void count_from_end(Kernel *k)
{
    Facts *f = facts_new(k->ir);

    facts_kernel(f, k);
    facts_body(f, k->body);
    k->body = stmt_map_expr(k->ir, k->body, wrap_expr, f);
    k->body = stmt_map(k->ir, k->body, wrap_stmt, f);
}
