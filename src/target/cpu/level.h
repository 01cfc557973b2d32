/* level.h -- what a CPU has: the processor at hand, or one that -mcpu= names. */
#ifndef TL_TARGET_CPU_LEVEL_H
#define TL_TARGET_CPU_LEVEL_H

#include "target/target.h"

typedef struct {
    int vector_bytes; /* 64 AVX-512, 32 AVX2, those of SVE, 16 otherwise */
    bool arm;         /* aarch64 */
    bool vnni, bf16, amx;
    bool sdot, mmla;  /* of aarch64: dot products of bytes, products of row pairs */
    int64_t l1_bytes, l2_bytes, l3_bytes; /* fixed by level, for bundles */
} CpuLevel;

/* arch.c: of a spec of target cpu */
const CpuLevel *cpu_level(const TargetSpec *s);

#endif
