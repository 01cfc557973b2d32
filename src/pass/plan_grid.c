/* plan_grid.c -- the order in which blocks run.
 *
 * needs   FORM_NORMAL
 * gives   FORM_GRID
 *
 * Blocks of a GEMM that run at the same time should share rows of A and columns of B in the
 * cache.  Where one copy depends on the first block index alone and another on the second alone,
 * and the kernel does not say otherwise (T.use_swizzle), the grid is walked in panels of rows. */
#include "pass/pass.h"
#include "ir/config.h"

enum { PANEL = 16 };

typedef struct {
    Kernel *k;
    bool only[2]; /* some copy depends on this block index and not on the other */
} Grid;

static bool depends(const Region *r, const Var *v)
{
    for (int d = 0; d < r->buf->rank; d++)
        if (expr_uses_var(r->at[d], v))
            return true;
    return false;
}

static bool see_copy(const Stmt *s, void *arg)
{
    Grid *g = arg;

    if (!tile_does(s, TILE_COPIES) || s->u.tile.region[0].buf->scope != MEM_GLOBAL)
        return true;
    const Region *from = &s->u.tile.region[0];
    bool x = depends(from, g->k->block[0]), y = depends(from, g->k->block[1]);
    g->only[0] |= x && !y;
    g->only[1] |= y && !x;
    return true;
}

void pass_plan_grid(Kernel *k)
{
    Grid g = {.k = k};

    if (k->swizzle_panel || k->ngrid != 2 || !kernel_on_warps(k) ||
        config_on(k->func, CONFIG_as_written))
        return;
    stmt_visit(k->body, see_copy, &g);
    if (g.only[0] && g.only[1])
        k->swizzle_panel = PANEL;
}
