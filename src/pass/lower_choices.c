/* lower_choices.c -- short loops whose variable chooses elements of a fragment.
 *
 *     for s in range(2):                                 two copies of the nest,
 *         for i, j in T.Parallel(16, N):        ->       with 0 and 1 in the place of s
 *             half[i, j] = acc[i + s * 16, j]
 *
 * Which thread holds acc[i + s * 16, j] depends on s, but a nest is distributed to threads in one
 * way.  With s a number each copy runs where its elements are; as a loop, every thread would have
 * to be handed the whole fragment. */
#include "pass/pass.h"
#include "pass/lower_unroll.h"

enum { ITERS_MOST = 8, SIZE_MOST = 256 };

typedef struct {
    const Var *v;
    int size;
    bool chooses; /* elements of a fragment, in a T.Parallel nest */
} Iters;

static bool see_choice(const Expr *e, void *arg)
{
    Iters *t = arg;

    if (e->op == EX_LOAD && e->u.buf->scope == MEM_FRAGMENT)
        for (int i = 0; i < expr_nindex(e); i++)
            t->chooses |= expr_uses_var(e->kid[i], t->v);
    return true;
}

static bool see_nest(const Stmt *s, void *arg)
{
    Iters *t = arg;

    stmt_visit_expr(s, see_choice, t);
    if (s->kind == ST_STORE && s->u.store.buf->scope == MEM_FRAGMENT)
        for (int i = 0; i < s->u.store.n; i++)
            t->chooses |= expr_uses_var(s->u.store.at[i], t->v);
    return true;
}

static bool see(const Stmt *s, void *arg)
{
    Iters *t = arg;

    t->size++;
    if (stmt_is_nest(s))
        stmt_visit(s->u.loop.body, see_nest, t);
    return true;
}

/* Plans know nests by their variables: a copy has its own. */
static const Stmt *own_loops(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (s->kind != ST_FOR)
        return s;
    Var *v = s->u.loop.var, *own = var_new(ir, v->name, v->type, v->span);
    return stmt_for(ir, s->span, s->u.loop.how, own, s->u.loop.min, s->u.loop.extent,
                    s->u.loop.hints, stmt_subst(ir, s->u.loop.body, v, expr_var(ir, own)));
}

static const Stmt *expand(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    int64_t n, first;

    if (s->kind != ST_FOR || (s->u.loop.how != LOOP_SERIAL && s->u.loop.how != LOOP_UNROLL) ||
        !expr_is_int(s->u.loop.extent, &n) || !expr_is_int(s->u.loop.min, &first) ||
        n < 1 || n > ITERS_MOST)
        return s;
    Iters t = {.v = s->u.loop.var};
    stmt_visit(s->u.loop.body, see, &t);
    if (!t.chooses || stmt_leaves(s->u.loop.body) || t.size * n > SIZE_MOST)
        return s;
    const Stmt **copy = NEWN(ir->arena, const Stmt *, n);
    for (int64_t i = 0; i < n; i++) {
        const Stmt *body = s->u.loop.body;
        if (i)
            body = stmt_map(ir, stmt_anew(k, body), own_loops, NULL);
        copy[i] = stmt_subst(ir, body, s->u.loop.var,
                             expr_const(ir, s->u.loop.var->type, first + i));
    }
    return stmt_block(ir, s->span, (int)n, copy);
}

void pass_lower_choices(Kernel *k)
{
    if (!k->uses_threads)
        k->body = stmt_map(k->ir, k->body, expand, k);
}
