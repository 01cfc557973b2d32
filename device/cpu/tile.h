/* tile.h -- C[0:m, 0:n] (+)= A[0:m, 0:k] * B[0:k, 0:n] for operands of any type through strides.
 *
 * Makes what the block routines of gemm.h want: B packed in strips, A as float rows.  `scratch`
 * holds both.  An operand that needs no conversion and has unit stride along k is read in place. */

/* Row i of A as float, rows LDA apart. */
#define TL_TILE_PACK_A(T, CVT, Acc)                                                                \
    for (long i = 0; i < m; i++) {                                                                 \
        Acc *restrict row = ap + i * lda;                                                          \
        const T *restrict src = a + i * ars;                                                       \
        for (long p = 0; p < k; p++)                                                               \
            row[p] = CVT(src[p * aks]);                                                            \
    }

#define TL_TILE_PACK_B(T, CVT, Acc, NR)                                                            \
    for (long j = 0; j < n; j += NR) {                                                             \
        Acc *restrict strip = bp + j * k;                                                          \
        const long cols = n - j < NR ? n - j : NR;                                                 \
        if (bns == 1) {                                                                            \
            for (long p = 0; p < k; p++) {                                                         \
                const T *restrict src = b + p * bks + j;                                           \
                for (long x = 0; x < cols; x++)                                                    \
                    strip[p * NR + x] = CVT(src[x]);                                               \
                for (long x = cols; x < NR; x++)                                                   \
                    strip[p * NR + x] = 0;                                                         \
            }                                                                                      \
        } else {                                                                                   \
            for (long x = 0; x < cols; x++) {                                                      \
                const T *restrict src = b + (j + x) * bns;                                         \
                for (long p = 0; p < k; p++)                                                       \
                    strip[p * NR + x] = CVT(src[p * bks]);                                         \
            }                                                                                      \
            for (long x = cols; x < NR; x++)                                                       \
                for (long p = 0; p < k; p++)                                                       \
                    strip[p * NR + x] = 0;                                                         \
        }                                                                                          \
    }

#define TL_SAME(x) (x)

/* in_place: 1 when A's type is the accumulator's and needs no conversion. */
#define TL_TILE(name, sfx, TA, CA, in_place, TB, CB, Acc, NR)                                      \
static __attribute__((unused, noinline)) void name(long m, long n, long k, const TA *a, long ars,  \
    long aks, const TB *b, long bks, long bns, Acc *c, long ldc, int add, char *scratch)           \
{                                                                                                  \
    if (m <= 0 || n <= 0)                                                                          \
        return;                                                                                    \
    if (k < 0)                                                                                     \
        k = 0;                                                                                     \
    Acc *bp = (Acc *)scratch;                                                                      \
    TL_TILE_PACK_B(TB, CB, Acc, NR)                                                                \
    const Acc *as = (const Acc *)(const void *)a;                                                  \
    if (!(in_place) || aks != 1) {                                                                 \
        const long lda = (k + 15) / 16 * 16 + 16;                                                  \
        Acc *ap = bp + (n + NR - 1) / NR * NR * ((k + 15) / 16 * 16);                              \
        TL_TILE_PACK_A(TA, CA, Acc)                                                                \
        as = ap;                                                                                   \
        ars = lda;                                                                                 \
    }                                                                                              \
    tl_gemm_##sfx(m, n, k, as, ars, 1, TL_MR * ars, bp, NR * k, c, ldc, add, 0);                   \
}

#ifdef TL_GEMM_S8
/* 8-bit operands: groups of TL_S8_GROUP along k, the last one filled with zeros. */
static __attribute__((unused, noinline)) void tl_tile_s8(long m, long n, long k, const int8_t *a,
    long ars, long aks, const int8_t *b, long bks, long bns, int32_t *c, long ldc, int add, char *scratch)
{
    enum { G = TL_S8_GROUP, NR = TL_NV * TL_VB / 4 };
    if (m <= 0 || n <= 0)
        return;
    if (k < 0)
        k = 0;
    const long kg = (k + G - 1) / G;
    TlS8 *bp = (TlS8 *)scratch;
    for (long j = 0; j < n; j += NR) {
        TlS8 *strip = bp + j * kg * G;
        for (long p = 0; p < kg * G; p++)
            for (long x = 0; x < NR; x++) {
                int v = p < k && j + x < n ? b[p * bks + (j + x) * bns] : 0;
                strip[p / G * NR * G + x * G + p % G] = (TlS8)(G == 4 ? v ^ 0x80 : v);
            }
    }
    const long lda = (kg * G + 63) / 64 * 64 + 64;
    TlS8 *ap = bp + (n + NR - 1) / NR * NR * ((kg * G + 15) / 16 * 16);
    ap = (TlS8 *)(((uintptr_t)ap + 63) & ~(uintptr_t)63);
    for (long i = 0; i < m; i++)
        for (long p = 0; p < kg * G; p++)
            ap[i * lda + p] = p < k ? a[i * ars + p * aks] : 0;
    tl_gemm_s8(m, n, kg, ap, lda, G, TL_MR * lda, bp, NR * kg * G, c, ldc, add, 0);
}
#endif

/* A narrow accumulator: the product in a float tile, then added and rounded once. */
#define TL_TILE_NARROW(name, tile, TA, TB, TC, IN, OUT)                                            \
static __attribute__((unused)) void name(long m, long n, long k, const TA *a, long ars, long aks,  \
    const TB *b, long bks, long bns, TC *c, long ldc, int add, char *scratch, long tile_at)        \
{                                                                                                  \
    float *t = (float *)(scratch + tile_at);                                                       \
    const long ldt = (n + 63) / 64 * 64;                                                           \
    tile(m, n, k, a, ars, aks, b, bks, bns, t, ldt, 0, scratch);                                   \
    for (long i = 0; i < m; i++)                                                                   \
        for (long j = 0; j < n; j++)                                                               \
            c[i * ldc + j] = OUT((add ? IN(c[i * ldc + j]) : 0.0f) + t[i * ldt + j]);              \
}
