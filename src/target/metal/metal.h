/* metal.h -- what the files of the Metal target share. */
#ifndef TL_TARGET_METAL_METAL_H
#define TL_TARGET_METAL_METAL_H

#include "target/cuda/emit.h"

enum { LANES = 32, BUFFERS_MOST = 31 };

/* The emitter's state: that of CUDA C comes first, its functions take it. */
typedef struct {
    Cuda c;
    bool ordered; /* barriers order global memory too: the kernel at hand reads what it writes */
    Str asserts;  /* what T.device_assert says, by number */
    int nassert;
} Metal;
static inline Metal *metal_of(Emit *e) { return (Metal *)e; }

/* ---- tiles.c: see Machine */
TileChoice metal_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                            int cores);
TileChoice metal_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal);

/* ---- emit.c: text, by the state and some statements of the emitter of CUDA C */
void metal_emit(Func *f, const TargetSpec *spec, Str *out);
const char *metal_space(const Buffer *b); /* "device ", "threadgroup ", "thread " */

/* ---- call.c: what threads do together */
void metal_call(Emit *e, const Stmt *s);
bool metal_orders(Metal *m, const Stmt *body);

/* ---- atomic.c */
void metal_atomic(Emit *e, const Stmt *s);

/* ---- bundle.c */
void metal_bundle(const TargetBundle *b);

#endif
