/* tiles.c -- block sizes, stages and threads that suit a GEMM on an NVIDIA GPU.
 *
 * Every tile whose accumulators fit the registers is tried, and the one that should take the least
 * time is taken.  Clocks of one tile, by what limits it:
 *   matrix units    m * n * K / rate                 rate: products per clock of one SM
 *   second cache    (m + n) * K bytes / L2_BYTES     what one SM gets when all pull
 *   start and end   START, and m * n elements of C going out at END_ELEMS per clock
 * times the waves that the grid takes.  Ties go to the smaller tile.
 *
 * Few tiles leave multiprocessors idle.  On Hopper 2, 4 or 8 blocks of a cluster may then share the
 * steps of k of a tile (split): each has less to read, and the parts are added up at the end, which
 * takes JOIN and a tile written and read at JOIN_BYTES per clock.  Clusters of 4 and 8 fill only
 * SMS_FOURS multiprocessors.  A tile may also be transposed (swap), so that the 64 rows a
 * warpgroup must have are rows of B and the columns, of which there may be any 8, are rows of A.
 * Whatever the tiles, the operands come from memory once, MEMORY_BYTES per clock for all SMs, and
 * the slower the fewer blocks there are below 3 for 2 SMs (FEW_BLOCKS).
 *
 * Rows that do not start at multiples of 16 bytes cannot be bulk copies.  Either they are first
 * copied to rows that do (widen), or they come 4 bytes at a time, SLOW_BYTES per clock and
 * warpgroup, and only those of A are widened. */
#include "target/cuda/cuda.h"

enum { SMS = 132, SMS_OLD = 108, START = 1500, SHARED_BYTES = 232448, SHARED_OLD = 166912 };
enum { FLIGHT_BYTES = 64 << 10, KV_STAGES_MOST = 8, SPARE_BYTES = 16 << 10 };
enum { JOIN = 1500, LAUNCH = 3000, STEP = 25, PARTS_MOST = 8, SMS_FOURS = 128 };
enum { STAGES_MOST = 8, STAGES_BESIDE = 4, STAGES_SLOW = 4, STAGES_DEEP = 6 };

static const double L2_BYTES = 46, L2_ALONE = 60, END_ELEMS = 24, JOIN_BYTES = 20;
static const double MEMORY_BYTES = 2120, FEW_BLOCKS = 0.2, SLOW_BYTES = 6.5;
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

/* ---- Hopper ---------------------------------------------------------------------------------- */

typedef struct {
    const int64_t *size; /* M, N, K */
    DType t;
    bool nt;
    bool slow; /* rows of B come 4 bytes at a time */
    TileChoice best;
    double least;
} Search;

static double memory_clocks(const Search *s)
{
    double bytes = (double)(s->size[0] + s->size[1]) * (double)s->size[2] * dtype_bits(s->t) / 8;
    return bytes / MEMORY_BYTES;
}

static int64_t stage_bytes(const Search *s, const TileChoice *g)
{
    return (g->m + g->n) * g->k * dtype_bits(s->t) / 8;
}

static int64_t tiles_of(const Search *s, const TileChoice *g)
{
    return ceil_div(s->size[0], g->m) * ceil_div(s->size[1], g->n);
}

/* Bytes a block reads per clock: with fewer blocks each gets more. */
static double l2_speed(int64_t blocks)
{
    return MIN(L2_BYTES * SMS / (double)MIN(blocks, SMS), L2_ALONE);
}

static double hopper_clocks(const Search *s, const TileChoice *g)
{
    int64_t blocks = tiles_of(s, g) * g->split, steps = ceil_div(s->size[2], g->k);
    double iters = (double)ceil_div(steps, g->split), k = iters * (double)g->k;
    double area = (double)g->m * (double)g->n, row = k * dtype_bits(s->t) / 8;
    double fast = g->split > 1 ? l2_speed(blocks) : L2_BYTES;
    double speed = s->slow ? SLOW_BYTES * g->threads / 128 : fast;
    double read = (double)g->m * row / fast + (double)g->n * row / speed;
    double work = MAX(area * k / rate_of(s->t, 90), read) + iters * STEP;
    double waves = (double)ceil_div(blocks, g->split > 2 ? SMS_FOURS : SMS);
    double memory = memory_clocks(s) * (1 + FEW_BLOCKS * MAX(0, 1 - (double)blocks / (1.5 * SMS)));
    double end = waves * area * 8 / (g->swap ? JOIN_BYTES : JOIN_BYTES / 3); /* rows or pairs */

    if (g->split > 1)
        return MAX(waves * work, memory) + START + JOIN + end;
    double all = MAX(waves * (work + START + area / END_ELEMS), memory + START + iters * STEP);
    return g->n % 64 && !g->swap ? all * RAGGED : all;
}

