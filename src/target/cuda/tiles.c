/* tiles.c -- block sizes, stages and threads that suit a GEMM on an NVIDIA GPU.
 *
 * Every tile whose accumulators fit the registers is tried, and the one that should take the least
 * time is taken.  Clocks of one tile, by what limits it:
 *   matrix units    m * n * K / rate                 rate: products per clock of one SM
 *   second cache    (m + n) * K bytes / L2_BYTES     what one SM gets when all pull
 *   start and end   START, and m * n elements of C going out at END_ELEMS per clock
 * times the waves that the grid takes.  Ties go to the smaller tile.
 *
 * Few tiles leave multiprocessors idle.  On Hopper up to 8 blocks of a cluster may then share the
 * steps of k of a tile (split): each has less to read, and the parts are added up at the end, by
 * way of memory.  Clusters do not fill the machine: SMS_SPLIT.  A tile may also be transposed
 * (swap), so that the 64 rows a warpgroup must have are rows of B and the columns, of which there
 * may be any 8, are rows of A: with tiles of odd widths a grid fills its last wave.  Whatever the
 * tiles, the operands come from memory once, MEMORY_BYTES per clock for all SMs, and the slower the
 * fewer blocks there are below 3 for 2 SMs.
 *
 * Rows that do not start at multiples of a cache line take longer (CUT_LINES).  Rows
 * that do not start at multiples of 16 bytes cannot be bulk copies.  Either they are first
 * copied to rows that do (widen 2), by a launch of its own, or they come 2 or 4 bytes at a time and
 * only those of A are widened (1), or none are (0).  With a few rows or columns matrix units gain
 * nothing: threads multiply what they read themselves (3).
 *
 * Hopper's figures are fitted to 10,000 times of an H200: 230 random shapes, NT and NN, each with
 * many of the tiles below.  What the model takes is 2.8 % slower than the best of them in the
 * mean. */
#include "target/cuda/cuda.h"

enum { SMS = 132, SMS_OLD = 108, SHARED_BYTES = 232448, SHARED_OLD = 166912, START_OLD = 1500 };
enum { FLIGHT_BYTES = 64 << 10, KV_STAGES_MOST = 8, SPARE_BYTES = 16 << 10 };
enum { PARTS_MOST = 8, STAGES_MOST = 8, STAGES_BESIDE = 4, LINE_BYTES = 128, COLS_STEP = 16 };
enum { BRIEF_MOST = 1024 };
enum { STAGES_LEAST = 3, STAGES_SLOW = 4, STAGES_DEEP = 6, SWAP_ROWS = 256, COLS_THREE = 192 };
enum { FEW_MOST = 8, START = 7, STEP = 38, STEP_GROUP = 34, STEP_LINE = 20, LAUNCH = 2959 };

static const double L2_OLD = 46, END_OLD = 24;
static const double L2_BYTES = 56, L2_ALONE = 80, END_ELEMS = 8.6, END_SWAP = 5.9;
static const double CUT_LINES = 1.6, PAIR_READS = 0.61;
static const double MEMORY_BYTES = 3197, FEW_BLOCKS = 0.33;
static const double JOIN_ROWS = 20.8, JOIN_PAIRS = 12.9, JOIN_BYTES = 25.5;
/* Bytes a clock of one SM where threads multiply, and how many of them times sums. */
static const double FEW_READS = 17, FEW_SUMS = 23, FEW_START = 300;
static const double WIDEN_BYTES = 1076, SLOW_BYTES[2] = {5.5, 18.6}; /* by 2 and by 4 */
/* Of MMAs; of at most 64 and at most 128 columns, and of no multiple of 64. */
static const double RATE = 1.16, RATE_64 = 0.6, RATE_128 = 0.91, RATE_ODD = 0.88;
/* Multiprocessors that clusters of so many blocks reach. */
static const int SMS_SPLIT[PARTS_MOST + 1] = {0, SMS, SMS, 118, 119, 112, 100, 105, 86};

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
    double work = MAX(area * k / rate_of(t, sm), bytes * k / L2_OLD);
    return waves * (work + START_OLD + area / END_OLD);
}

/* ---- Hopper ---------------------------------------------------------------------------------- */

