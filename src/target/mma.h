/* mma.h -- GEMMs by matrix instructions of a warp, whatever its lanes hold of the operands: rows of
 * isa/matrix.def. */
#ifndef TL_TARGET_MMA_H
#define TL_TARGET_MMA_H

#include "isa/isa.h"
#include "pass/pass.h"
#include "pass/thread_nest.h"

/* ---- mma_plan.c */

/* How the warps of a block share a GEMM: rows x columns of warps, each with its own part. */
typedef struct {
    const Isa *mma;
    int m, n, k;          /* of the instruction */
    int lanes;            /* of a warp */
    int64_t M, N, K;      /* of the tile */
    int warps_m, warps_n;
    int64_t part_m, part_n; /* whole tiles of the instruction */
    bool a_in_registers;
    bool cut_m, cut_n;    /* parts reach past C */
    bool thrice;          /* float32 by three MMAs of its high and low parts */
    int pack;             /* steps of k that a lane reads together: runs so many times as long */
    int spread[2];        /* tiles of A, of B, whose rows or columns interleave */
} MmaPlan;

bool mma_plan(Kernel *k, ThreadGroup who, const Stmt *t, MmaPlan *p, const char **why);
int64_t mma_pack_asked(const Stmt *t); /* k_pack */
bool mma_suits(Kernel *k, const Stmt *t); /* its types are of some matrix instruction */
uint32_t mma_staged(const Stmt *t, const MmaPlan *p); /* operands to bring to shared memory, bits */
void mma_infer(Infer *in, const Stmt *t);

/* ---- mma_lower.c */
const Stmt *mma_lower(Kernel *k, ThreadGroup who, const Stmt *t);

#endif
