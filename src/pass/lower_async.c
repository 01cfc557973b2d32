/* lower_async.c -- what copies in flight report to: groups of cp.async, barriers of boxes.
 *
 * needs   FORM_NOPIPE
 * gives   FORM_TOKENS
 *
 * T.async_copy is a copy and the end of its group; the kernel says where to wait
 * (T.ptx_wait_group).  One that is done at once closes its group all the same, so that groups count
 * as the kernel counts them.  So is a T.Parallel nest with prefer_async that only copies, when the
 * kernel closes groups itself.  Copies of pipelined loops got their groups in lower_pipeline, those
 * of a producer their rings in lower_warps; a bulk copy without either gets a barrier here
 * (async_box.c). */
#include "pass/pass.h"

static const Stmt *close_group(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;

    if (s->kind == ST_FOR && k->sm >= 80) {
        const Stmt *copy = nest_by_hand(ir, s);
        return copy ? copy : s;
    }
    if (s->kind != ST_TILE || s->u.tile.op->id != OP_copy || !hint_find(s->u.tile.hints, "async"))
        return s;
    const Hint *prefer = hint_find(s->u.tile.hints, "prefer_instruction");
    if (prefer && prefer->text && !strcmp(prefer->text, "tma"))
        return s;
    if (k->sm < 80) /* there are no groups, and nothing is in flight */
        return s;
    const Stmt *end = stmt_call(ir, s->span, INTRIN_COMMIT_GROUP, 0, NULL, 0, NULL, NULL, NULL);
    return stmt_seq(ir, s, end);
}

void pass_lower_async(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, close_group, k);
    lower_boxes_alone(k);
}
