/* pack.h -- tiles of global memory brought into the layouts of gemm.h, converted on the way.

   Source and packed element:  f32->f32, f64->f64, f16/bf16/fp8->f32, and for the dot kernels
   bf16->bf16 pairs (bf16x2), s8->s8 groups (s8), s8/u8->TlWide (i16_s8, i16_u8). For each `sfx`:

       tl_pack_b_<sfx>   row-major source, rows k, columns n   -> B_s
       tl_pack_bt_<sfx>  source stored as n rows of k          -> B_s (transposed in registers)
       tl_pack_a_<sfx>   row-major source, rows m, columns k   -> A_s row major, leading lda
       tl_pack_at_<sfx>  source stored as k rows of m          -> A_s row major, leading lda

   k, n, m are the valid extents: nothing beyond them is read. B_s is filled with zeros up to a
   multiple of the vector length in n; of k only the valid part is written (the dot kernels fill the
   last group). kt is the extent of k the tile was declared with. */
#ifndef TL_PACK_H
#define TL_PACK_H

#include "convert.h"
#include "gemm.h"

#define TL_NR(Dst) ((long)(TL_NV * TL_VB / sizeof(Dst)))
#define TL_VL(Dst) ((long)(TL_VB / sizeof(Dst)))

/* --- one vector, converted ------------------------------------------------------------------- */

static inline TlVf tl_load_f32(const float *p)
{
    return *(const TlVfu *)p;
}

static inline TlVd tl_load_f64(const double *p)
{
    return *(const TlVdu *)p;
}

static inline TlVf tl_load_f16(const uint16_t *p)
{
#if TL_VB == 64 && defined(__AVX512F__)
    typedef short V16h __attribute__((vector_size(32)));
    typedef float V16f __attribute__((vector_size(64)));
    V16h h;
    __builtin_memcpy(&h, p, sizeof h);
    return (TlVf)__builtin_ia32_vcvtph2ps512_mask(h, (V16f){0}, (unsigned short)-1, 4);
#elif TL_VB == 32 && defined(__F16C__)
    typedef short V8h __attribute__((vector_size(16)));
    V8h h;
    __builtin_memcpy(&h, p, sizeof h);
    return (TlVf)__builtin_ia32_vcvtph2ps256(h);
#elif defined(__aarch64__) && TL_VB == 16
    TlVf x;
    double h; /* four of them */
    __builtin_memcpy(&h, p, sizeof h);
    __asm__("fcvtl %0.4s, %1.4h" : "=w"(x) : "w"(h));
    return x;
#elif defined(__ARM_FEATURE_SVE_BITS)
    typedef __fp16 Halves __attribute__((vector_size(2 * TL_VF)));
    Halves h;
    __builtin_memcpy(&h, p, sizeof h);
    return __builtin_convertvector(h, TlVf);
#else
    float t[TL_VF];
    for (int i = 0; i < TL_VF; i++)
        t[i] = tl_f16_to_f32(p[i]);
    return *(const TlVfu *)t;
#endif
}

typedef uint32_t TlVu __attribute__((vector_size(TL_VB), may_alias));
typedef uint8_t TlBytes __attribute__((vector_size(TL_VF)));
typedef uint16_t TlHalves __attribute__((vector_size(2 * TL_VF)));

static inline TlVf tl_load_bf16(const uint16_t *p)
{
    TlHalves h;
    __builtin_memcpy(&h, p, sizeof h);
    return (TlVf)(__builtin_convertvector(h, TlVu) << 16);
}

/* tl_grow and the sign for a vector of fp8; codes where `special` is set become the bits `ends`. */
static inline TlVf tl_widen_vec(TlVu b, int mant, int bias, TlVu special, TlVu ends)
{
    const TlVu mag = b & 0x7f, denormal = (TlVu)(mag < (1u << mant));
    const float scale = tl_f32_bits((uint32_t)(1 - bias - mant + 127) << 23);
    const TlVu small = (TlVu)(__builtin_convertvector((TlVi)mag, TlVf) * scale);
    const TlVu normal = (mag << (23 - mant)) + ((uint32_t)(127 - bias) << 23);
    const TlVu u = (small & denormal) | (normal & ~denormal) | (b & 0x80) << 24;
    return (TlVf)((ends & special) | (u & ~special));
}

