/* plan_how.h -- mechanisms, and MMAs in flight. */
#ifndef TL_PASS_PLAN_HOW_H
#define TL_PASS_PLAN_HOW_H

#include "op/op.h"

/* The first of the target's mechanisms of a step that can; where none can, the
 * operator's own loops (MECH_HOW) or what is planned already. */
void plan_mechanism(Kernel *k, ThreadGroup who, const Stmt *t, MechStep step);
const char *tile_text(Kernel *k, const Stmt *tile); /* "copy A, A_s (line 15)", for --plans */
/* Can one of the target's do it, better than the operator's own loops? */
bool has_mechanism(Kernel *k, ThreadGroup who, const Stmt *t);
bool is_mma_in_flight(Kernel *k, const Stmt *s); /* an MMA that goes on beside the threads */
bool needs_two_groups(Kernel *k); /* plan_how_widen.c: one has too few registers */
/* opt_fold_clears.c: the warpgroups' MMA after statement `from` of the block that uses c next
 * and adds to it, -1 if something else does; that MMA, overwriting c where `when` holds. */
int mma_after(Kernel *k, const Stmt *block, int from, const Buffer *c);
const Stmt *mma_clearing(Ir *ir, const Stmt *t, const Expr *when);
/* The loop, its MMA clearing c in the first iteration; NULL: it has none that may. */
const Stmt *mma_clearing_loop(Kernel *k, const Stmt *loop, const Buffer *c);
bool is_zero_fill(const Stmt *s); /* of a whole tile */

#endif
