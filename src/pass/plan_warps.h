/* plan_warps.h -- warp specialization: what a producer does, and MMAs that overlap. */
#ifndef TL_PASS_PLAN_WARPS_H
#define TL_PASS_PLAN_WARPS_H

#include "op/op.h"

bool kernel_has_producer(Kernel *k); /* is a copy planned for one? */
enum { PIPES_MOST = 64 }; /* of full and empty barriers in a kernel, and one */

/* lower_warps_overlap.c: part of lower_warps; NULL: the loop is not of that kind. */
const Stmt *overlap_mmas(Kernel *k, const Stmt *loop);

#endif
