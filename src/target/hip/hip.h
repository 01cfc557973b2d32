/* hip.h -- the HIP target's own declarations, by file. */
#ifndef TL_TARGET_HIP_HIP_H
#define TL_TARGET_HIP_HIP_H

#include "target/target.h"
#include "isa/isa.h"
#include "pass/pass.h"

/* The generations, as rows of instructions name them. */
enum { CDNA2 = 2, CDNA3 = 3, CDNA4 = 4 };

/* ---- arch.c: its words, and the machine they describe */
extern const TargetOption hip_options[];
const char *hip_read_arch(Arena *a, const char *word, TargetSpec *s);
const char *hip_read_model(Arena *a, const char *word, TargetSpec *s);
void hip_start(Arena *a, TargetSpec *s);
const char *hip_suggest(Arena *a, const char *word);
int hip_dies(const Machine *m); /* that workgroups go to in turn */

/* ---- tiles.c: see Machine */
TileChoice hip_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                          int cores);
TileChoice hip_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal);

/* ---- plan.c */
extern const Mech *const hip_mechs[];

/* ---- emit.c */
void hip_emit(Func *f, const TargetSpec *spec, Str *out);

#endif