static inline TlVu tl_load_bytes(const uint8_t *p)
{
    TlBytes b;
    __builtin_memcpy(&b, p, sizeof b);
    /* in two steps: gcc 12 takes the wide one apart */
    return __builtin_convertvector(__builtin_convertvector(b, TlHalves), TlVu);
}

static inline TlVf tl_load_e4m3fn(const uint8_t *p)
{
    const TlVu b = tl_load_bytes(p), none = {0};
    return tl_widen_vec(b, 3, 7, (TlVu)((b & 0x7f) == 0x7f), none + 0x7fc00000u);
}

static inline TlVf tl_load_e5m2(const uint8_t *p)
{
    const TlVu b = tl_load_bytes(p);
    return tl_widen_vec(b, 2, 15, (TlVu)((b & 0x7f) >= 0x7c), (b << 24 & 0x80000000u) | TL_INF |
                        (b & 3) << 21);
}

static inline TlVf tl_load_e4m3fnuz(const uint8_t *p)
{
    const TlVu b = tl_load_bytes(p), none = {0};
    return tl_widen_vec(b, 3, 8, (TlVu)(b == 0x80), none + 0x7fc00000u);
}

static inline TlVf tl_load_e5m2fnuz(const uint8_t *p)
{
    const TlVu b = tl_load_bytes(p), none = {0};
    return tl_widen_vec(b, 2, 16, (TlVu)(b == 0x80), none + 0x7fc00000u);
}

/* --- transposing a square of vectors --------------------------------------------------------- */

/* Step d exchanges the d-blocks off the diagonal between row i and row i + d. */
#define TL_SWAP(Mask, i, d, lo, hi) { \
    const __typeof__(r[0]) x = r[i], y = r[(i) + (d)]; \
    r[i] = TL_SHUFFLE(Mask, x, y, TL_LIST lo); \
    r[(i) + (d)] = TL_SHUFFLE(Mask, x, y, TL_LIST hi); }
#ifdef __clang__
#define TL_SHUFFLE(Mask, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define TL_SHUFFLE(Mask, x, y, ...) __builtin_shuffle(x, y, (Mask){__VA_ARGS__})
#endif
#define TL_LIST(...) __VA_ARGS__

#define TL_LO2_1 (0, 2)
#define TL_HI2_1 (1, 3)
#define TL_LO4_2 (0, 1, 4, 5)
#define TL_HI4_2 (2, 3, 6, 7)
#define TL_LO4_1 (0, 4, 2, 6)
#define TL_HI4_1 (1, 5, 3, 7)
#define TL_LO8_4 (0, 1, 2, 3, 8, 9, 10, 11)
#define TL_HI8_4 (4, 5, 6, 7, 12, 13, 14, 15)
#define TL_LO8_2 (0, 1, 8, 9, 4, 5, 12, 13)
#define TL_HI8_2 (2, 3, 10, 11, 6, 7, 14, 15)
#define TL_LO8_1 (0, 8, 2, 10, 4, 12, 6, 14)
#define TL_HI8_1 (1, 9, 3, 11, 5, 13, 7, 15)
#define TL_LO16_8 (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define TL_HI16_8 (8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
#define TL_LO16_4 (0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)
#define TL_HI16_4 (4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define TL_LO16_2 (0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define TL_HI16_2 (2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define TL_LO16_1 (0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)
#define TL_HI16_1 (1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31)

#define TL_S(M, L, i, d) TL_SWAP(M, i, d, TL_LO##L##_##d, TL_HI##L##_##d)
#define TL_FLIP2(M, L, o) TL_S(M, L, (o), 1)
#define TL_FLIP4(M, L, o) TL_S(M, L, (o), 2) TL_S(M, L, (o) + 1, 2) \
    TL_FLIP2(M, L, o) TL_FLIP2(M, L, (o) + 2)
#define TL_FLIP8(M, L, o) TL_S(M, L, (o), 4) TL_S(M, L, (o) + 1, 4) TL_S(M, L, (o) + 2, 4) \
    TL_S(M, L, (o) + 3, 4) TL_FLIP4(M, L, o) TL_FLIP4(M, L, (o) + 4)
