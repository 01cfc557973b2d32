/* lower_async.c -- what copies in flight report to: groups of their queue, barriers of tiles.
 *
 * needs   FORM_NOPIPE
 * gives   FORM_TOKENS
 *
 * T.async_copy is a copy and the end of its group; the kernel says where to wait
 * (T.ptx_wait_group).  One that is done at once closes its group all the same, so that groups count
 * as the kernel counts them.  So is a T.Parallel nest with prefer_async that only copies, when the
 * kernel closes groups itself.  Copies of pipelined loops got their groups in lower_pipeline, those
 * of a producer their pipelines in lower_warps; a bulk copy without either gets a barrier here
 * (lower_async_bulk.c). */
#include "pass/pass.h"
#include "pass/async_copy.h"

/* T.Parallel(prefer_async=True): the copies of the nest, and the wait for them unless the kernel
 * says that it waits itself. */
static const Stmt *async_nest(Kernel *k, const Stmt *s)
{
    Ir *ir = k->ir;
    const Stmt *copy = kernel_has(k, HAS_ASYNC_COPY) ? nest_by_hand(ir, s) : NULL;

    if (!copy)
        diag_ignored(k->diag, s->span, "prefer_async",
                     "only copies of whole elements from global to shared memory can be "
                     "asynchronous, where the machine has such copies [ignored]");
    if (!copy || copy == s ||
        hint_int(s->u.loop.hints, "parallel_async_without_async_commit_wait", 0))
        return copy ? copy : s;
    const Stmt *list[3] = {copy, stmt_commit(ir, s->span, QUEUE_COPIES),
                           stmt_wait(ir, s->span, QUEUE_COPIES, 0, 0, NULL)};
    return stmt_block(ir, s->span, 3, list);
}

static const Stmt *close_group(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;

    if (s->kind == ST_FOR && hint_int(s->u.loop.hints, "prefer_async", 0))
        return async_nest(k, s);
    if (!tile_does(s, TILE_COPIES) || !tile_plan(k, s)->in_group)
        return s;
    return stmt_seq(ir, s, stmt_commit(ir, s->span, QUEUE_COPIES));
}

void pass_lower_async(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, close_group, k);
    lower_bulk_alone(k);
}
