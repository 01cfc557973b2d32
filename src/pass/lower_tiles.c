/* lower_tiles.c -- tile operators become loops and instructions, by the plan of each.
 *
 * needs   FORM_LAYOUTS, FORM_NOPIPE
 * gives   FORM_LOOPS
 * breaks  FORM_SIMPLE      indices are sums of region starts and loop variables */
#include "isa/isa.h"
#include "pass/pass.h"

/* What a copy was told and the way it goes has no use for. */
static void tell_ignored(Kernel *k, const Stmt *t)
{
    bool bulk = tile_plan(k, t)->how->bulk;
    Hints h = t->u.tile.hints;

    if (bulk && hint_find(h, "coalesced_width"))
        diag_ignored(k->diag, t->span, "coalesced_width",
                     "this copy is one of whole boxes, which no thread takes part in [ignored]");
    if (hint_find(h, "cluster_mask") && !hint_find(h, "async") && tile_plan(k, t)->share < 2)
        diag_ignored(k->diag, t->span, "cluster_mask",
                     "each block of the cluster copies this tile for itself [ignored]");
    if ((!bulk || t->u.tile.op->id == OP_im2col) && hint_find(h, "eviction_policy"))
        diag_ignored(k->diag, t->span, "eviction_policy",
                     "only bulk copies of T.copy and T.tma_copy have one [ignored]");
}

static const Stmt *lower_one(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;

    if (s->kind == ST_CALL && s->u.call.which == INTRIN_ALLREDUCE && kernel_on_warps(k))
        return lower_allreduce(k, s);
    if (s->kind != ST_TILE)
        return s;
    const TileOp *op = s->u.tile.op;
    const Stmt *r = NULL;
    if (kernel_on_warps(k))
        tell_ignored(k, s);
    if (tile_plan(k, s)->how->lower)
        r = tile_plan(k, s)->how->lower(k, s);
    if (!r)
        r = op->lower(k, s);
    if (!r || stmt_is_empty(r))
        return stmt_block(ir, s->span, 0, NULL);
    /* Where the body is per thread, what fills a thread's own memory is the thread's; any other
     * operator is still the block's: one thread does it for all. */
    bool collective = k->uses_threads && !kernel_on_warps(k) &&
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

/* ---- products side by side ------------------------------------------------------------------- */

static bool is_call(const Stmt *s, Intrin which)
{
    return s->kind == ST_CALL && s->u.call.which == which;
}

static bool is_product(const Stmt *s)
{
    return s->kind == ST_INSTR && isa_is_product(s->u.instr.isa);
}

/* Do both add to the same registers, by one shape of instruction? */
static bool goes_on(const Stmt *a, const Stmt *b)
{
    const Region *x = a->u.instr.region, *y = b->u.instr.region;

    return x[2].buf == y[2].buf && x[0].buf->type == y[0].buf->type &&
           x[2].extent[x[2].buf->rank - 1] == y[2].extent[y[2].buf->rank - 1];
}

/* At list[i]: the end of a product and the wait for it, just before one that adds to its result. */
static bool ends_between(const Stmt *const *list, int n, int i)
{
    return i > 0 && i + 3 < n && is_product(list[i - 1]) && is_call(list[i], INTRIN_WGMMA_COMMIT) &&
           is_call(list[i + 1], INTRIN_WAIT_WGMMA) && expr_is_zero(list[i + 1]->u.call.arg[0]) &&
           is_call(list[i + 2], INTRIN_WGMMA_ARRIVE) && is_product(list[i + 3]) &&
           goes_on(list[i - 1], list[i + 3]);
}

/* Products that add up with nothing between them are waited for once: the scores of attention from
 * two pairs of tiles. */
static const Stmt *join_products(Ir *ir, const Stmt *s, void *arg)
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

void pass_lower_tiles(Kernel *k)
{
    if (kernel_on_warps(k))
        reducers_to_threads(k);
    k->body = team_map(k, k->body, lower, k);
    k->body = stmt_map(k->ir, k->body, join_products, NULL);
}
