/* plan_moves.c -- plans that depend on where elements lie.
 *
 * needs   FORM_LAYOUTS     and no conversion to come: a statement's tiles lie as they will
 *
 * What would be done by the operator's own loops is offered to the target's rows of MECH_LAYOUT:
 * matrix stores of accumulators among them.  A kernel whose tiles, padded or converted, leave no
 * room for the next tile's is not persistent. */
#include "pass/pass.h"
#include "pass/plan_how.h"
#include "pass/plan_persistent.h"
#include "pass/thread_group.h"

static bool plan(const Stmt *s, ThreadGroup who, void *arg)
{
    if (s->kind == ST_TILE && tile_plan(arg, s)->how->own_loops)
        plan_mechanism(arg, who, s, MECH_LAYOUT);
    return true;
}

void pass_plan_moves(Kernel *k)
{
    group_visit(k, plan, k);
    if (k->persistent && !persistent_fits(k))
        k->persistent = 0;
}
