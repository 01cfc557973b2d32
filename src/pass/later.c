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

/* No mechanism in use yet leaves these anything to do. */
#define NOTHING_YET(pass)                                                                          \
    void pass_##pass(Kernel *k)                                                                    \
    {                                                                                              \
        (void)k;                                                                                   \
    }

NOTHING_YET(plan_pipeline) /* copies are synchronous: every statement is in stage 0 */
NOTHING_YET(lower_grid)    /* blocks run in launch order */
NOTHING_YET(lower_async)
NOTHING_YET(opt_waits)

LATER(plan_warps)
LATER(lower_warps)
LATER(lower_fences)
NOTHING_YET(opt_cse) /* the C compiler below does it */
