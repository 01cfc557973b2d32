/* later.c -- rows of pass.def that belong to targets with warps.
 *
 * They stand in the table so that the order is fixed. */
#include "pass/pass.h"

/* No mechanism in use yet leaves these anything to do. */
#define NOTHING_YET(pass)                                                                          \
    void pass_##pass(Kernel *k)                                                                    \
    {                                                                                              \
        (void)k;                                                                                   \
    }

NOTHING_YET(opt_waits)

NOTHING_YET(opt_cse) /* the C compiler below does it */
