/* plan_moves.c -- plans that depend on where elements lie.
 *
 * needs   FORM_LAYOUTS     and no conversion to come: a statement's tiles lie as they will
 *
 * What would be done by the operator's own loops is offered to the target's rows of MECH_LAYOUT:
 * matrix stores of accumulators among them.  A kernel whose tiles, padded or converted, leave no
 * room for the next tile's is not persistent; with that it is known whether blocks go by length. */
#include "pass/pass.h"
#include "pass/plan_how.h"
#include "pass/plan_persistent.h"
#include "pass/thread_group.h"
#include "ir/config.h"

static bool plan(const Stmt *s, ThreadGroup who, void *arg)
{
    if (s->kind == ST_TILE && tile_plan(arg, s)->how->own_loops)
        plan_mechanism(arg, who, s, MECH_LAYOUT);
    return true;
}

/* ---- the longest first ----------------------------------------------------------------------- */

/* What the copies of an iteration bring from global memory. */
static bool add_bytes(const Stmt *s, void *arg)
{
    int64_t *bytes = arg;

    if (tile_brings(s, MEM_GLOBAL, MEM_SHARED)) {
        const Region *to = &s->u.tile.region[1];
        *bytes += dtype_bytes(to->buf->type, region_nelem(to));
    }
    return true;
}

static bool bytes_in_loop(const Stmt *s, void *arg)
{
    if (s->kind != ST_FOR)
        return true;
    stmt_visit(s->u.loop.body, add_bytes, arg);
    return false;
}

static int64_t cache_for_panel(const Kernel *k)
{
    int64_t n = 1;

    while (2 * n <= k->machine->cache_bytes) /* some is left for what is written */
        n *= 2;
    return n;
}

/* Blocks of one long loop whose length depends on one index: the long ones first, so that none is
 * left alone at the end; of as many others at a time as the second cache holds what they read.
 * Persistent blocks go there and back where tiles differ. */
static void plan_longest(Kernel *k)
{
    int64_t blocks, bytes = 0;

    if (k->persistent ? !blocks_differ(k)
                      : config_on(k->func, CONFIG_as_written) || !grid_is_known(k, &blocks) ||
                            k->swizzle_panel || k->swizzle_order || cluster_size(k) > 1)
        return;
    BlockLength l = blocks_by_length(k);
    stmt_visit(k->body, bytes_in_loop, &bytes);
    int64_t most = l.iters * bytes;
    k->longest.dim = l.dim;
    k->longest.way = l.way;
    k->longest.panel = most ? MAX(cache_for_panel(k) / most, 1) : 0;
}

void pass_plan_moves(Kernel *k)
{
    group_visit(k, plan, k);
    if (k->persistent && !persistent_fits(k))
        k->persistent = 0;
    plan_longest(k);
}
