/* tile.h -- C[0:m, 0:n] (+)= A[0:m, 0:k] * B[0:k, 0:n], operands of any type through strides.
 *
 * Brings B into the strips of gemm.h and A into rows where it cannot be read in place;
 * both copies lie in `scratch`.  A is read in place when it has the kernel's own type and unit
 * stride along k.  add 0 overwrites C; more says that the rows of B below come next. */
#ifndef TL_TILE_H
#define TL_TILE_H

/* Room for B in `scratch`, then A follows; all extents rounded so that both are 64-byte aligned. */
#define TL_UP(n, to) (((n) + (to) - 1) / (to) * (to))

#define TL_TILE_B(b_sfx, Dst, NR)                                                                  \
    if (bns == 1)                                                                                  \
        tl_pack_b_##b_sfx(bp, kt, b, bks, k, n);                                                   \
    else if (bks == 1)                                                                             \
        tl_pack_bt_##b_sfx(bp, kt, b, bns, k, n);                                                  \
    else                                                                                           \
        for (long j = 0; j < n; j++) /* strided both ways: column by column */                     \
            tl_pack_column_##b_sfx(bp + j / (NR) * (NR) * kt + j % (NR), b + j * bns, bks, k, NR);

#define TL_COLUMN(b_sfx, Src, Dst)                                                                 \
static __attribute__((unused)) void tl_pack_column_##b_sfx(Dst *d, const Src *s, long ss, long k,  \
    long nr)                                                                                       \
{                                                                                                  \
    for (long p = 0; p < k; p++)                                                                   \
        d[p * nr] = tl_##b_sfx##_to_##Dst##_(s[p * ss]);                                           \
}

#define TL_TILE(name, sfx, Acc, NR, a_sfx, TA, in_place, b_sfx, TB)                                \
static __attribute__((unused, noinline)) void name(long m, long n, long k, const TA *a, long ars,  \
    long aks, const TB *b, long bks, long bns, Acc *c, long ldc, int add, int more, char *scratch) \
{                                                                                                  \
    if (m <= 0 || n <= 0)                                                                          \
        return;                                                                                    \
    k = k < 0 ? 0 : k;                                                                             \
    const long kt = k;                                                                             \
    Acc *bp = (Acc *)scratch;                                                                      \
    Acc *ap = bp + TL_UP(n, NR) * TL_UP(k, 16);                                                    \
    const Acc *as = (const Acc *)(const void *)a;                                                  \
    const long lda = TL_UP(k, 16) + 16;                                                            \
    if (aks == 1 && (in_place)) {                                                                  \
    } else if (aks == 1) {                                                                         \
        tl_pack_a_##a_sfx(ap, lda, a, ars, m, k);                                                  \
        as = ap, ars = lda;                                                                        \
    } else if (ars == 1) {                                                                         \
        tl_pack_at_##a_sfx(ap, lda, a, aks, k, m);                                                 \
        as = ap, ars = lda;                                                                        \
    } else {                                                                                       \
        for (long i = 0; i < m; i++)                                                               \
            tl_pack_column_##a_sfx(ap + i * lda, a + i * ars, aks, k, 1);                          \
        as = ap, ars = lda;                                                                        \
    }                                                                                              \
    const TlNext next = {(const char *)(b + k * bks), bks * (long)sizeof(TB), (int)k,              \
                         (int)(n * (long)sizeof(TB))};                                             \
    const TlNext *ahead = more && bns == 1 ? &next : 0;                                            \
    if (TL_SAME_##sfx##_##b_sfx && bns == 1) {                                                     \
        tl_gemm_##sfx##_from(m, n, k, as, ars, (const Acc *)(const void *)b, bks, bp, (NR) * kt,   \
                             c, ldc, add, ahead);                                                  \
        return;                                                                                    \
    }                                                                                              \
    if (n % (NR) && bns != 1 && bks != 1)                                                          \
        __builtin_memset(bp + n / (NR) * (NR) * kt, 0, sizeof(Acc) * (NR) * kt);                   \
    TL_TILE_B(b_sfx, Acc, NR)                                                                      \
    tl_gemm_##sfx(m, n, k, as, ars, bp, (NR) * kt, c, ldc, add, ahead);                            \
}

