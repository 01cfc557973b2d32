/* amx.h -- products of bf16 and of int8 on tile registers, where the machine has them.

   Shape of the idea: a cell of C, 32 x 32, lies in four tiles of 16 x 16; a step multiplies 64
   bytes of k, taking two tiles of A and two of B:

       A (i, k)   row major as it lies in memory, 64 bytes of k are a row of a tile; or, where the
                  strip of 32 rows is used often, copied to lie tile after tile (rows a power of
                  two apart share one set of the cache), while the strip before it is multiplied
       B_s (k, j) as in gemm.h; a tile is 16 rows of a strip, TL_NRF groups of 4 bytes apart
       C (i, j)   row major

   k is a multiple of 64 bytes, both operands filled with zeros up to it.  At the edges tiles are
   configured smaller, so nothing outside of A[0:m, 0:k] is read, nor anything outside of
   C[0:m, 0:n] touched.  The system gives the registers only to who asks (tl_amx_ready); who may
   not have them takes the vectors of gemm.h.

   TL_AMX_EMULATED does the instructions in software: the way to test all this elsewhere. */
#ifndef TL_AMX_H
#define TL_AMX_H

#if (TL_HAS_AMX || defined(TL_AMX_EMULATED)) && defined(TL_HAS_BF16_DOT) && defined(TL_HAS_S8_DOT)
#define TL_AMX 1

/* The operand of ldtilecfg. */
typedef struct {
    uint8_t palette, start_row, zero[14];
    uint16_t nbytes[16]; /* of a row, by tile */
    uint8_t rows[16];
} TlTiles;

enum { TL_C00, TL_C01, TL_C10, TL_C11, TL_A0, TL_A1, TL_B0, TL_B1 }; /* tmm0 to tmm7 */

#ifdef TL_AMX_EMULATED

static __thread TlTiles tl_amx_shape;
static __thread uint8_t tl_amx_tile[8][16][64];

static void tl_amx_configure(const TlTiles *t)
{
    tl_amx_shape = *t;
    __builtin_memset(tl_amx_tile, 0, sizeof tl_amx_tile);
}

static void tl_amx_load(int t, const void *p, long ld)
{
    __builtin_memset(tl_amx_tile[t], 0, sizeof tl_amx_tile[t]);
    for (int i = 0; i < tl_amx_shape.rows[t]; i++)
        __builtin_memcpy(tl_amx_tile[t][i], (const char *)p + i * ld, tl_amx_shape.nbytes[t]);
}

static void tl_amx_store(int t, void *p, long ld)
{
    for (int i = 0; i < tl_amx_shape.rows[t]; i++)
        __builtin_memcpy((char *)p + i * ld, tl_amx_tile[t][i], tl_amx_shape.nbytes[t]);
}

static void tl_amx_dot_bf16(int c, int a, int b)
{
    for (int i = 0; i < tl_amx_shape.rows[c]; i++)
        for (int j = 0; j < tl_amx_shape.nbytes[c] / 4; j++) {
            float sum, x[2], y[2];
            __builtin_memcpy(&sum, &tl_amx_tile[c][i][4 * j], 4);
            for (int k = 0; k < tl_amx_shape.nbytes[a] / 4; k++) {
                for (int g = 0; g < 2; g++) {
                    uint16_t u, v;
                    __builtin_memcpy(&u, &tl_amx_tile[a][i][4 * k + 2 * g], 2);
                    __builtin_memcpy(&v, &tl_amx_tile[b][k][4 * j + 2 * g], 2);
                    x[g] = tl_bf16_to_f32(u);
                    y[g] = tl_bf16_to_f32(v);
                }
                sum += x[0] * y[0];
                sum += x[1] * y[1];
            }
            __builtin_memcpy(&tl_amx_tile[c][i][4 * j], &sum, 4);
        }
}

static void tl_amx_dot_s8(int c, int a, int b)
{
    for (int i = 0; i < tl_amx_shape.rows[c]; i++)
        for (int j = 0; j < tl_amx_shape.nbytes[c] / 4; j++) {
            uint32_t sum;
            __builtin_memcpy(&sum, &tl_amx_tile[c][i][4 * j], 4);
            for (int k = 0; k < tl_amx_shape.nbytes[a]; k++)
                sum += (uint32_t)((int8_t)tl_amx_tile[a][i][k] *
                                  (int8_t)tl_amx_tile[b][k / 4][4 * j + k % 4]);
            __builtin_memcpy(&tl_amx_tile[c][i][4 * j], &sum, 4);
        }
}

#define TL_AMX_LOAD(t, p, ld) tl_amx_load(TL_##t, p, ld);
#define TL_AMX_STORE(t, p, ld) tl_amx_store(TL_##t, p, ld);
#define TL_AMX_ZERO(t) __builtin_memset(tl_amx_tile[TL_##t], 0, sizeof tl_amx_tile[TL_##t]);
#define TL_AMX_DOT_bf16(c, a, b) tl_amx_dot_bf16(TL_##c, TL_##a, TL_##b);
#define TL_AMX_DOT_s8(c, a, b) tl_amx_dot_s8(TL_##c, TL_##a, TL_##b);
static void tl_amx_release(void) { tl_amx_shape.palette = 0; }
static int tl_amx_ready(void) { return 1; }

