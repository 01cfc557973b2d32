/* tiles_gpu.c -- block sizes, stages and threads that suit a matrix product on an NVIDIA GPU.
 *
 * Every tile whose accumulators fit the registers is tried, and the one that should take the least
 * time is taken.  Clocks of one tile, by what limits it:
 *   matrix units    m * n * K / rate                 rate: products per clock of one SM
 *   second cache    (m + n) * K bytes / L2_BYTES     what one SM gets when all pull
 *   start and end   START, and m * n elements of C going out at END_ELEMS per clock
 * times the waves that the grid takes.  Ties go to the smaller tile. */
#include "op/op.h"

enum { SMS = 132, SMS_OLD = 108, START = 1500, SHARED_BYTES = 232448, SHARED_OLD = 166912 };

static const double L2_BYTES = 46, END_ELEMS = 24;
static const double RAGGED = 1.04; /* a last strip of the result that is not 128 bytes wide */

static int64_t ceil_div(int64_t n, int64_t d)
{
    return (n + d - 1) / d;
}

/* Products per clock of one SM's matrix units. */
static double rate_of(DType t, int sm)
{
    double wide = sm >= 90 ? 2048 : 1024; /* of 16-bit types */
    int bits = dtype_bits(t);
    if (t == DT_TF32)
        return wide / 2;
    return bits == 8 ? 2 * wide : bits == 16 ? wide : bits == 4 ? 2 * wide : wide / 8;
}

static double clocks(const int64_t size[3], int64_t m, int64_t n, DType t, int sm)
{
    int64_t blocks = ceil_div(size[0], m) * ceil_div(size[1], n);
    double waves = (double)ceil_div(blocks, sm >= 90 ? SMS : SMS_OLD), k = (double)size[2];
    double area = (double)m * (double)n, bytes = (double)(m + n) * dtype_bits(t) / 8;
    double work = MAX(area * k / rate_of(t, sm), bytes * k / L2_BYTES);
    return waves * (work + START + area / END_ELEMS);
}

/* Hopper: 64 rows and 128 threads to a warpgroup, at most 128 accumulators to a thread.  Columns of
 * B that lie side by side (not nt) are read in panels of 64. */
static GpuTiles hopper(const int64_t size[3], DType t, bool nt, int sm)
{
    int64_t k = 128 * 8 / dtype_bits(t);
    GpuTiles best = {0};
    double least = 0;

    for (int64_t m = 64; m <= 128; m += 64)
        for (int64_t n = 64; n <= 256; n += nt ? 16 : n < 128 ? 32 : 64) {
            double c = clocks(size, m, n, t, sm) * (n % 64 ? RAGGED : 1);
            if (best.m && c >= least)
                continue;
            least = c;
            int64_t stage = (m + n) * k * dtype_bits(t) / 8;
            int stages = (int)MIN((SHARED_BYTES - 2048 - (n % 64 ? 3 : 2) * m * 128) / stage, 8);
            best = (GpuTiles){m, n, k, stages, m == 128 ? 256 : 128, 1, false};
        }
    return best;
}

/* Before it: warps of 64 x 64, rows of 128 bytes in two stages: two blocks of four warps or one of
 * eight fit the shared memory of all of them. */
static GpuTiles ampere(const int64_t size[3], DType t, int sm)
{
    int64_t k = MAX(128 * 8 / dtype_bits(t), 16);
    GpuTiles best = {0};
    double least = 0;

    for (int64_t m = 64; m <= 128; m *= 2)
        for (int64_t n = 64; n <= 256; n *= 2) {
            double c = clocks(size, m, n, t, sm);
            if (best.m && c >= least)
                continue;
            least = c;
            best = (GpuTiles){m, n, k, 2, m * n > 128 * 128 ? 256 : 128, 1, false};
        }
    return best;
}

GpuTiles tiles_for_gpu(int64_t M, int64_t N, int64_t K, DType t, bool nt, int sm)
{
    int64_t size[3] = {M, N, K};

    if (dtype_bits(t) > 16 && t != DT_TF32) /* no matrix units: small tiles in registers */
        return (GpuTiles){64, 64, 16, 2, 128, 1, false};
    return sm == 90 ? hopper(size, t, nt, sm) : ampere(size, t, sm);
}

/* Attention: rows of Q to warpgroups of 64, as many columns of K as leave room for the scores
 * (m * n) beside the result (m * D) in the registers, and K and V twice in shared memory. */
GpuTiles tiles_for_attention(int64_t S, int64_t D, DType t, int sm)
{
    int64_t size = dtype_bits(t) / 8;
    GpuTiles g = {.k = D, .stages = 2};

    if (sm != 90 || size > 2) {
        g.m = MIN(S, 64);
        g.n = D > 128 ? 32 : 64;
        g.threads = 128;
        return g;
    }
    g.m = D <= 64 ? 192 : 128;
    g.threads = (int)g.m / 64 * 128;
    g.n = D <= 128 ? 128 : 64;
    while (g.n > 32 && (g.m + 2 * g.stages * g.n) * D * size > SHARED_BYTES - 4096)
        g.n /= 2;
    return g;
}