/* Blocks that lie side by side get half of the shared memory each; copies of 4 bytes go through the
 * first level cache, which gets what is left of it. */
static int stages_of(const Search *s, const TileChoice *g)
{
    int64_t out = g->split > 1 ? 0 : (g->n % 64 ? 3 : 2) * g->m * 128, stage = stage_bytes(s, g);
    int64_t fit = (SHARED_BYTES - 2048 - out) / stage, half = (SHARED_BYTES / 2 - 4096) / stage;

    if (s->slow)
        return (int)MAX(MIN(fit, STAGES_SLOW), 2);
    if (g->split > 1 && tiles_of(s, g) * g->split > SMS && half >= STAGES_BESIDE)
        return (int)MIN(half, STAGES_BESIDE);
    return (int)MAX(MIN(fit, STAGES_MOST), 2);
}

static void consider(Search *s, TileChoice g)
{
    double c = hopper_clocks(s, &g);

    if (s->best.m && c >= s->least)
        return;
    s->least = c;
    s->best = g;
    s->best.stages = stages_of(s, &g);
}

/* Splits that leave each part some steps, and do not make more blocks than run at a time.  Rows of
 * two lines of the cache are better where the pipeline has room for them. */
static void consider_splits(Search *s, TileChoice g)
{
    for (int deep = 0; deep < (s->slow ? 1 : 2); deep++, g.k *= 2) {
        int64_t stage = stage_bytes(s, &g), steps = ceil_div(s->size[2], g.k);
        int64_t beside = stage <= SHARED_BYTES / 9 ? 2 : 1;
        for (g.split = 1; g.split <= PARTS_MOST; g.split *= 2) {
            int64_t blocks = tiles_of(s, &g) * g.split, sms = g.split > 2 ? SMS_FOURS : SMS;
            if (g.split > 1 && (blocks > beside * sms || steps < 4 * g.split))
                continue;
            if (g.split == 1 && g.swap && 2 * blocks < 3 * SMS)
                continue; /* one block to a multiprocessor does not read fast enough */
            int least = g.split > 1 && blocks > SMS ? STAGES_BESIDE : STAGES_DEEP;
            if (deep && stages_of(s, &g) < least)
                continue;
            consider(s, g);
        }
    }
}

/* 64 rows and 128 threads to a warpgroup, at most 128 accumulators to a thread.  Columns of B that
 * lie side by side (not nt) are read in panels of 64. */
static void search_hopper(Search *s)
{
    int64_t k = 128 * 8 / dtype_bits(s->t), M = s->size[0];
    int64_t m8 = ceil_div(ceil_div(M, ceil_div(M, 256)), 8) * 8; /* rows of A, transposed */
    bool is_split = dtype_bits(s->t) == 16;

    for (int64_t m = 64; m <= 128; m += 64)
        for (int64_t n = 64; n <= 256; n += s->nt ? 16 : n < 128 ? 32 : 64) {
            TileChoice g = {m, n, k, 0, m == 128 ? 256 : 128, 1, false, 0};
            int64_t rows = ceil_div(M, m) * m;
            if (is_split && M <= 256 && (rows - M) * 4 > rows)
                continue; /* copies of rows outside take their time, too */
            if (is_split)
                consider_splits(s, g);
            else
                consider(s, g);
        }
    for (int64_t n = 64; is_split && M <= 1024 && n <= 128; n += 64)
        consider_splits(s, (TileChoice){m8, n, k, 0, (int)n * 2, 1, true, 0});
    if (!s->best.m) /* small in every way */
        consider(s, (TileChoice){64, 64, k, 0, 128, 1, false, 0});
}

/* Bytes that every row of both operands starts at a multiple of, if at most `most`. */
static bool rows_start_at(const Search *s, int most)
{
    int64_t cols = s->size[2] | (s->nt ? 0 : s->size[1]); /* a power of 2 divides all or none */
    return cols * dtype_bits(s->t) / 8 % most == 0;
}

