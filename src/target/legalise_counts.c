/* legalise_counts.c -- before all threads come to a barrier of some: are those some the ones that
 * the barrier counts?
 *
 *     if tx < 64: A, barrier of 64, B      nobody else takes part: A, barrier, B one after the
 *                                          other, whatever the rest of the block does
 *     if tx < 64: A, barrier of 128, B     others come to it elsewhere: what they do before it
 *                                          would come too late
 */
#include "op/op.h"
#include "pass/thread_nest.h"
#include "target/legalise.h"

typedef struct {
    Legal *l;
    Kernel *k;
    Vary *vary;
    Map lets; /* names that differ between threads, in terms of the thread */
    int n;    /* threads of a block */
} Counts;

static bool is_thread(const Kernel *k, const Var *v)
{
    return v == k->thread[0] || v == k->thread[1] || v == k->thread[2];
}

/* Something that is not known of each thread. */
static bool see_unknown(const Expr *x, void *arg)
{
    const Counts *c = arg;

    if (x->op == EX_INT)
        return false;
    if (x->op == EX_VAR)
        return !is_thread(c->k, x->u.var);
    return x->lanes != 1 || x->nkid > 3 || x->op < EX_ADD || x->op > EX_CAST || x->op == EX_DIV;
}

static int64_t of_thread(const Counts *c, const Expr *x, int thread)
{
    int most = 0;

    for (int d = 0; d < 3; d++)
        if (c->k->thread[d])
            most = MAX(most, (int)c->k->thread[d]->id);
    int64_t *value = NEWN(c->l->e->arena, int64_t, most + 1);
    for (int d = 0; d < 3; d++) {
        int all = MAX(c->k->threads[d], 1);
        if (c->k->thread[d])
            value[c->k->thread[d]->id] = thread % all;
        thread /= all;
    }
    return expr_eval(x, value);
}

/* Those of `on` for which the condition, in terms of the thread, holds or does not; where all of
 * them do alike: all.  NULL: it is not known which. */
static const bool *those(const Counts *c, const bool *on, const Expr *x, bool side)
{
    if (!on || !vary_expr(c->vary, x))
        return on;
    if (x->op == EX_AND && side)
        return those(c, those(c, on, x->kid[0], true), x->kid[1], true);
    if (expr_any(x, see_unknown, (void *)c))
        return NULL;
    bool *r = NEWN(c->l->e->arena, bool, c->n);
    for (int i = 0; i < c->n; i++)
        r[i] = on[i] && (of_thread(c, x, i) != 0) == side;
    return r;
}

static void check_one(Counts *c, const Stmt *s, const bool *on)
{
    int64_t id = 0, count = 0;
    int come = 0;

    if (s->u.call.which != INTRIN_SYNC_THREADS || s->u.call.n < 2 ||
        (expr_is_int(s->u.call.arg[0], &id) && id <= 0))
        return;
    for (int i = 0; on && i < c->n; i++)
        come += on[i];
    if (on && expr_is_int(s->u.call.arg[1], &count) && come == count)
        return;
    c->l->at = s->span;
    legal_refuse(c->l, "a barrier that threads of several branches may come to");
}

static void check(Counts *c, const Stmt *s, const bool *on)
{
    const bool *inside = on;

    if (s->kind == ST_CALL)
        check_one(c, s, on);
    if (s->kind == ST_LET && vary_expr(c->vary, s->u.let.value))
        map_set(&c->lets, s->u.let.var,
                (void *)expr_subst_map(c->l->ir, s->u.let.value, &c->lets, NULL));
    if (s->kind == ST_IF) {
        const Expr *x = expr_subst_map(c->l->ir, s->u.branch.cond, &c->lets, NULL);
        check(c, s->u.branch.then, those(c, on, x, true));
        if (s->u.branch.orelse)
            check(c, s->u.branch.orelse, those(c, on, x, false));
        return;
    }
    if ((s->kind == ST_FOR || s->kind == ST_WHILE) && vary_head(c->vary, s))
        inside = NULL;
    for (int i = 0; i < stmt_nkid(s); i++)
        if (stmt_kid(s, i))
            check(c, stmt_kid(s, i), inside);
}

void legal_check_counts(Legal *l, Vary *vary, const Stmt *body)
{
    Kernel *k = l->e->k;
    Counts c = {.l = l, .k = k, .vary = vary, .n = kernel_launch_threads(k)};
    bool *all = NEWN(l->e->arena, bool, c.n);

    map_init(&c.lets, l->e->arena);
    memset(all, true, (size_t)c.n * sizeof *all);
    check(&c, body, all);
}

/* ---- roles ----------------------------------------------------------------------------------- */

/* A role of some warps is a branch for its threads. */
const Stmt *legal_role(Ir *ir, const Stmt *s, void *arg)
{
    Legal *l = arg;
    Kernel *k = l->e->k;
    const Expr *here = NULL;

    if (s->kind != ST_ROLE || s->u.role.nthread == 0 || role_lone(s) >= 0)
        return s;
    const Expr *group = expr_floordiv(ir, thread_in_block(k), expr_int(ir, ROLE_THREADS));
    for (int i = 0; i < s->u.role.nthread; i++) {
        const Expr *one = expr_binary(ir, EX_EQ, group, expr_int(ir, s->u.role.thread[i]));
        here = here ? expr_binary(ir, EX_OR, here, one) : one;
    }
    return stmt_if(ir, s->span, here, s->u.role.body, NULL);
}