/* Whether B has the kernel's own type, so that its packing can go into the first strip. */
#define TL_SAME_f32_f32 1
#define TL_SAME_f64_f64 1
#define TL_SAME_f32_f16 0
#define TL_SAME_f32_bf16 0
#define TL_SAME_f32_e4m3fn 0
#define TL_SAME_f32_e5m2 0
#define TL_SAME_f32_e4m3fnuz 0
#define TL_SAME_f32_e5m2fnuz 0

TL_COLUMN(f32, float, float)
TL_COLUMN(f16, uint16_t, float)
TL_COLUMN(bf16, uint16_t, float)
TL_COLUMN(e4m3fn, uint8_t, float)
TL_COLUMN(e5m2, uint8_t, float)
TL_COLUMN(e4m3fnuz, uint8_t, float)
TL_COLUMN(e5m2fnuz, uint8_t, float)
TL_COLUMN(f64, double, double)

/* Operands multiplied in groups along k, the last one filled with zeros. A is read in place when it
 * has the packed type, unit stride along k and no last group to fill. */
#define TL_TILE_GROUPS(name, sfx, Acc, Dst, G, in_place, a_sfx, TA, b_sfx, TB)                     \
static __attribute__((unused, noinline)) void name(long m, long n, long k, const TA *a, long ars,  \
    long aks, const TB *b, long bks, long bns, Acc *c, long ldc, int add, int more, char *scratch) \
{                                                                                                  \
    if (m <= 0 || n <= 0)                                                                          \
        return;                                                                                    \
    k = k < 0 ? 0 : k;                                                                             \
    const long kt = TL_UP(k, G);                                                                   \
    Dst *bp = (Dst *)scratch;                                                                      \
    Dst *ap = bp + TL_UP(n, TL_NRF) * TL_UP(k, 64);                                                \
    if (bns == 1)                                                                                  \
        tl_pack_b_##b_sfx(bp, kt, b, bks, k, n);                                                   \
    else                                                                                           \
        tl_pack_bt_##b_sfx(bp, kt, b, bns, k, n);                                                  \
    const Dst *as = (const Dst *)(const void *)a;                                                  \
    const long lda = TL_UP(k, 64) + 64;                                                            \
    if (aks == 1 && (in_place) && k == kt) {                                                       \
    } else if (aks == 1) {                                                                         \
        tl_pack_a_##a_sfx(ap, lda, a, ars, m, k);                                                  \
        as = ap, ars = lda;                                                                        \
    } else {                                                                                       \
        tl_pack_at_##a_sfx(ap, lda, a, aks, k, m);                                                 \
        as = ap, ars = lda;                                                                        \
    }                                                                                              \
    const TlNext next = {(const char *)(b + k * bks), bks * (long)sizeof(TB), (int)k,              \
                         (int)(n * (long)sizeof(TB))};                                             \
    tl_gemm_##sfx(m, n, kt / (G), as, ars, bp, TL_NRF * kt, c, ldc, add,                           \
                  more && bns == 1 ? &next : 0);                                                   \
}

#define TL_TILE_BYTES(name, sfx, Dst, G, a_sfx, TA, b_sfx, TB)                                     \
    TL_TILE_GROUPS(name, sfx, int32_t, Dst, G, sizeof(Dst) == 1, a_sfx, TA, b_sfx, TB)

