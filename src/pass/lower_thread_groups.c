/* lower_thread_groups.c -- fragments that belong to a role, or to the threads of a condition.
 *
 * What the block does with them is put under the condition that those threads come by. */
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

void pass_lower_thread_groups(Kernel *k)
{
    Wrap w = {.k = k};

    if (!k->uses_threads)
        return;
    group_fragments(k, &w.group);
    k->body = group_map(k, k->body, wrap_leaf, &w);
}
