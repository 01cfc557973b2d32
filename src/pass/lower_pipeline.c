/* lower_pipeline.c -- pipelined loops that no role took over.
 *
 * needs   FORM_HOW
 * gives   FORM_NOPIPE
 *
 * Without asynchronous copies there is nothing to overlap: the loop is run in order, which is its
 * meaning. */
#include "pass/pass.h"

static const Stmt *in_order(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (s->kind != ST_FOR || s->u.loop.how != LOOP_PIPELINED)
        return s;
    return stmt_for(ir, s->span, LOOP_SERIAL, s->u.loop.var, s->u.loop.min, s->u.loop.extent,
                    (Hints){0}, s->u.loop.body);
}

void pass_lower_pipeline(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, in_order, NULL);
}
