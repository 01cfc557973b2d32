/* warp_reduce.h -- reductions, scans and votes between the registers of threads. */
#ifndef TL_PASS_WARP_REDUCE_H
#define TL_PASS_WARP_REDUCE_H

#include "op/op.h"

/* Reductions: own slots, then lanes, then parts through scratch.  Scans and T.any_of
 * likewise. */
extern const Mech mech_shuffle;

/* warp_scan.c: scans between lanes.  The layout they work in, over a region of a tile. */
bool scan_can_shuffle(Kernel *k, const Stmt *t, const char **why);
const Stmt *scan_by_shuffle(Kernel *k, const Stmt *t);
const Layout *scan_layout(Kernel *k, const Region *r, int dim, int64_t nthread);

/* warp_allreduce.c: a value of every thread, for every thread. */
const Stmt *lower_allreduce(Kernel *k, const Stmt *s);
bool any_of_can_shuffle(const Stmt *t, const char **why);
const Stmt *any_of_by_shuffle(Kernel *k, const Stmt *t);

#endif
