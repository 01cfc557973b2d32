/* lower_agreed.c -- bounds of loops that are made of thread indices and are one number to all.
 *
 * needs   FORM_CHECKED
 *
 * Under `tx < 128` the loop `for k in range(tx // 128 + 2)` runs twice in every thread.  Where
 * threads do something together inside of a loop, such bounds become numbers, and so do values of a
 * variable of which a bound may be made: what follows then sees a loop that all run alike. */
#include "pass/pass.h"
#include "pass/thread_group.h"

static bool is_together(const Stmt *s, void *k)
{
    const Kernel *kernel = k;
    return group_together(s) && !(kernel->uses_threads && stmt_is_private(s));
}

static const Stmt *agreed_bounds(Ir *ir, ThreadGroup who, const Stmt *s, void *walk)
{
    GroupWalk *w = walk;

    if (who.n == 1 || !stmt_any(s->u.loop.body, is_together, w->k))
        return s;
    const Expr *min = group_fold_expr(w, s->u.loop.min);
    const Expr *extent = group_fold_expr(w, s->u.loop.extent);
    if (min == s->u.loop.min && extent == s->u.loop.extent)
        return s;
    return stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, min, extent, s->u.loop.hints,
                    s->u.loop.body);
}

static const Stmt *agreed_value(Ir *ir, ThreadGroup who, const Stmt *s, void *walk)
{
    if (s->kind != ST_STORE || s->u.store.buf->scope != MEM_VAR || who.n == 1 ||
        !group_agrees(walk, s->u.store.value))
        return s;
    return stmt_store_as(ir, s, s->u.store.at, s->u.store.n,
                         group_fold_expr(walk, s->u.store.value), s->u.store.guard);
}

void pass_lower_agreed(Kernel *k)
{
    GroupWalk w = {.fn = agreed_value, .loop = agreed_bounds};

    if (!k->uses_threads || kernel_block_threads(k) == 1)
        return;
    w.arg = &w;
    group_walk_init(&w, k);
    k->body = group_map_stmt(&w, k->body);
}
