/* fold_clear.c -- a result that is cleared and then added to.  Part of lower_staging.
 *
 *     fill(C, 0); ...; gemm(A, B, C)   ->   gemm(A, B, C, clear_accum=True)
 *
 * where nothing between the two uses C and both stand in one block: a warpgroup's product can
 * overwrite its result for nothing. */
#include "pass/pass.h"

static bool is_zero_fill(const Stmt *s)
{
    const Expr *v = s->kind == ST_TILE && s->u.tile.op->id == OP_fill && s->u.tile.narg > 0
                        ? s->u.tile.arg[0] : NULL;
    double f;

    if (!v || !region_is_whole(&s->u.tile.region[0]))
        return false;
    return expr_is_float(v, &f) ? f == 0 : expr_is_zero(v);
}

int product_after(Kernel *k, const Stmt *block, int from, const Buffer *c)
{
    for (int i = from + 1; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        if (!stmt_uses(s, c))
            continue;
        bool product = s->kind == ST_TILE && s->u.tile.op->id == OP_gemm &&
                       tile_plan(k, s)->how == HOW_WGMMA && s->u.tile.region[2].buf == c &&
                       stmt_uses(s, c) == 1;
        bool adds = product && (s->u.tile.narg <= 2 || !s->u.tile.arg[2] ||
                                expr_is_zero(s->u.tile.arg[2]));
        return adds ? i : -1;
    }
    return -1;
}

const Stmt *product_clearing(Ir *ir, const Stmt *t, const Expr *when)
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

static const Stmt *fold(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    const Stmt **list = NULL;

    for (int i = 0; s->kind == ST_BLOCK && i < s->u.block.n; i++) {
        const Stmt *f = s->u.block.list[i];
        int at = is_zero_fill(f) ? product_after(k, s, i, f->u.tile.region[0].buf) : -1;
        if (at < 0)
            continue;
        if (!list)
            list = memcpy(NEWN(ir->arena, const Stmt *, s->u.block.n), s->u.block.list,
                          sizeof *list * (size_t)s->u.block.n);
        list[i] = stmt_block(ir, s->span, 0, NULL);
        list[at] = product_clearing(ir, list[at], expr_bool(ir, true));
    }
    return list ? stmt_block(ir, s->span, s->u.block.n, list) : s;
}

void fold_clears(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, fold, k);
}