#define TL_FLIP16(M, L, o) TL_S(M, L, 0, 8) TL_S(M, L, 1, 8) TL_S(M, L, 2, 8) TL_S(M, L, 3, 8) \
    TL_S(M, L, 4, 8) TL_S(M, L, 5, 8) TL_S(M, L, 6, 8) TL_S(M, L, 7, 8) \
    TL_FLIP8(M, L, 0) TL_FLIP8(M, L, 8)

typedef int TlMaskF __attribute__((vector_size(TL_VB)));
typedef long TlMaskD __attribute__((vector_size(TL_VB)));

static inline __attribute__((always_inline)) void tl_flip_f32(TlVf *r)
{
#if TL_VB == 64
    TL_FLIP16(TlMaskF, 16, 0)
#elif TL_VB == 32
    TL_FLIP8(TlMaskF, 8, 0)
#else
    TL_FLIP4(TlMaskF, 4, 0)
#endif
}

static inline __attribute__((always_inline)) void tl_flip_f64(TlVd *r)
{
#if TL_VB == 64
    TL_FLIP8(TlMaskD, 8, 0)
#elif TL_VB == 32
    TL_FLIP4(TlMaskD, 4, 0)
#else
    TL_FLIP2(TlMaskD, 2, 0)
#endif
}

/* --- the four ways --------------------------------------------------------------------------- */

#define TL_PACK_ROWS(sfx, Src, Dst, Vec, VecU) \
static __attribute__((unused)) void tl_pack_b_##sfx(Dst *restrict q, long kt, \
    const Src *restrict src, long ld, long k, long n) \
{ \
    const long nr = TL_NR(Dst), vl = TL_VL(Dst); \
    for (long j = 0; j < n; j += nr, q += nr * kt) { \
        const Src *s = src + j; \
        const long w = n - j < nr ? n - j : nr; \
        for (long p = 0; p < k; p++, s += ld) { \
            Dst *d = q + p * nr; \
            if (w == nr) { \
                for (int v = 0; v < TL_NV; v++) \
                    ((Vec *)d)[v] = tl_load_##sfx(s + v * vl); \
                continue; \
            } \
            long x = 0; \
            for (; x + vl <= w; x += vl) \
                *(Vec *)(d + x) = tl_load_##sfx(s + x); \
            if (x == w) \
                continue; \
            *(Vec *)(d + x) = (Vec){0}; \
            for (; x < w; x++) \
                d[x] = tl_##sfx##_to_##Dst##_(s[x]); \
        } \
    } \
} \
static __attribute__((unused)) void tl_pack_a_##sfx(Dst *restrict q, long lda, \
    const Src *restrict src, long ld, long m, long k) \
{ \
    const long vl = TL_VL(Dst); \
    for (long i = 0; i < m; i++, q += lda, src += ld) { \
        long p = 0; \
        for (; p + vl <= k; p += vl) \
            *(VecU *)(q + p) = tl_load_##sfx(src + p); \
        for (; p < k; p++) \
            q[p] = tl_##sfx##_to_##Dst##_(src[p]); \
    } \
}

