/* lower_tiles.c -- tile operators become loops and instructions, by the plan of each.
 *
 * needs   FORM_LAYOUTS, FORM_NOPIPE
 * gives   FORM_LOOPS
 * breaks  FORM_SIMPLE      indices are sums of region starts and loop variables */
#include "pass/pass.h"

static const Stmt *lower_one(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;

    if (s->kind == ST_CALL && s->u.call.which == INTRIN_ALLREDUCE && kernel_on_warps(k))
        return lower_allreduce(k, s);
    if (s->kind != ST_TILE)
        return s;
    const TileOp *op = s->u.tile.op;
    const Stmt *r = NULL;
    if (k->target->lower[op->id])
        r = k->target->lower[op->id](k, s);
    if (!r)
        r = op->lower(k, s);
    if (!r || stmt_is_empty(r))
        return stmt_block(ir, s->span, 0, NULL);
    /* Where the body is per thread, what fills a thread's own memory is the thread's; any other
     * operator is still the block's: one thread does it for all. */
    bool collective = k->uses_threads && !(k->target->features & FEAT_WARPS) &&
                      op->id != OP_reducer_update && !stmt_is_private(s);
    return collective ? stmt_role(ir, s->span, "collective", 0, NULL, r) : r;
}

/* A nest may hold operators that belong to its iterations.  The block says a thing once. */
static const Stmt *lower(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    bool once = s->kind == ST_TILE && s->u.tile.op->id == OP_print && kernel_on_warps(k) &&
                !k->uses_threads;

    s = stmt_map(ir, s, lower_one, arg);
    return once ? stmt_if(ir, s->span, expr_lt(ir, thread_index(k), expr_int(ir, 1)), s, NULL) : s;
}

void pass_lower_tiles(Kernel *k)
{
    if (kernel_on_warps(k))
        reducers_to_threads(k);
    k->body = team_map(k, k->body, lower, k);
}
