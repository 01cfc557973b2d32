/* lower_sugar.c -- constant negative indices count from the end of their dimension.
 *
 * gives   FORM_NORMAL
 * breaks  FORM_SIMPLE     extents are added to indices
 *
 * An index whose sign is not known stays as it is: only what is provably negative is Python's
 * "from the end" (language.md trap 42).
 * What the block does with fragments that belong to a role, or to the threads of a condition, is
 * put under the condition that those threads come by.
 * Sparse products become products of a tile with its zeros, where matrix instructions do them.
 * A reducer that is read by its own name after its epoch gives that name to a fragment.
 * A name for a value between two nested T.Parallel is made inside of the inner one. */
#include "pass/pass.h"

static const Expr *wrap(Ir *ir, const Facts *f, const Buffer *b, int d, const Expr *at)
{
    Bounds r = bounds_of(f, at);
    return at->lanes == 1 && r.hi < 0 ? expr_add(ir, at, b->shape[d]) : at;
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

static const Stmt *wrap_store(Ir *ir, const Stmt *s, void *arg)
{
    if (s->kind != ST_STORE)
        return s;
    const Expr *at[RANK_MOST];
    bool same = true;
    for (int d = 0; d < s->u.store.n; d++) {
        at[d] = wrap(ir, arg, s->u.store.buf, d, s->u.store.at[d]);
        same &= at[d] == s->u.store.at[d];
    }
    return same ? s
                : stmt_store_as(ir, s, at, s->u.store.n, s->u.store.value, s->u.store.guard);
}

static const Stmt *make_dense(Ir *ir, const Stmt *s, void *arg)
{
    (void)ir;
    return s->kind == ST_TILE && s->u.tile.op->id == OP_gemm_sp ? gemm_sp_dense(arg, s) : s;
}

static bool is_nest(const Stmt *s)
{
    return s->kind == ST_FOR && s->u.loop.how == LOOP_PARALLEL;
}

static const Stmt *with_body(Ir *ir, const Stmt *s, const Stmt *body)
{
    return stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, s->u.loop.min, s->u.loop.extent,
                    s->u.loop.hints, body);
}

static const Stmt *sink_lets(Ir *ir, const Stmt *s, void *arg)
{
    const Stmt *body = is_nest(s) ? s->u.loop.body : NULL, *lets = NULL;
    int n = body && body->kind == ST_BLOCK ? body->u.block.n : 0;

    if (n < 2 || !is_nest(body->u.block.list[n - 1]))
        return s;
    for (int i = 0; i < n - 1; i++) {
        if (body->u.block.list[i]->kind != ST_LET)
            return s;
        lets = stmt_seq(ir, lets, body->u.block.list[i]);
    }
    const Stmt *inner = body->u.block.list[n - 1];
    inner = with_body(ir, inner, stmt_seq(ir, lets, inner->u.loop.body));
    return with_body(ir, s, sink_lets(ir, inner, arg));
}

void pass_lower_sugar(Kernel *k)
{
    Facts *f = facts_new(k->ir);

    k->body = stmt_map(k->ir, k->body, sink_lets, NULL);
    k->body = stmt_map_expr(k->ir, k->body, wrap_expr, f);
    k->body = stmt_map(k->ir, k->body, wrap_store, f);
    if (kernel_on_warps(k)) {
        reducers_apart(k);
        k->body = stmt_map(k->ir, k->body, make_dense, k);
    }
    if (kernel_on_warps(k) && k->uses_threads)
        team_own(k);
}
