/* tiles.c -- block sizes that suit a GEMM on a CPU.
 *
 * The microkernel (device/cpu/gemm.h) streams B, packed once per block, from the second level
 * cache; strips of A pass through the first, and C is read and written once per block_K.  Every
 * number of parts of N and M is tried, with block_K as deep as the cache allows, and that with the
 * least work lost is taken: cores idle in the last wave, edges rounded up, and shares of the time
 * (measured) that go to
 *   packing B, once per block              PACK_B / block_M
 *   fetching A into the first level        FETCH_A / block_N
 *   passing over C                         PASS_C / block_K
 *   strips of B less wide than registers   NARROW * share of such columns
 *   lines of C that go back and forth      SHARE_C / (block_N * block_K)
 * the last only when blocks side by side in one row of blocks run at the same time. */
#include "target/cpu/emit.h"

enum {
    ROWS = 8,
    VECTOR = 16,
    STRIP = 48,
    BLOCK_M_MOST = 1024,
    BLOCK_K_MOST = 768,
    MORE_PARTS = 64
};

static const double PACK_B = 6, FETCH_A = 2, PASS_C = 5, NARROW = 0.08, SHARE_C = 7000;

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
static int packed_bytes(const Machine *m, DType t)
{
    int bits = dtype_bits(t);
    if (t == DT_BF16 && machine_has(m, HAS_TILE_REGS))
        return 2;
    return bits == 64 ? 8 : dtype_is_int(t) && bits <= 8 ? 1 : 4;
}

/* How much faster than with f32 the GEMMs themselves are; moving operands is not. */
static double speed_of(const Machine *m, DType t)
{
    int bits = dtype_bits(t);
    if (!machine_has(m, HAS_TILE_REGS))
        return 1; /* the shares were measured so */
    return t == DT_BF16 ? 8 : dtype_is_int(t) && bits <= 8 ? 16 : 1;
}

typedef struct {
    int64_t M, N, K;
    int nthread;
    double speed;
} Product;

/* Elements of C in the time of all cores.  Blocks at the right edge are smaller, and come last. */
static double time_of(const Product *p, int64_t bm, int64_t bn)
{
    int64_t ny = ceil_div(p->M, bm), nx = ceil_div(p->N, bn), blocks = nx * ny;
    int64_t waves = ceil_div(blocks, p->nthread), edge = p->N - (nx - 1) * bn;
    int64_t last = blocks - (waves - 1) * p->nthread; /* blocks of the last wave */

    if (p->nthread == 1)
        return (double)p->M * (double)p->N;
    return (double)p->nthread * (double)bm * (double)((waves - 1) * bn + (ny >= last ? edge : bn));
}

static double useful(const Product *p, int64_t bm, int64_t bn, int64_t bk)
{
    int64_t ny = ceil_div(p->M, bm), blocks = ny * ceil_div(p->N, bn);
    double spent = time_of(p, bm, bn);
    double lost = PACK_B / (double)bm + FETCH_A / (double)bn + PASS_C / (double)bk;

    lost *= p->speed;
    lost += NARROW * (double)(bn % STRIP) / (double)bn;
    if (ny < p->nthread && blocks > ny)
        lost += SHARE_C / ((double)bn * (double)bk);
    return (double)p->M * (double)p->N / (spent * (1 + lost));
}

TileChoice cpu_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                           int cores)
{
    DType t = (DType)type;
    int64_t M = size[0], N = size[1], K = size[2];
    Product p = {M, N, K, cores > 0 ? cores : cpu_count(), speed_of(m, t)};
    int64_t room = m->core_bytes * 2 / 3 / packed_bytes(m, t); /* elements of packed B */
    int64_t deepest = BLOCK_K_MOST * 4 / packed_bytes(m, t);
    TileChoice out = {.stages = 3, .threads = 128, .split = 1};
    int64_t ny = ceil_div(M, p.speed > 1 ? 4 * BLOCK_M_MOST : BLOCK_M_MOST);
    double best = 0;

    (void)trans;
    for (int64_t x = 1; x <= MIN(MORE_PARTS, ceil_div(N, STRIP)) || best == 0; x++)
        for (int64_t y = ny; y <= MIN(ny + MORE_PARTS, MAX(ny, ceil_div(M, ROWS))); y++) {
            int64_t bm = even_part(M, ceil_div(M, y), ROWS);
            int64_t bn = even_part(N, ceil_div(N, x), VECTOR);
            int64_t most = MIN(room / round_up(bn, STRIP), deepest);
            int64_t bk = even_part(K, MAX(most, 4 * VECTOR), VECTOR);
            double score = useful(&p, bm, bn, bk);
            if (score > best) {
                best = score;
                out.m = bm;
                out.n = bn;
                out.k = bk;
            }
        }
    return out;
}
