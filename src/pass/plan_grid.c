/* plan_grid.c -- raster order of the blocks, persistence, clusters, split-K.
 *
 * A target without warps runs the blocks of the grid as tasks in row order: T.use_swizzle changes
 * the order of blocks only, never a result, so nothing is planned there. */
#include "pass/pass.h"

void pass_plan_grid(Kernel *k)
{
    BUG(k->ngrid < 1 || k->ngrid > 3, "a grid of %d dimensions", k->ngrid);
}