#else

#define TL_TMM_C00 "%%tmm0"
#define TL_TMM_C01 "%%tmm1"
#define TL_TMM_C10 "%%tmm2"
#define TL_TMM_C11 "%%tmm3"
#define TL_TMM_A0 "%%tmm4"
#define TL_TMM_A1 "%%tmm5"
#define TL_TMM_B0 "%%tmm6"
#define TL_TMM_B1 "%%tmm7"

#define TL_AMX_LOAD(t, p, ld) \
    __asm__ volatile("tileloadd (%0,%1,1), " TL_TMM_##t : : "r"(p), "r"(ld) : "memory");
#define TL_AMX_STORE(t, p, ld) \
    __asm__ volatile("tilestored " TL_TMM_##t ", (%0,%1,1)" : : "r"(p), "r"(ld) : "memory");
#define TL_AMX_ZERO(t) __asm__ volatile("tilezero " TL_TMM_##t ::);
/* Compilers have no tile registers of their own, so nobody else uses them. */
#define TL_AMX_DOT_bf16(c, a, b) \
    __asm__ volatile("tdpbf16ps " TL_TMM_##b ", " TL_TMM_##a ", " TL_TMM_##c ::);
#define TL_AMX_DOT_s8(c, a, b) \
    __asm__ volatile("tdpbssd " TL_TMM_##b ", " TL_TMM_##a ", " TL_TMM_##c ::);

static void tl_amx_configure(const TlTiles *t)
{
    __asm__ volatile("ldtilecfg %0" : : "m"(*t) : "memory");
}

static void tl_amx_release(void)
{
    __asm__ volatile("tilerelease" : : : "memory");
}

/* Linux: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA), once for the process. */
static int tl_amx_ready(void)
{
    static int known; /* 1 yes, 2 no */
    int is = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (is == 0) {
        long got = 158;
        __asm__ volatile("syscall" : "+a"(got) : "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
        is = got == 0 ? 1 : 2;
        __atomic_store_n(&known, is, __ATOMIC_RELAXED);
    }
    return is == 1;
}

#endif

/* Tiles for a cell of m x n, each up to 32. */
static void tl_amx_shape_for(TlTiles *t, long m, long n)
{
    const int rows[2] = {m < 16 ? (int)m : 16, m > 16 ? (int)m - 16 : 0};
    const int cols[2] = {n < 16 ? (int)n : 16, n > 16 ? (int)n - 16 : 0};

    *t = (TlTiles){.palette = 1};
    for (int i = 0; i < 2; i++) {
        /* A tile of no rows would be a fault to touch, and is never touched. */
        t->rows[TL_A0 + i] = (uint8_t)(rows[i] ? rows[i] : 16);
        t->nbytes[TL_A0 + i] = 64;
        t->rows[TL_B0 + i] = 16;
        t->nbytes[TL_B0 + i] = (uint16_t)(cols[i] ? 4 * cols[i] : 64);
        for (int j = 0; j < 2; j++) {
            t->rows[TL_C00 + 2 * i + j] = (uint8_t)(rows[i] ? rows[i] : 16);
            t->nbytes[TL_C00 + 2 * i + j] = (uint16_t)(cols[j] ? 4 * cols[j] : 64);
        }
    }
}

/* The 16 rows of a tile that a later step loads.  Four tiles a step are more than the second level of
   the cache gives in the time of four products; asked for a step ahead, most come from the first. */
#define TL_AMX_SOON(p, ld) \
    for (int row = 0; row < 16; row++) \
        __builtin_prefetch((p) + row * (ld), 0, 3);

/* Rows of A that are copied beside the products of a cell, a line of each in every step. */
typedef struct {
    const char *from;
    char *to;
    long ld, rows;
} TlStrip;

static inline __attribute__((always_inline)) void tl_amx_copy_line(const TlStrip *c, long step)
{
    for (long i = 0; i < c->rows; i++)
        __builtin_memcpy(c->to + step * 2048 + i * 64, c->from + i * c->ld + step * 64, 64);
}

/* One cell: nstep times 64 bytes of k; tiles of A are `next` bytes apart. low: it has rows below the first 16; wide: columns beyond
   the first 16. */
#define TL_AMX_CELL(sfx, Acc) \
static inline __attribute__((always_inline)) void tl_amx_cell_##sfx(long nstep, const char *a, \
    long lda, long next, const char *b0, const char *b1, Acc *c, long ldc, int add, \
    const TlStrip *part, const int low, const int wide) \
{ \
    const long ldb = TL_NRF * 4, down = 16 * ldc, ld = ldc * (long)sizeof(Acc); \
    const char *a1 = a + 16 * lda; \
    if (add) { \
        TL_AMX_LOAD(C00, c, ld) \
        if (wide) { TL_AMX_LOAD(C01, c + 16, ld) } \
        if (low) { TL_AMX_LOAD(C10, c + down, ld) } \
        if (low && wide) { TL_AMX_LOAD(C11, c + down + 16, ld) } \
    } else { \
        TL_AMX_ZERO(C00) TL_AMX_ZERO(C01) TL_AMX_ZERO(C10) TL_AMX_ZERO(C11) \
    } \
    for (long s = 0; s < nstep; s++) { \
        TL_AMX_LOAD(B0, b0, ldb) \
        TL_AMX_LOAD(A0, a, lda) \
        TL_AMX_SOON(b0 + 16 * ldb, ldb) \
        TL_AMX_DOT_##sfx(C00, A0, B0) \
        if (wide) { TL_AMX_LOAD(B1, b1, ldb) TL_AMX_DOT_##sfx(C01, A0, B1) \
                    TL_AMX_SOON(b1 + 16 * ldb, ldb) } \
        if (low) { TL_AMX_LOAD(A1, a1, lda) TL_AMX_DOT_##sfx(C10, A1, B0) \
                   TL_AMX_SOON(a1 + next, lda) } \
        TL_AMX_SOON(a + next, lda) \
        tl_amx_copy_line(part, s); \
        if (low && wide) { TL_AMX_DOT_##sfx(C11, A1, B1) } \
        a += next; \
        a1 += next; \
        b0 += 16 * ldb; \
        b1 += 16 * ldb; \
    } \
    TL_AMX_STORE(C00, c, ld) \
    if (wide) { TL_AMX_STORE(C01, c + 16, ld) } \
    if (low) { TL_AMX_STORE(C10, c + down, ld) } \
    if (low && wide) { TL_AMX_STORE(C11, c + down + 16, ld) } \
}

/* C[0:m, 0:n] (+)= A[0:m, 0:k] * B[0:k, 0:n]; k counts elements, spare has room for two strips of A. */
#define TL_AMX_BLOCK(sfx, Elem, Acc) \
TL_AMX_CELL(sfx, Acc) \
static __attribute__((unused, noinline)) void tl_amx_gemm_##sfx(long m, long n, long k, \
    const Elem *a, long lda, const Elem *b, long bstep, Acc *c, long ldc, int add, \
    const TlNext *next, char *spare) \
{ \
    const long nstep = k * (long)sizeof(Elem) / 64, from = lda * (long)sizeof(Elem); \
    const int copies = n >= 96; \
    const long ld = copies ? 64 : from, step = copies ? 2048 : 64, ncell = (n + 31) / 32; \
    const long each = copies ? (31 + ncell) / ncell : 0; /* rows of the next strip, in a cell */ \
    TlAhead s = tl_ahead_start(next, ((m + 31) / 32) * ncell); \
    TlTiles tiles; \
    long was_rows = 0, was_cols = 0; \
    if (copies) { \
        const TlStrip first = {(const char *)a, spare, from, m < 32 ? m : 32}; \
        for (long t = 0; t < nstep; t++) \
            tl_amx_copy_line(&first, t); \
    } \
    for (long i = 0; i < m; i += 32) { \
        const long rows = m - i < 32 ? m - i : 32, below = m - i - 32 < 32 ? m - i - 32 : 32; \
        const char *as = copies ? spare + i / 32 % 2 * nstep * 2048 : (const char *)(a + i * lda); \
        char *soon = spare + (1 - i / 32 % 2) * nstep * 2048; \
        for (long j = 0; j < n; j += 32) { \
            const long cols = n - j < 32 ? n - j : 32, j1 = j + 16, r = j / 32 * each; \
            const char *b0 = (const char *)(b + j / TL_NRF * bstep) + j % TL_NRF * 4; \
            const char *b1 = (const char *)(b + j1 / TL_NRF * bstep) + j1 % TL_NRF * 4; \
            const TlStrip part = {(const char *)(a + (i + 32 + r) * lda), soon + r * 64, from, \
                                  below - r < each ? below - r : each}; \
            Acc *cs = c + i * ldc + j; \
            if (rows != was_rows || cols != was_cols) { \
                tl_amx_shape_for(&tiles, rows, cols); \
                tl_amx_configure(&tiles); \
                was_rows = rows; \
                was_cols = cols; \
            } \
            tl_ahead_step(&s); \
            if (rows > 16 && cols > 16) \
                tl_amx_cell_##sfx(nstep, as, ld, step, b0, b1, cs, ldc, add, &part, 1, 1); \
            else if (rows > 16) \
                tl_amx_cell_##sfx(nstep, as, ld, step, b0, b1, cs, ldc, add, &part, 1, 0); \
            else if (cols > 16) \
                tl_amx_cell_##sfx(nstep, as, ld, step, b0, b1, cs, ldc, add, &part, 0, 1); \
            else \
                tl_amx_cell_##sfx(nstep, as, ld, step, b0, b1, cs, ldc, add, &part, 0, 0); \
        } \
    } \
    tl_amx_release(); \
}

TL_AMX_BLOCK(bf16, uint16_t, float)
TL_AMX_BLOCK(s8, int8_t, int32_t)

#endif
#endif
