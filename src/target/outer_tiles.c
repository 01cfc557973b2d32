/* outer_tiles.c -- block sizes and threads for GPUs of which nothing is known but 16 KiB of shared
 * memory: 8 x 8 elements of a product for each of 64 threads, which on lavapipe was twice as fast
 * as 4 x 4 for each of 256. */
#include "target/outer.h"

int64_t tile_at_most(int64_t want, int64_t extent, int64_t least)
{
    while (want > least && want / 2 >= extent)
        want /= 2;
    return want;
}

TileChoice outer_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                            int cores)
{
    (void)m;
    (void)type;
    (void)trans;
    (void)cores;
    return (TileChoice){.m = tile_at_most(64, size[0], 16), .n = tile_at_most(64, size[1], 16),
                        .k = tile_at_most(16, size[2], 8), .stages = 1, .threads = 64,
                        .split = 1};
}

TileChoice tiles_of_attention(const Machine *m, int64_t S, int64_t D, int type, int threads)
{
    TileChoice t = {.m = tile_at_most(32, S, 8), .n = tile_at_most(32, S, 8), .k = D, .stages = 1,
                    .threads = threads, .split = 1};

    /* Q, K, V and the scores together. */
    while (t.m > 8 && ((t.m + 2 * t.n) * D + t.m * t.n) * dtype_bits((DType)type) / 8 >
                          m->shared_block) {
        t.m /= 2;
        t.n /= 2;
    }
    return t;
}

TileChoice outer_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal)
{
    (void)causal;
    return tiles_of_attention(m, S, D, type, 64);
}