#define TL_PACK_FLIP(sfx, Src, Dst, Vec, VecU, flip) \
static __attribute__((unused)) void tl_pack_bt_##sfx(Dst *restrict q, long kt, \
    const Src *restrict src, long ld, long k, long n) \
{ \
    enum { VL = TL_VB / sizeof(Dst) }; \
    const long nr = TL_NR(Dst); \
    for (long j = 0; j < n; j += VL) { \
        Dst *d = q + j / nr * nr * kt + j % nr; \
        const Src *s = src + j * ld; \
        const long w = n - j < VL ? n - j : VL; \
        long p = 0; \
        for (; p + VL <= k && w == VL; p += VL) { \
            Vec r[VL]; \
            _Pragma("GCC unroll 16") \
            for (int x = 0; x < VL; x++) \
                r[x] = tl_load_##sfx(s + x * ld + p); \
            flip(r); \
            _Pragma("GCC unroll 16") \
            for (int x = 0; x < VL; x++) \
                *(Vec *)(d + (p + x) * nr) = r[x]; \
        } \
        for (; p < k; p++) \
            for (long x = 0; x < VL; x++) \
                d[p * nr + x] = x < w ? tl_##sfx##_to_##Dst##_(s[x * ld + p]) : (Dst)0; \
    } \
} \
static __attribute__((unused)) void tl_pack_at_##sfx(Dst *restrict q, long lda, \
    const Src *restrict src, long ld, long k, long m) \
{ \
    enum { VL = TL_VB / sizeof(Dst) }; \
    for (long i = 0; i < m; i += VL) { \
        Dst *d = q + i * lda; \
        const Src *s = src + i; \
        const long w = m - i < VL ? m - i : VL; \
        long p = 0; \
        for (; p + VL <= k && w == VL; p += VL) { \
            Vec r[VL]; \
            _Pragma("GCC unroll 16") \
            for (int x = 0; x < VL; x++) \
                r[x] = tl_load_##sfx(s + (p + x) * ld); \
            flip(r); \
            _Pragma("GCC unroll 16") \
            for (int x = 0; x < VL; x++) \
                *(VecU *)(d + x * lda + p) = r[x]; \
        } \
        for (; p < k; p++) \
            for (long x = 0; x < w; x++) \
                d[x * lda + p] = tl_##sfx##_to_##Dst##_(s[p * ld + x]); \
    } \
}

#define tl_f32_to_float_(x) (x)
#define tl_f64_to_double_(x) (x)
#define tl_f16_to_float_(x) tl_f16_to_f32(x)
#define tl_bf16_to_float_(x) tl_bf16_to_f32(x)
#define tl_e4m3fn_to_float_(x) tl_e4m3fn_to_f32(x)
#define tl_e5m2_to_float_(x) tl_e5m2_to_f32(x)
#define tl_e4m3fnuz_to_float_(x) tl_e4m3fnuz_to_f32(x)
#define tl_e5m2fnuz_to_float_(x) tl_e5m2fnuz_to_f32(x)

#define TL_PACK_F32(sfx, Src) \
    TL_PACK_ROWS(sfx, Src, float, TlVf, TlVfu) \
    TL_PACK_FLIP(sfx, Src, float, TlVf, TlVfu, tl_flip_f32)

TL_PACK_F32(f32, float)
TL_PACK_F32(f16, uint16_t)
TL_PACK_F32(bf16, uint16_t)
TL_PACK_F32(e4m3fn, uint8_t)
TL_PACK_F32(e5m2, uint8_t)
TL_PACK_F32(e4m3fnuz, uint8_t)
TL_PACK_F32(e5m2fnuz, uint8_t)
TL_PACK_ROWS(f64, double, double, TlVd, TlVdu)
TL_PACK_FLIP(f64, double, double, TlVd, TlVdu, tl_flip_f64)

/* --- groups for the dot kernels -------------------------------------------------------------- */

/* A group that is a word of the source as it stands can be turned like f32. Does that for whole
   squares of a full strip, adding `flip` to the top bit of every byte of s8; returns the bytes of k
   done. */
#define TL_WORDS(Src, Dst, G) (sizeof(Src) == sizeof(Dst) && sizeof(Dst) * (G) == 4)

static __attribute__((unused)) long tl_flip_words(void *q, const void *src, long ld, long nbytes,
    long w, int zero)
{
    const TlVu flip = (TlVu){0} + (zero ? 0x80808080u : 0);
    long done = nbytes / TL_VB * TL_VB;
    if (w < TL_NRF)
        return 0;
    for (int v = 0; v < TL_NV; v++)
        for (long p = 0; p < done; p += TL_VB) {
            const char *s = (const char *)src + v * TL_VF * ld + p;
            float *d = (float *)q + p / 4 * TL_NRF + v * TL_VF;
            TlVf r[TL_VF];
            _Pragma("GCC unroll 16")
            for (int x = 0; x < TL_VF; x++)
                r[x] = *(const TlVfu *)(const void *)(s + x * ld);
            tl_flip_f32(r);
            _Pragma("GCC unroll 16")
            for (int x = 0; x < TL_VF; x++)
                *(TlVu *)(void *)(d + x * TL_NRF) = (TlVu)r[x] ^ flip;
        }
    return done;
}

