/* tiles.c -- block sizes, stages and threads that suit AMD's GPUs: what fits 64 KiB of shared
 * memory and gives each of four waves several tiles.  Not measured: no such GPU was at hand. */
#include "target/hip/hip.h"

static int64_t at_most(int64_t want, int64_t extent, int64_t least)
{
    while (want > least && want / 2 >= extent)
        want /= 2;
    return want;
}

TileChoice hip_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                           int cores)
{
    int64_t row = 128 * 8 / dtype_bits((DType)type); /* of 128 bytes: all banks once */
    TileChoice t = {.m = at_most(128, size[0], 16), .n = at_most(128, size[1], 16), .stages = 2,
                    .threads = 256, .split = 1};

    (void)m;
    (void)trans;
    (void)cores;
    t.k = at_most(row, size[2], 16);
    if (t.m * t.n <= 64 * 64)
        t.threads = 128;
    return t;
}

TileChoice hip_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal)
{
    TileChoice t = {.m = at_most(64, S, 16), .n = at_most(64, S, 16), .k = D, .stages = 1,
                    .threads = 256, .split = 1};

    (void)causal;
    /* Q, K and V together, and what the scores go through. */
    while (t.n > 16 && (t.m + 3 * t.n) * D * dtype_bits((DType)type) / 8 > m->shared_block)
        t.n /= 2;
    return t;
}
