/* tiles.c -- block sizes and threads that fit 32 KiB of threadgroup memory and give each of four
 * SIMD-groups several 8 x 8 tiles.  Not measured: no such GPU was at hand. */
#include "target/metal/metal.h"
#include "target/outer.h"

TileChoice metal_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                            int cores)
{
    (void)m;
    (void)trans;
    (void)cores;
    return (TileChoice){.m = tile_at_most(64, size[0], 16), .n = tile_at_most(64, size[1], 16),
                        .k = tile_at_most(dtype_bits((DType)type) > 16 ? 16 : 32, size[2], 8),
                        .stages = 1, .threads = 128, .split = 1};
}

TileChoice metal_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal)
{
    (void)causal;
    return tiles_of_attention(m, S, D, type, 128);
}