#ifdef TL_AMX
/* Operands for tile registers: k filled with zeros up to 64 bytes. */
#define TL_TILE_AMX(name, sfx, Acc, Dst, G, a_sfx, b_sfx)                                          \
static __attribute__((unused, noinline)) void name(long m, long n, long k, const Dst *a, long ars, \
    long aks, const Dst *b, long bks, long bns, Acc *c, long ldc, int add, int more, char *scratch)\
{                                                                                                  \
    if (m <= 0 || n <= 0)                                                                          \
        return;                                                                                    \
    k = k < 0 ? 0 : k;                                                                             \
    const long kt = TL_UP(k, 64 / (long)sizeof(Dst)), kg = TL_UP(k, G);                            \
    char *spare = scratch;                                                                         \
    Dst *bp = (Dst *)(scratch + 64 * kt * (long)sizeof(Dst));                                      \
    Dst *ap = bp + TL_UP(n, TL_NRF) * TL_UP(k, 64);                                                \
    if (bns == 1)                                                                                  \
        tl_pack_b_##b_sfx(bp, kt, b, bks, k, n);                                                   \
    else                                                                                           \
        tl_pack_bt_##b_sfx(bp, kt, b, bns, k, n);                                                  \
    for (long j = 0; j < n && kg < kt; j += TL_NRF)                                                \
        __builtin_memset(bp + j * kt + kg * TL_NRF, 0, sizeof(Dst) * (kt - kg) * TL_NRF);          \
    const Dst *as = a;                                                                             \
    const long lda = TL_UP(k, 64) + 64;                                                            \
    if (aks != 1 || k != kt) {                                                                     \
        if (aks == 1)                                                                              \
            tl_pack_a_##a_sfx(ap, lda, a, ars, m, k);                                              \
        else                                                                                       \
            tl_pack_at_##a_sfx(ap, lda, a, aks, k, m);                                             \
        for (long i = 0; i < m && kg < kt; i++)                                                    \
            __builtin_memset(ap + i * lda + kg, 0, sizeof(Dst) * (kt - kg));                       \
        as = ap, ars = lda;                                                                        \
    }                                                                                              \
    const TlNext next = {(const char *)(b + k * bks), bks * (long)sizeof(Dst), (int)k,             \
                         (int)(n * (long)sizeof(Dst))};                                            \
    tl_amx_gemm_##sfx(m, n, kt, as, ars, bp, TL_NRF * kt, c, ldc, add,                             \
                      more && bns == 1 ? &next : 0, spare);                                        \
}

#define TL_TILE_EITHER(name, Elem, Acc)                                                            \
static __attribute__((unused)) void name(long m, long n, long k, const Elem *a, long ars,          \
    long aks, const Elem *b, long bks, long bns, Acc *c, long ldc, int add, int more,              \
    char *scratch)                                                                                 \
{                                                                                                  \
    if (tl_amx_ready())                                                                            \
        name##_amx(m, n, k, a, ars, aks, b, bks, bns, c, ldc, add, more, scratch);                 \
    else                                                                                           \
        name##_dot(m, n, k, a, ars, aks, b, bks, bns, c, ldc, add, more, scratch);                 \
}
#endif

/* A narrow accumulator: the product in a float tile at tile_at, then added and rounded once. */
#define TL_TILE_NARROW(name, tile, TA, TB, TC, sfx)                                                \
static __attribute__((unused)) void name(long m, long n, long k, const TA *a, long ars, long aks,  \
    const TB *b, long bks, long bns, TC *c, long ldc, int add, int more, char *scratch,            \
    long tile_at)                                                                                  \
{                                                                                                  \
    float *t = (float *)(scratch + tile_at);                                                       \
    const long ldt = TL_UP(n, 64);                                                                 \
    tile(m, n, k, a, ars, aks, b, bks, bns, t, ldt, 0, more, scratch);                             \
    for (long i = 0; i < m; i++)                                                                   \
        for (long j = 0; j < n; j++)                                                               \
            c[i * ldc + j] = tl_f32_to_##sfx((add ? tl_##sfx##_to_f32(c[i * ldc + j]) : 0.0f) +    \
                                             t[i * ldt + j]);                                      \
}

#endif
