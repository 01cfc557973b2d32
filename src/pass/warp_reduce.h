/* warp_reduce.h -- reductions, scans and votes between the registers of threads. */
#ifndef TL_PASS_WARP_REDUCE_H
#define TL_PASS_WARP_REDUCE_H

#include "op/op.h"

/* Mechanisms of all targets whose lanes hand values to each other. */
extern const Mech mech_shuffle; /* reductions: own slots, then lanes, then parts through scratch */
extern const Mech mech_scan;    /* warp_scan.c */
extern const Mech mech_vote;    /* warp_allreduce.c: T.any_of and T.all_of */
bool tile_reads_registers(Kernel *k, const Stmt *t); /* what they are made for */
#define MECHS_SHUFFLE &mech_shuffle, &mech_scan, &mech_vote

/* warp_allreduce.c: a value of every thread, for every thread. */
const Stmt *lower_allreduce(Kernel *k, ThreadGroup who, const Stmt *s);
/* T.syncthreads_count, _and, _or where barriers bring nothing along (HAS_BLOCK_VOTES). */
bool call_votes(const Stmt *s);
const Stmt *lower_votes(Kernel *k, const Stmt *s);

#endif
