/* opt_fold_clears.c -- a result that is cleared and then added to.
 *
 *     fill(C, 0); ...; gemm(A, B, C)   ->   gemm(A, B, C, clear_accum=True)
 *
 * where nothing between the two uses C or leaves, and both stand in one block: a warpgroup's MMA
 * can overwrite its result for nothing.  So with a loop that surely runs, whose body has that MMA
 * alone of all that uses C: its first iteration clears. */
#include "pass/pass.h"
#include "pass/body_uses.h"
#include "pass/plan_how.h"

bool is_zero_fill(const Stmt *s)
{
    const Expr *v = tile_does(s, TILE_FILLS) && s->u.tile.narg > 0 ? s->u.tile.arg[0] : NULL;
    double f;

    if (!v || !region_is_whole(&s->u.tile.region[0]))
        return false;
    return expr_is_float(v, &f) ? f == 0 : expr_is_zero(v);
}

int mma_after(Kernel *k, const Stmt *block, int from, const Buffer *c)
{
    for (int i = from + 1; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        if (!stmt_uses(s, c) && !stmt_leaves(s))
            continue;
        bool mma = tile_does(s, TILE_MMA) && tile_plan(k, s)->how->overwrites &&
                   s->u.tile.region[2].buf == c && stmt_uses(s, c) == 1;
        bool adds = mma && (s->u.tile.narg <= 2 || !s->u.tile.arg[2] ||
                            expr_is_zero(s->u.tile.arg[2]));
        return adds ? i : -1;
    }
    return -1;
}

const Stmt *mma_clearing(Ir *ir, const Stmt *t, const Expr *when)
{
    int n = MAX(t->u.tile.narg, 3);
    const Expr **arg = NEWN(ir->arena, const Expr *, n);
    Stmt *s = NEW(ir->arena, Stmt);

    for (int i = 0; i < t->u.tile.narg; i++)
        arg[i] = t->u.tile.arg[i];
    arg[2] = when;
    *s = *t;
    s->u.tile.narg = n;
    s->u.tile.arg = arg;
    return s;
}

static int next_use(const Stmt *block, int from, const Buffer *c)
{
    for (int i = from + 1; i < block->u.block.n; i++) {
        if (stmt_uses(block->u.block.list[i], c))
            return i;
        if (stmt_leaves(block->u.block.list[i]))
            return -1;
    }
    return -1;
}

const Stmt *mma_clearing_loop(Kernel *k, const Stmt *loop, const Buffer *c)
{
    Ir *ir = k->ir;
    const Stmt *body = loop->u.loop.body;

    if ((loop->u.loop.how != LOOP_PIPELINED && loop->u.loop.how != LOOP_SERIAL) ||
        body->kind != ST_BLOCK || stmt_uses(loop, c) != 1)
        return NULL;
    int at = mma_after(k, body, -1, c);
    if (at < 0)
        return NULL;
    const Stmt **list = memcpy(NEWN(ir->arena, const Stmt *, body->u.block.n), body->u.block.list,
                               sizeof *list * (size_t)body->u.block.n);
    const Expr *first = expr_binary(ir, EX_EQ, expr_var(ir, loop->u.loop.var), loop->u.loop.min);
    list[at] = mma_clearing(ir, list[at], first);
    return stmt_with_body(ir, loop, stmt_block(ir, body->span, body->u.block.n, list));
}

/* What uses the tile next, clearing it; NULL: that does not. */
static const Stmt *clearing_use(Kernel *k, const Stmt *block, int from, int *at)
{
    const Buffer *c = block->u.block.list[from]->u.tile.region[0].buf;
    int64_t n;

    *at = next_use(block, from, c);
    const Stmt *use = *at < 0 ? NULL : block->u.block.list[*at];
    if (!use)
        return NULL;
    if (use->kind == ST_FOR)
        return expr_is_int(use->u.loop.extent, &n) && n > 0 ? mma_clearing_loop(k, use, c) : NULL;
    if (mma_after(k, block, from, c) != *at)
        return NULL;
    return mma_clearing(k->ir, block->u.block.list[*at], expr_bool(k->ir, true));
}

static const Stmt *fold(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    const Stmt **list = NULL;

    for (int i = 0; s->kind == ST_BLOCK && i < s->u.block.n; i++) {
        int at = -1;
        Stmt now = *s; /* a loop may clear several results */
        now.u.block.list = list ? list : s->u.block.list;
        const Stmt *use = is_zero_fill(s->u.block.list[i]) ? clearing_use(k, &now, i, &at) : NULL;
        if (!use)
            continue;
        if (!list)
            list = memcpy(NEWN(ir->arena, const Stmt *, s->u.block.n), s->u.block.list,
                          sizeof *list * (size_t)s->u.block.n);
        list[i] = stmt_block(ir, s->span, 0, NULL);
        list[at] = use;
    }
    return list ? stmt_block(ir, s->span, s->u.block.n, list) : s;
}

void pass_opt_fold_clears(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, fold, k);
}
