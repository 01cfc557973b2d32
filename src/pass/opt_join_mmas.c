/* opt_join_mmas.c -- MMAs that add up with nothing between them are waited for once.
 *
 * The scores of attention from two pairs of tiles, say. */
#include "pass/pass.h"

static bool is_call(const Stmt *s, Intrin which)
{
    return s->kind == ST_CALL && s->u.call.which == which;
}

static bool is_mma(const Stmt *s)
{
    return s->kind == ST_INSTR && isa_is_mma(s->u.instr.isa);
}

/* Do both add to the same registers, by one shape of instruction? */
static bool goes_on(const Stmt *a, const Stmt *b)
{
    const Region *x = a->u.instr.region, *y = b->u.instr.region;

    return x[2].buf == y[2].buf && x[0].buf->type == y[0].buf->type &&
           x[2].extent[x[2].buf->rank - 1] == y[2].extent[y[2].buf->rank - 1];
}

/* At list[i]: the end of an MMA and the wait for it, just before one that adds to its result. */
static bool ends_between(const Stmt *const *list, int n, int i)
{
    return i > 0 && i + 3 < n && is_mma(list[i - 1]) && stmt_commits(list[i], QUEUE_MMA) &&
           stmt_waits(list[i + 1], QUEUE_MMA) && expr_is_zero(list[i + 1]->u.call.arg[0]) &&
           is_call(list[i + 2], INTRIN_SETTLE) && is_mma(list[i + 3]) &&
           goes_on(list[i - 1], list[i + 3]);
}

static const Stmt *join(Ir *ir, const Stmt *s, void *arg)
{
    const Stmt **list;
    int n = 0;

    (void)arg;
    if (s->kind != ST_BLOCK)
        return s;
    list = NEWN(ir->arena, const Stmt *, s->u.block.n);
    for (int i = 0; i < s->u.block.n; i++) {
        if (ends_between(s->u.block.list, s->u.block.n, i))
            i += 2;
        else
            list[n++] = s->u.block.list[i];
    }
    return n < s->u.block.n ? stmt_block(ir, s->span, n, list) : s;
}

void pass_opt_join_mmas(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, join, NULL);
}