typedef struct {
    const int64_t *size; /* M, N, K */
    DType t;
    unsigned trans;
    bool slow;   /* rows of B come by 2 or 4 bytes */
    bool slow_A; /* those of A do */
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

static int64_t row_elems(const Search *s)
{
    return s->trans & GEMM_NT ? s->size[2] : s->size[1]; /* of B, as it is stored */
}

static int64_t row_elems_A(const Search *s)
{
    return s->trans & GEMM_TN ? s->size[0] : s->size[2];
}

/* How much longer rows take that start in the middle of a line.  Those that are widened do not. */
static double cut(const Search *s, int64_t elems)
{
    int64_t bytes = elems * dtype_bits(s->t) / 8;
    return bytes % LINE_BYTES && bytes % 16 == 0 ? CUT_LINES : 1;
}

/* Rows of A and of B that a block reads in each iteration, those cut counted by what they take.
 * Then pairs of blocks beside each other, where there are such, read the greater one together
 * (plan_cluster.c). */
static void rows_read(const Search *s, const TileChoice *g, double *A, double *B)
{
    double cut_A = cut(s, row_elems_A(s)), cut_B = cut(s, row_elems(s));
    bool beside = ceil_div(s->size[1], g->n) % 2 == 0, above = ceil_div(s->size[0], g->m) % 2 == 0;

    *A = s->slow_A ? (double)MIN(g->m, s->size[0]) : (double)g->m * cut_A;
    *B = (double)g->n * (s->slow ? 1 : cut_B);
    if (s->slow_A && s->slow)
        *B = (double)MIN(g->n, s->size[1]);
    if (g->split > 1 || s->slow || s->slow_A || cut_A * cut_B == 1)
        return;
    if (beside && (g->m >= g->n || !above))
        *A *= PAIR_READS;
    else if (above)
        *B *= PAIR_READS;
}

/* Products per clock of MMAs of so many columns. */
static double rate_cols(const Search *s, int64_t cols)
{
    double narrow = cols <= 64 ? RATE_64 : cols <= 128 ? RATE_128 : 1;
    return rate_of(s->t, 90) * RATE * narrow * (cols % 64 ? RATE_ODD : 1);
}

/* Clocks of a block's iterations: what is slower, reading or multiplying. */
static double block_clocks(const Search *s, const TileChoice *g, int64_t blocks)
{
    double iters = (double)ceil_div(ceil_div(s->size[2], g->k), g->split), bits = dtype_bits(s->t);
    double k = iters * (double)g->k, row = MIN(k, (double)s->size[2]) * bits / 8;
    double fast = MIN(L2_BYTES * SMS / (double)MIN(blocks, SMS), L2_ALONE);
    bool ahead = g->stages > 1 || iters <= 1; /* both operands, or neither */
    double slow = SLOW_BYTES[ahead && row_elems(s) % 2 == 0] * g->threads / 128;
    double slow_A = SLOW_BYTES[ahead && row_elems_A(s) % 2 == 0] * g->threads / 128;
    double A, B;

    rows_read(s, g, &A, &B);
    double rate = rate_cols(s, g->swap ? g->m : g->n);
    double lines = (double)g->k * bits / 8 / LINE_BYTES;
    double step = STEP + STEP_GROUP * (g->threads / 128 - 1) + STEP_LINE * lines;
    double read = A * row / (s->slow_A ? slow_A : fast) + B * row / (s->slow ? slow : fast);
    return MAX((double)(g->m * g->n) * k / rate, read) + iters * step;
}

/* Times that a multiprocessor works on a block: two side by side take as long as one after the
 * other. */
static double waves_of(const Search *s, const TileChoice *g, int64_t blocks)
{
    int64_t sms = SMS_SPLIT[g->split];
    int64_t out = g->split > 1 ? 0 : 2 * g->m * 128;
    bool beside = !s->slow && 2 * (g->stages * stage_bytes(s, g) + out) <= SHARED_BYTES;

    if (!beside)
        return (double)ceil_div(blocks, sms);
    return (double)ceil_div(blocks, 2 * sms) * (blocks > sms ? 2 : 1);
}

static double hopper_clocks(const Search *s, const TileChoice *g)
{
    int64_t blocks = tiles_of(s, g) * g->split;
    double area = (double)g->m * (double)g->n, work = block_clocks(s, g, blocks);
    double waves = waves_of(s, g, blocks), few = MAX(0, 1 - (double)blocks / (1.5 * SMS));
    double memory = memory_clocks(s) * (1 + FEW_BLOCKS * few), all;

    if (g->split > 1) {
        double parts = waves * area * 8, sms = (double)MIN(blocks, SMS) / SMS;
        double alone = parts / (g->swap ? JOIN_ROWS : JOIN_PAIRS) * 128 / g->threads;
        all = MAX(waves * work, memory) + START + alone + parts * sms / JOIN_BYTES;
    } else {
        double steps = (double)ceil_div(s->size[2], g->k);
        all = MAX(waves * (work + START + area / (g->swap ? END_SWAP : END_ELEMS)),
                  memory + START + steps * STEP);
    }
    return all;
}

/* Blocks that lie side by side get half of the shared memory each; copies of 4 bytes go through the
 * first level cache, which gets what is left of it. */
static int stages_of(const Search *s, const TileChoice *g)
{
    int64_t out = g->split > 1 ? 0 : 2 * g->m * 128, stage = stage_bytes(s, g);
    int64_t fit = (SHARED_BYTES - 2048 - out) / stage, half = (SHARED_BYTES / 2 - 4096) / stage;

    if (s->slow_A && (row_elems_A(s) % 2 || (s->slow && row_elems(s) % 2)))
        return 1; /* two bytes at a time do not run ahead */
    if (s->slow || s->slow_A)
        return (int)MAX(MIN(fit, STAGES_SLOW), 2);
    if (g->split > 1 && tiles_of(s, g) * g->split > SMS && half >= STAGES_BESIDE)
        return (int)MIN(half, STAGES_BESIDE);
    return (int)MAX(MIN(fit, STAGES_MOST), 2);
}

static void consider(Search *s, TileChoice g)
{
    g.stages = stages_of(s, &g);
    double c = hopper_clocks(s, &g);

    if (s->best.m && (c >= s->least || (g.stages < STAGES_LEAST && !s->slow && !s->slow_A)))
        return;
    s->least = c;
    s->best = g;
}

/* Splits that leave each part some steps, and do not make more blocks than run at a time.  Rows of
 * two lines of the cache are better where there are few blocks and room for them. */
static void consider_splits(Search *s, TileChoice g)
{
    for (int deep = 0; deep < 2; deep++, g.k *= 2) {
        int64_t steps = ceil_div(s->size[2], g.k);
        for (g.split = 1; g.split <= PARTS_MOST; g.split++) {
            int64_t blocks = tiles_of(s, &g) * g.split;
            if ((g.split > 1 || deep) && blocks > 2 * SMS)
                continue;
            if (g.split > 1 && (steps < 2 * g.split || (g.n % 64 && !g.swap)))
                continue;
            if (g.split == 1 && g.swap && s->size[0] <= SWAP_ROWS && 2 * blocks < 3 * SMS &&
                blocks > 1)
                continue; /* one block to a multiprocessor does not read fast enough */
            if (deep && stages_of(s, &g) < (g.split > 1 ? STAGES_BESIDE : STAGES_DEEP))
                continue;
            consider(s, g);
        }
    }
}

/* 64 rows and 128 threads to a warpgroup, at most 128 accumulators to a thread, and 96 of three
 * warpgroups.  Columns of 64 are a panel of 128 bytes: those of a B that is stored K x N come in
 * whole ones. */
static void search_rows(Search *s, int64_t m, int64_t k)
{
    int64_t M = s->size[0], N = s->size[1], rows = ceil_div(M, m) * m;
    int64_t most = m == 192 ? COLS_THREE : m > 128 ? 128 : 256;
    bool is_split = dtype_bits(s->t) == 16, any = s->trans & GEMM_NT && is_split && !s->slow;
    int64_t by = any ? COLS_STEP : 64;

    if (m == 192 && (s->slow || !is_split))
        return;
    if ((m > 64 && 2 * M <= m) || (is_split && M <= SWAP_ROWS && (rows - M) * 4 > rows))
        return; /* copies of rows outside take their time, too */
    for (int64_t n = 64; n <= most && (n == 64 || 2 * N > n); n += by) {
        TileChoice g = {m, n, k, 0, m == 192 ? 384 : m >= 128 ? 256 : 128, 1, false, 0};
        if (is_split)
            consider_splits(s, g);
        else
            consider(s, g);
    }
}

/* Tiles whose rows are rows of B, and whose columns rows of A: those of an A that is stored K x M
 * come in whole panels. */
static void search_swapped(Search *s, int64_t k)
{
    int64_t M = s->size[0], N = s->size[1];
    bool few = M <= SWAP_ROWS;
    int64_t m8 = ceil_div(ceil_div(M, ceil_div(M, 256)), 8) * 8;
    int64_t least = few ? m8 : 64, most = few ? m8 : 256;

    for (int64_t n = 64; n <= 128 && (n == 64 || N > 64); n += 64)
        for (int64_t m = least; m <= most; m += s->trans & GEMM_TN ? 64 : COLS_STEP)
            consider_splits(s, (TileChoice){m, n, k, 0, (int)n * 2, 1, true, 0});
}

static void search_hopper(Search *s)
{
    static const int rows[] = {64, 128, 192, 256};
    int64_t k = 128 * 8 / dtype_bits(s->t);

    for (int i = 0; i < COUNT(rows); i++)
        search_rows(s, rows[i], k);
    if (dtype_bits(s->t) == 16)
        search_swapped(s, k);
    if (!s->best.m) /* small in every way */
        consider(s, (TileChoice){64, 64, k, 0, 128, 1, false, 0});
}

/* Does every row of an operand, of so many elements, start at a multiple of 16 bytes? */
static bool is_bulk(const Search *s, int64_t elems)
{
    return elems * dtype_bits(s->t) / 8 % 16 == 0;
}

/* Clocks to widen the rows of an operand, which a launch of its own does. */
static double widen_clocks(const Search *s, int64_t rows, int64_t stored)
{
    double bytes = (double)rows * (double)s->size[2] * dtype_bits(s->t) / 8;
    return is_bulk(s, stored) ? 0 : LAUNCH + 2 * bytes / WIDEN_BYTES;
}

/* Clocks where threads multiply: a few rows or columns, each beside rows of a long operand that lie
 * along k, `few` sums for every element that a thread reads; 0: that is not the shape. */
static double few_clocks(const Search *s)
{
    int64_t M = s->size[0], N = s->size[1], K = s->size[2];
    bool A_long = N <= FEW_MOST && (M >= N || !(s->trans & GEMM_NT));
    int64_t few = A_long ? N : M, rows = A_long ? M : N;

    if (few > FEW_MOST || s->trans & GEMM_TN || (!A_long && !(s->trans & GEMM_NT)))
        return 0;
    double rate = MIN(FEW_READS, FEW_SUMS / (double)few) * (double)MIN(rows, SMS);
    return FEW_START + (double)(rows * K) * dtype_bits(s->t) / 8 / rate;
}

/* What takes the least where operands are no bulk copies: widened both, A alone, none, or without
 * tiles.  There is always a tile, for those who do not look at widen. */
static TileChoice hopper(const int64_t size[3], DType t, unsigned trans)
{
    Search s = {.size = size, .t = t, .trans = trans}, direct = s, bare = s;
    double A = widen_clocks(&s, size[0], row_elems_A(&s));
    double B = widen_clocks(&s, size[1], row_elems(&s)), few = few_clocks(&s);

    search_hopper(&s);
    if (A == 0 && B == 0)
        return s.best;
    double apart = A + B; /* of all, what widening takes */
    s.best.widen = 2;
    s.least += apart;
    if (dtype_bits(t) != 16)
        return s.best;
    direct.slow = B > 0;
    search_hopper(&direct);
    direct.best.widen = 1;
    if (B > 0 && direct.least + A < s.least) {
        apart = A;
        s.least = direct.least + A;
        s.best = direct.best;
    }
    bare.slow = B > 0;
    bare.slow_A = A > 0;
    search_hopper(&bare);
    /* Long loops over k were not timed. */
    bool brief = size[2] <= bare.best.k || 2 * apart >= s.least;
    if (A > 0 && brief && bare.least < s.least) {
        s.least = bare.least;
        s.best = bare.best;
    }
    if (few > 0 && few < s.least)
        s.best.widen = 3;
    return s.best;
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

TileChoice cuda_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                           int cores)
{
    DType t = (DType)type;

    (void)cores;
    if (dtype_bits(t) > 16 && t != DT_TF32) /* no matrix units: small tiles in registers */
        return (TileChoice){64, 64, 16, 2, 128, 1, false, 0};
    return m->level == 90 ? hopper(size, t, trans) : ampere(size, t, m->level);
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
    /* Of a short sequence the diagonal cuts many tiles: two blocks side by side do better. */
    bool brief = causal && D <= 64 && S <= BRIEF_MOST;
    g.m = D <= 64 && !brief ? 192 : 128;
    g.threads = (int)g.m / 64 * 128;
    int64_t room = (SHARED_BYTES - 2048) / (D * size) - g.m;
    g.n = columns(S, D, g.m, room / (2 * g.stages), causal);
    if (!brief)
        g.stages = stages_for(g.n * D * size, g.m * D * size);
    return g;
}

/* Rows to warpgroups of 64; scores and their derivatives stand beside the results in registers. */
TileChoice cuda_tiles_attention_back(const Machine *m, int64_t D, int type)
{
    if (m->level == 90 && dtype_bits((DType)type) == 16)
        return (TileChoice){.m = 128, .n = D <= 64 ? 128 : 64, .k = D, .stages = 2, .threads = 256};
    return (TileChoice){.m = 64, .n = D <= 64 ? 64 : 32, .k = D, .stages = 2, .threads = 128};
}
