/* tiles.c -- block sizes that suit a matrix product on a CPU.
 *
 * The microkernel (device/cpu/gemm.h) streams B, packed once per block, from the second level
 * cache; strips of A pass through the first, and C is read and written once per block_K. So:
 *   block_K  as deep as leaves room for three strips of B, in even parts of K;
 *   block_N  block_K x block_N of packed B fills two thirds of the second level cache at most;
 *   block_M  up to 1024, since packing B is paid once per block.
 * Among the grids that keep to this, the one with the least work lost is taken: cores idle in the
 * last wave, edges rounded up, and the time to pack B (PACK_B of a row of C) and to fetch A. */
#include <unistd.h>

#include "op/op.h"

enum { ROWS = 8, VECTOR = 16, STRIP = 48, STRIPS_LEAST = 3, BLOCK_M_MOST = 1024, MORE_PARTS = 64 };

static const double PACK_B = 8, FETCH_A = 4;

static int64_t ceil_div(int64_t n, int64_t d)
{
    return (n + d - 1) / d;
}

static int64_t round_up(int64_t n, int64_t to)
{
    return ceil_div(n, to) * to;
}

/* n in equal parts of at most `most`, each a multiple of `to` unless one is enough. */
static int64_t even_part(int64_t n, int64_t most, int64_t to)
{
    int64_t parts = ceil_div(n, most);
    return parts == 1 ? n : round_up(ceil_div(n, parts), to);
}

/* Bytes of an element as the microkernel reads it: narrow floats are widened while packed. */
static int packed_bytes(DType t)
{
    int bits = dtype_bits(t);
    return bits == 64 ? 8 : dtype_is_int(t) && bits <= 8 ? 1 : 4;
}

static int64_t second_level_bytes(void)
{
    long n = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return n > 0 ? n : 1 << 20;
}

static double useful(int64_t M, int64_t N, int64_t bm, int64_t bn, int nthread)
{
    int64_t blocks = ceil_div(M, bm) * ceil_div(N, bn);
    double waves = (double)ceil_div(blocks, nthread);
    double spent = waves * nthread * (double)bm * (double)bn;
    return (double)M * (double)N / (spent * (1 + PACK_B / (double)bm + FETCH_A / (double)bn));
}

void tiles_for_gemm(int64_t M, int64_t N, int64_t K, DType t, int nthread, int64_t out[3])
{
    int64_t room = second_level_bytes() * 2 / 3 / packed_bytes(t); /* elements of packed B */
    int64_t bk = even_part(K, MAX(room / (STRIPS_LEAST * STRIP), VECTOR), VECTOR);
    int64_t bn_most = MAX(room / bk / STRIP * STRIP, STRIP);
    int64_t nx = ceil_div(N, bn_most), ny = ceil_div(M, BLOCK_M_MOST);
    double best = 0;

    if (nthread <= 0)
        nthread = cpu_count();
    for (int64_t x = nx; x <= MIN(nx + MORE_PARTS, MAX(nx, ceil_div(N, STRIP))); x++)
        for (int64_t y = ny; y <= MIN(ny + MORE_PARTS, MAX(ny, ceil_div(M, ROWS))); y++) {
            int64_t bm = even_part(M, ceil_div(M, y), ROWS);
            int64_t bn = even_part(N, ceil_div(N, x), VECTOR);
            double score = useful(M, N, bm, bn, nthread);
            if (score > best) {
                best = score;
                out[0] = bm;
                out[1] = bn;
            }
        }
    out[2] = bk;
}
