/* lower_thread_groups.c -- fragments that belong to a role, or to the threads of a condition.
 *
 * What the block does with them is put under the condition that those threads come by.  Arms of a
 * chain of conditions go by their threads where an order of their own would leave pieces over. */
#include "pass/pass.h"
#include "pass/thread_group.h"
#include "pass/thread_nest.h"

typedef struct {
    Kernel *k;
    Map group;
} Wrap;

static const Stmt *wrap_leaf(Ir *ir, ThreadGroup who, const Stmt *s, void *arg)
{
    Wrap *w = arg;
    ThreadGroup t;

    if (who.n || !group_together(s) || (t = group_owner(&w->group, s)).n == 0)
        return s;
    const Expr *at = thread_in_block(w->k);
    const Expr *in = expr_and(ir, expr_binary(ir, EX_GE, at, expr_int(ir, t.first)),
                              expr_lt(ir, at, expr_int(ir, t.first + t.n)));
    return stmt_if(ir, s->span, in, s, NULL);
}

static bool see_together(const Stmt *s, void *arg)
{
    *(bool *)arg |= group_together(s);
    return true;
}

/* The threads that an arm leaves over follow each other no more: those of arms after it would not
 * be known. */
static const Stmt *sort_arms(GroupWalk *w, const Stmt *s)
{
    ThreadGroup then, orelse;
    bool known[2], together = false;
    GroupArm arm[ARMS_MOST];
    const Stmt *chain = NULL;

    if (!s->u.branch.orelse || !group_of_branch(w, s->u.branch.cond, &then, &orelse, known) ||
        known[1])
        return s;
    stmt_visit(s->u.branch.orelse, see_together, &together);
    int n = together ? group_arms(w, s, arm) : 0;
    for (int i = n - 1; i >= 0; i--)
        chain = stmt_if(w->k->ir, arm[i].branch->span, arm[i].branch->u.branch.cond,
                        arm[i].branch->u.branch.then, chain);
    return chain ? chain : s;
}

/* Where all threads of the block come by. */
static const Stmt *sort_chains(GroupWalk *w, const Stmt *s)
{
    const Stmt **list;

    group_see_let(w, s);
    switch (s->kind) {
    case ST_BLOCK:
        list = NEWN(w->k->ir->arena, const Stmt *, s->u.block.n + 1);
        for (int i = 0; i < s->u.block.n; i++)
            list[i] = sort_chains(w, s->u.block.list[i]);
        return stmt_block(w->k->ir, s->span, s->u.block.n, list);
    case ST_FOR:
        return s->u.loop.how == LOOP_PARALLEL
                   ? s : stmt_with_body(w->k->ir, s, sort_chains(w, s->u.loop.body));
    case ST_WHILE:
        return stmt_while(w->k->ir, s->span, s->u.branch.cond, sort_chains(w, s->u.branch.then));
    case ST_IF: return sort_arms(w, s);
    default: return s;
    }
}

void pass_lower_thread_groups(Kernel *k)
{
    Wrap w = {.k = k};
    GroupWalk walk = {0};

    if (!k->uses_threads)
        return;
    group_walk_init(&walk, k);
    k->body = sort_chains(&walk, k->body);
    group_fragments(k, &w.group);
    k->body = group_map(k, k->body, wrap_leaf, &w);
}
