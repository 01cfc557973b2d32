/* later.c -- rows of pass.def that belong to targets with warps.
 *
 * They stand in the table so that the order is fixed; no target in this build has the features
 * that switch them on, and running one is a fault of ours. */
#include "pass/pass.h"

#define LATER(pass)                                                                                \
    void pass_##pass(Kernel *k)                                                                    \
    {                                                                                              \
        BUG(true, #pass " has no lowering for target %s yet", k->target->name);                    \
    }

LATER(lower_staging)
LATER(plan_warps)
LATER(plan_pipeline)
LATER(lower_grid)
LATER(lower_warps)
LATER(lower_async)
LATER(opt_waits)
LATER(opt_vectorize)
LATER(lower_fences)
LATER(opt_cse)
