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

static bool is_together(const Stmt *s, void *arg)
{
    (void)arg;
    return group_together(s);
}

/* An arm whose threads come first of those that are left, and all come, leaves a range to the arms
 * after it.  Any other stands inside of a condition that does. */
static const Stmt *put_arm(GroupWalk *w, const GroupArm *arm, int first, const Stmt *rest)
{
    Ir *ir = w->k->ir;
    const Stmt *s = arm->branch;

    if (!rest || (arm->pure && arm->threads.first == first))
        return stmt_if(ir, s->span, s->u.branch.cond, s->u.branch.then, rest);
    const Expr *end = expr_int(ir, arm->threads.first + arm->threads.n);
    return stmt_if(ir, s->span, expr_lt(ir, thread_in_block(w->k), end),
                   stmt_if(ir, s->span, s->u.branch.cond, s->u.branch.then, NULL), rest);
}

/* The threads that an arm leaves over follow each other no more: those of arms after it would not
 * be known. */
static const Stmt *sort_arms(GroupWalk *w, const Stmt *s)
{
    ThreadGroup then, orelse;
    bool known[2];
    GroupArm arm[ARMS_MOST];
    const Stmt *chain = NULL;

    if (s->kind != ST_IF || !s->u.branch.orelse ||
        !group_of_branch(w, s->u.branch.cond, &then, &orelse, known))
        return s;
    if (known[1]) {
        ThreadGroup was = w->who;
        w->who = orelse;
        const Stmt *rest = sort_arms(w, s->u.branch.orelse);
        w->who = was;
        return rest == s->u.branch.orelse ? s : stmt_if(w->k->ir, s->span, s->u.branch.cond,
                                                        s->u.branch.then, rest);
    }
    int n = stmt_any(s->u.branch.orelse, is_together, NULL) ? group_arms(w, s, arm) : 0;
    for (int i = n - 1; i >= 0; i--)
        chain = put_arm(w, &arm[i],
                        i ? arm[i - 1].threads.first + arm[i - 1].threads.n : w->who.first, chain);
    return chain ? chain : s;
}

/* Where all threads of the block come by. */
static const Stmt *sort_chains(void *walk, const Stmt *s)
{
    GroupWalk *w = walk;

    group_see_let(w, s);
    if (s->kind == ST_IF)
        return sort_arms(w, s);
    bool nest = stmt_is_nest(s);
    return nest || s->kind == ST_ROLE ? s : stmt_map_kids(w->k->ir, s, sort_chains, w);
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
