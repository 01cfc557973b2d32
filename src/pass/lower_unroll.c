/* lower_unroll.c -- copy the bodies of loops marked T.unroll(explicit=True).
 *
 * needs   FORM_FLAT        so that no tile operator is copied
 * gives   FORM_NOUNROLL
 * breaks  FORM_SIMPLE      each copy has its variable replaced by a constant */
#include "pass/pass.h"

enum { MOST = 1024 }; /* copies; past this the emitted code helps nobody */

static const Stmt *expand(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    int64_t n, first;

    if (s->kind != ST_FOR || s->u.loop.how != LOOP_UNROLL || !hint_int(s->u.loop.hints, "explicit", 0))
        return s;
    if (!expr_is_int(s->u.loop.extent, &n) || !expr_is_int(s->u.loop.min, &first))
        diag_fail(k->diag, s->span, "T.unroll needs a length known at compile time [unroll-length]");
    if (n > MOST)
        diag_fail(k->diag, s->span, "T.unroll of %lld copies; the most is %d [unroll-too-long]",
                  (long long)n, MOST);

    const Stmt **copy = NEWN(ir->arena, const Stmt *, n);
    for (int64_t i = 0; i < n; i++)
        copy[i] = stmt_subst(ir, s->u.loop.body, s->u.loop.var,
                             expr_const(ir, s->u.loop.var->type, first + i));
    return stmt_block(ir, s->span, (int)n, copy);
}

void pass_lower_unroll(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, expand, k);
}
