/* outer.h -- GEMMs without matrix instructions, for targets that know no more of a GPU than its
 * shared memory. */
#ifndef TL_TARGET_OUTER_H
#define TL_TARGET_OUTER_H

#include "op/op.h"

extern const Mech mech_outer; /* each thread has a rectangle of the result */

/* ---- outer_tiles.c: see Machine */
/* want, halved while half of it covers the extent, and not below least */
int64_t tile_at_most(int64_t want, int64_t extent, int64_t least);
/* Q, K, V and the scores of a block fit its shared memory. */
TileChoice tiles_of_attention(const Machine *m, int64_t S, int64_t D, int type, int threads);
TileChoice outer_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                            int cores);
TileChoice outer_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal);

#endif
