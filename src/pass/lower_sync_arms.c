/* lower_sync_arms.c -- barriers of the block, written in arms.
 *
 * Where each thread takes one arm of a branch, and all arms have as many plain barriers outside of
 * loops and branches of their own, these are one barrier of the whole block each: all its threads
 * come to it. */
#include "pass/sync.h"

enum { ARMS_DIFFER = -1 };

/* An arm that is a branch on the thread itself, or NULL. */
static const Stmt *inner_branch(GroupWalk *w, const Stmt *arm)
{
    return arm && arm->kind == ST_IF && vary_head(group_vary(w), arm) ? arm : NULL;
}

static int barriers_of_arms(GroupWalk *w, const Stmt *s);

static int barriers_of_arm(GroupWalk *w, const Stmt *arm)
{
    int n = 0;

    if (!arm)
        return ARMS_DIFFER;
    const Stmt *inner = inner_branch(w, arm);
    if (inner)
        return barriers_of_arms(w, inner);
    if (arm->kind != ST_BLOCK)
        return is_barrier(arm);
    for (int i = 0; i < arm->u.block.n; i++) {
        const Stmt *t = arm->u.block.list[i];
        if (t->kind == ST_BLOCK && !inner_branch(w, t))
            n += barriers_of_arm(w, t);
        else
            n += is_barrier(t);
    }
    return n;
}

static int barriers_of_arms(GroupWalk *w, const Stmt *s)
{
    int a = barriers_of_arm(w, s->u.branch.then), b = barriers_of_arm(w, s->u.branch.orelse);
    return a == b ? a : ARMS_DIFFER;
}

static const Stmt *block_barriers(GroupWalk *w, const Stmt *arm)
{
    Ir *ir = w->k->ir;
    const Stmt *inner = inner_branch(w, arm);

    if (inner)
        return stmt_if(ir, inner->span, inner->u.branch.cond,
                       block_barriers(w, inner->u.branch.then),
                       block_barriers(w, inner->u.branch.orelse));
    if (arm->kind == ST_BLOCK) {
        const Stmt **list = NEWN(ir->arena, const Stmt *, MAX(arm->u.block.n, 1));
        for (int i = 0; i < arm->u.block.n; i++) {
            list[i] = arm->u.block.list[i];
            if (!inner_branch(w, list[i]))
                list[i] = block_barriers(w, list[i]);
        }
        return stmt_block(ir, arm->span, arm->u.block.n, list);
    }
    if (!is_barrier(arm))
        return arm;
    const Expr *arg[2] = {expr_int(ir, 0), expr_int(ir, kernel_launch_threads(w->k))};
    return stmt_call(ir, arm->span, INTRIN_SYNC_THREADS, 2, arg, 0, NULL, NULL, NULL);
}

static const Stmt *find_block_barriers(void *walk, const Stmt *s)
{
    GroupWalk *w = walk;

    group_see_let(w, s);
    if (s->kind == ST_BLOCK)
        return stmt_map_kids(w->k->ir, s, find_block_barriers, w);
    if (s->kind == ST_IF && inner_branch(w, s) == s && barriers_of_arms(w, s) > 0)
        return block_barriers(w, s);
    return s;
}

const Stmt *block_barriers_of_arms(GroupWalk *w, const Stmt *body)
{
    return find_block_barriers(w, body);
}