static TileChoice hopper(const int64_t size[3], DType t, bool nt)
{
    Search s = {.size = size, .t = t, .nt = nt}, direct = s;

    search_hopper(&s);
    if (rows_start_at(&s, 16))
        return s.best;
    direct.slow = true;
    search_hopper(&direct);
    s.best.widen = 2;
    direct.best.widen = 1;
    double more = LAUNCH + 2 * memory_clocks(&s);
    return rows_start_at(&s, 4) && direct.least < s.least + more ? direct.best : s.best;
}

/* Before it: warps of 64 x 64, rows of 128 bytes in two stages: two blocks of four warps or one of
 * eight fit the shared memory of all of them. */
static TileChoice ampere(const int64_t size[3], DType t, int sm)
{
    int64_t k = MAX(128 * 8 / dtype_bits(t), 16);
    TileChoice best = {0};
    double least = 0;

    for (int64_t m = 64; m <= 128; m *= 2)
        for (int64_t n = 64; n <= 256; n *= 2) {
            double c = clocks(size, m, n, t, sm);
            if (best.m && c >= least)
                continue;
            least = c;
            best = (TileChoice){m, n, k, 2, m * n > 128 * 128 ? 256 : 128, 1, false, 0};
        }
    return best;
}

TileChoice cuda_tiles_gemm(const Machine *m, const int64_t size[3], int type, bool nt, int cores)
{
    DType t = (DType)type;

    (void)cores;
    if (dtype_bits(t) > 16 && t != DT_TF32) /* no matrix units: small tiles in registers */
        return (TileChoice){64, 64, 16, 2, 128, 1, false, 0};
    return m->level == 90 ? hopper(size, t, nt) : ampere(size, t, m->level);
}

/* Attention on Hopper.  Each thread holds, of 64 rows to a warpgroup, n / 2 scores, n / 4 registers
 * of them narrowed and D / 2 results; beside those, addresses and sums. */
static bool scores_fit(int64_t m, int64_t n, int64_t D)
{
    int64_t most = m > 128 ? 160 : 240, others = m > 128 ? 32 : 44;
    return n * 3 / 4 + D / 2 + others <= most;
}

/* An iteration costs its n columns and about as much as ITER more.  Where a block of K is cut by
 * the diagonal, it should be by few blocks of Q: then n is a power of two. */
static int64_t columns(int64_t S, int64_t D, int64_t m, int64_t room, bool causal)
{
    enum { ITER = 25, LEAST = 32 };
    int64_t best = LEAST, cost = INT64_MAX;

    for (int64_t n = LEAST; scores_fit(m, n, D) && n <= room; n += 16) {
        int64_t c = ceil_div(S, n) * (n + ITER);
        if (c >= cost || (causal && n & (n - 1)))
            continue;
        best = n;
        cost = c;
    }
    return best;
}

/* Rows of Q to warpgroups of 64, as many columns of K as leave room for the scores beside the
 * result in the registers, and K and V twice in shared memory. */
/* Stages of keys or values that cover the way to memory, as far as there is room beside
 * `others` bytes. */
static int stages_for(int64_t stage, int64_t others)
{
    int64_t n = MIN((FLIGHT_BYTES + stage - 1) / stage, KV_STAGES_MOST);
    while (n > 2 && 2 * n * stage + others + SPARE_BYTES > SHARED_BYTES)
        n--;
    return (int)MAX(n, 2);
}

TileChoice cuda_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal)
{
    int64_t size = dtype_bits((DType)type) / 8;
    TileChoice g = {.k = D, .stages = 2};

    if (m->level != 90 || size > 2) {
        g.m = MIN(S, 64);
        g.n = D > 128 ? 32 : 64;
        g.threads = 128;
        if (m->level == 90)
            g.stages = stages_for(g.n * D * size, g.m * D * size);
        return g;
    }
    g.m = D <= 64 ? 192 : 128;
    g.threads = (int)g.m / 64 * 128;
    int64_t room = (SHARED_BYTES - 2048) / (D * size) - g.m;
    g.n = columns(S, D, g.m, room / (2 * g.stages), causal);
    g.stages = stages_for(g.n * D * size, g.m * D * size);
    return g;
}