/* Four bytes (or two halves) of k side by side for every column. */
#define TL_PACK_GROUPS(sfx, Src, Dst, G, CVT) \
static __attribute__((unused)) void tl_pack_b_##sfx(Dst *restrict q, long kt, \
    const Src *restrict src, long ld, long k, long n) \
{ \
    enum { NR = TL_NRF }; \
    for (long j = 0; j < n; j += NR, q += NR * kt) { \
        const long w = n - j < NR ? n - j : NR; \
        for (long p = 0; p < k; p += G) { \
            Dst *restrict d = q + p * NR; \
            const Src *restrict s = src + p * ld + j; \
            if (w == NR && p + G <= k) { \
                for (long x = 0; x < NR; x++) \
                    for (long g = 0; g < G; g++) \
                        d[x * G + g] = CVT(s[g * ld + x]); \
                continue; \
            } \
            for (long x = 0; x < NR; x++) \
                for (long g = 0; g < G; g++) \
                    d[x * G + g] = x < w && p + g < k ? CVT(s[g * ld + x]) : CVT(0); \
        } \
    } \
} \
static __attribute__((unused)) void tl_pack_bt_##sfx(Dst *restrict q, long kt, \
    const Src *restrict src, long ld, long k, long n) \
{ \
    enum { NR = TL_NRF }; \
    for (long j = 0; j < n; j += NR, q += NR * kt) { \
        const long w = n - j < NR ? n - j : NR; \
        for (long p = TL_WORDS(Src, Dst, G) ? tl_flip_words(q, src + j * ld, ld * sizeof(Src), \
                 k * sizeof(Src), w, CVT(0)) / (long)sizeof(Src) : 0; p < k; p += G) { \
            Dst *restrict d = q + p * NR; \
            const Src *restrict s = src + j * ld + p; \
            for (long x = 0; x < NR; x++) \
                for (long g = 0; g < G; g++) \
                    d[x * G + g] = x < w && p + g < k ? CVT(s[x * ld + g]) : CVT(0); \
        } \
    } \
} \
static __attribute__((unused)) void tl_pack_a_##sfx(Dst *restrict q, long lda, \
    const Src *restrict src, long ld, long m, long k) \
{ \
    for (long i = 0; i < m; i++, q += lda, src += ld) { \
        for (long p = 0; p < k; p++) \
            q[p] = (Dst)src[p]; \
        for (long p = k; p % G; p++) \
            q[p] = 0; \
    } \
} \
static __attribute__((unused)) void tl_pack_at_##sfx(Dst *restrict q, long lda, \
    const Src *restrict src, long ld, long k, long m) \
{ \
    for (long i = 0; i < m; i++, q += lda, src++) { \
        for (long p = 0; p < k; p++) \
            q[p] = (Dst)src[p * ld]; \
        for (long p = k; p % G; p++) \
            q[p] = 0; \
    } \
}

#define TL_PLAIN(x) (x)
#define TL_FLIP_SIGN(x) (int8_t)((x) ^ 0x80)
#ifdef TL_HAS_BF16_DOT
TL_PACK_GROUPS(bf16x2, uint16_t, uint16_t, 2, TL_PLAIN)
#endif
#if defined(TL_HAS_S8_DOT) && defined(__aarch64__)
TL_PACK_GROUPS(s8, int8_t, int8_t, 4, TL_PLAIN)
#elif defined(TL_HAS_S8_DOT)
TL_PACK_GROUPS(s8, int8_t, int8_t, 4, TL_FLIP_SIGN)
#endif
#ifdef TL_AMX
TL_PACK_GROUPS(s8x4, int8_t, int8_t, 4, TL_PLAIN)
#endif
#ifdef TL_GEMM_I16
TL_PACK_GROUPS(i16_s8, int8_t, TlWide, TL_WIDE_GROUP, TL_PLAIN)
TL_PACK_GROUPS(i16_u8, uint8_t, TlWide, TL_WIDE_GROUP, TL_PLAIN)
#endif

#endif
