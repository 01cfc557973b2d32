/* lower_launch.c -- what the host needs to launch a kernel.
 *
 * needs   FORM_WIDTHS
 * gives   FORM_SPLIT
 *
 * Host statements already stand in the Func around ST_LAUNCH; here the grid is brought to a form
 * the host can evaluate: expressions over dims and scalar parameters only. */
#include "pass/pass.h"

void pass_lower_launch(Kernel *k)
{
    for (int d = 0; d < k->ngrid; d++)
        if (expr_has_load(k->grid[d]))
            diag_fail(k->diag, k->span,
                      "the grid of T.Kernel cannot depend on the contents of a tensor [grid-load]");
}
