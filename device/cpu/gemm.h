/* gemm.h -- matrix product of cache-resident tiles for emitted CPU code.

   Shape of the idea: a microkernel holds MR rows x NR = NV*VL columns of C in named vector
   accumulators (gcc keeps an indexed array of them in memory) and walks k once. A is read one
   element at a time and broadcast, so it may stay where it is as long as its rows are contiguous. B
   is read VL columns at a time and is always packed:

       A (i, k)   i*lda + k, row major: global memory, a fragment, or A_s with lda = KT + 64 bytes
                  of padding (rows a power of two apart share one set of the cache). A stored as
                  k rows of m is turned while packed.
       B_s (k, j) (j/NR)*NR*KT + k*NR + j%NR, size roundup(NT, NR)*KT; bstep = NR*KT
       C (i, j)   i*ldc + j, row major; a local C_l takes ldc = roundup(NT, VL) + VL

   KT, NT are the extents of the tile as declared, m, n, k below the valid part of it. Columns of
   the last strip that lie past n are zeros up to a multiple of VL. Every buffer of our own is
   64-byte aligned; global operands need only the alignment of their element.

   Choose before inclusion: TL_GEMM_F32, _F64, _BF16, _S8, _I16 (each defines the
   kernels of that type). Compile with contraction of a*b+c allowed (-ffp-contract=fast). */
#ifndef TL_GEMM_H
#define TL_GEMM_H

#include <stdint.h>

#ifndef TL_VB
#if defined(__AVX512F__)
#define TL_VB 64
#elif defined(__AVX__)
#define TL_VB 32
#else
#define TL_VB 16
#endif
#endif

/* 24 accumulators, 3 of B and a broadcast in 32 registers, with NEON as with AVX-512; 12 + 2 + 1 in 16; SSE has no fused
   multiply-add and needs a register for the product. */
#ifndef TL_MR
#if TL_VB == 64 || defined(__aarch64__)
#define TL_MR 8
#define TL_NV 3
#elif TL_VB == 32
#define TL_MR 6
#define TL_NV 2
#else
#define TL_MR 4
#define TL_NV 2
#endif
#endif

#define TL_VF (TL_VB / 4)
#define TL_VD (TL_VB / 8)
#define TL_NRF (TL_NV * TL_VF)
#define TL_NRD (TL_NV * TL_VD)

/* Steps of k between asking for a row of B and using it. */
#define TL_SOON 8

typedef float TlVf __attribute__((vector_size(TL_VB), may_alias));
typedef float TlVfu __attribute__((vector_size(TL_VB), aligned(1), may_alias));
typedef double TlVd __attribute__((vector_size(TL_VB), may_alias));
typedef double TlVdu __attribute__((vector_size(TL_VB), aligned(8), may_alias));
typedef int32_t TlVi __attribute__((vector_size(TL_VB), may_alias));
typedef int32_t TlViu __attribute__((vector_size(TL_VB), aligned(4), may_alias));

/* The panel of B that will be packed next: `rows` pieces of `nbytes`, `ld` bytes apart. The block
   routine asks for it line by line between microkernels, so that packing finds it in the cache. */
typedef struct {
    const char *base;
    long ld;
    int rows;
    int nbytes;
} TlNext;

typedef struct {
    const char *row;
    long ld;
    int rows_left;
    int at;
    int nbytes;
    int lines;
} TlAhead;

static inline TlAhead tl_ahead_start(const TlNext *next, long calls)
{
    TlAhead s = {0, 0, 0, 0, 0, 0};
    if (!next || calls < 1)
        return s;
    s.row = next->base;
    s.ld = next->ld;
    s.rows_left = next->rows;
    s.nbytes = next->nbytes;
    long lines = (long)next->rows * (next->nbytes / 64 + 2);
    s.lines = (int)((lines + calls - 1) / calls);
    return s;
}

static inline void tl_ahead_step(TlAhead *s)
{
    for (int i = 0; i < s->lines && s->rows_left > 0; i++) {
        __builtin_prefetch(s->row + s->at, 0, 2);
        s->at += 64;
        if (s->at >= s->nbytes + 64) {
            s->at = 0;
            s->row += s->ld;
            s->rows_left--;
        }
    }
}

/* --- the microkernel, spelled by the preprocessor ------------------------------------------- */

#define TL_CAT_(a, b) a##b
#define TL_CAT(a, b) TL_CAT_(a, b)

#define TL_R1(X) X(0)
#define TL_R2(X) TL_R1(X) X(1)
#define TL_R3(X) TL_R2(X) X(2)
#define TL_R4(X) TL_R3(X) X(3)
#define TL_R5(X) TL_R4(X) X(4)
#define TL_R6(X) TL_R5(X) X(5)
#define TL_R7(X) TL_R6(X) X(6)
#define TL_R8(X) TL_R7(X) X(7)
#define TL_R9(X) TL_R8(X) X(8)
#define TL_R10(X) TL_R9(X) X(9)
#define TL_R11(X) TL_R10(X) X(10)
#define TL_R12(X) TL_R11(X) X(11)
#define TL_R13(X) TL_R12(X) X(12)
#define TL_R14(X) TL_R13(X) X(13)
#define TL_ROWS(X) TL_CAT(TL_R, TL_MR)(X)

#define TL_ZERO1(i) Vec c##i##0 = TL_START(i);
#define TL_ZERO2(i) TL_ZERO1(i) Vec c##i##1 = TL_START(i);
#define TL_ZERO3(i) TL_ZERO2(i) Vec c##i##2 = TL_START(i);

#define TL_LOAD1 Vec b0 = ((const VecB *)b)[0];
#define TL_LOAD2 TL_LOAD1 Vec b1 = ((const VecB *)b)[1];
#define TL_LOAD3 TL_LOAD2 Vec b2 = ((const VecB *)b)[2];

#define TL_FMA1(i) { const Scalar s = *(const Scalar *)(a + (i) * lda); TL_DO(c##i##0, s, b0) }
#define TL_FMA2(i) { const Scalar s = *(const Scalar *)(a + (i) * lda); \
    TL_DO(c##i##0, s, b0) TL_DO(c##i##1, s, b1) }
#define TL_FMA3(i) { const Scalar s = *(const Scalar *)(a + (i) * lda); \
    TL_DO(c##i##0, s, b0) TL_DO(c##i##1, s, b1) TL_DO(c##i##2, s, b2) }

#define TL_PUT1(i) ((VecU *)(c + (i) * ldc))[0] = c##i##0;
#define TL_PUT2(i) TL_PUT1(i) ((VecU *)(c + (i) * ldc))[1] = c##i##1;
#define TL_PUT3(i) TL_PUT2(i) ((VecU *)(c + (i) * ldc))[2] = c##i##2;
#define TL_ADD1(i) ((VecU *)(c + (i) * ldc))[0] += c##i##0;
#define TL_ADD2(i) TL_ADD1(i) ((VecU *)(c + (i) * ldc))[1] += c##i##1;
#define TL_ADD3(i) TL_ADD2(i) ((VecU *)(c + (i) * ldc))[2] += c##i##2;

/* C will be written, whether it is added to or not. */
#define TL_WANT1(i) __builtin_prefetch(c + (i) * ldc, 1);
#define TL_WANT2(i) TL_WANT1(i) __builtin_prefetch(c + (i) * ldc + TL_VB / sizeof *c, 1);
#define TL_WANT3(i) TL_WANT2(i) __builtin_prefetch(c + (i) * ldc + 2 * TL_VB / sizeof *c, 1);

#define TL_KEEP1 ((Vec *)keep)[0] = b0;
#define TL_KEEP2 TL_KEEP1 ((Vec *)keep)[1] = b1;
#define TL_KEEP3 TL_KEEP2 ((Vec *)keep)[2] = b2;

#define TL_STEP(NVn) { TL_LOAD##NVn TL_ROWS(TL_FMA##NVn) \
    a += TL_GROUP; b += TL_NV * TL_VB / sizeof *b; }
#define TL_STEP4(NVn) TL_STEP(NVn) TL_STEP(NVn) TL_STEP(NVn) TL_STEP(NVn)
/* Rows of B are far apart: no hardware fetches the next ones unasked. */
#define TL_SOON1 __builtin_prefetch(b + TL_SOON * ldb);
#define TL_SOON2 TL_SOON1 __builtin_prefetch(b + TL_SOON * ldb + TL_VB / sizeof *b);
#define TL_SOON3 TL_SOON2 __builtin_prefetch(b + TL_SOON * ldb + 2 * TL_VB / sizeof *b);
#define TL_STEPKEEP(NVn) { TL_LOAD##NVn TL_KEEP##NVn TL_ROWS(TL_FMA##NVn) TL_SOON##NVn \
    a++; b += ldb; keep += TL_NV * TL_VB / sizeof *b; }

/* k counts steps: TL_GROUP elements of A, one for f32 and f64, 2 or 4 for the dot kernels. Row i
   starts from TL_START(i), which may read bias[i]. `ahead` is a row of the next strip of A: it and
   the one after it are asked for while this strip is used. */
#define TL_MICRO(name, NVn, Elem, Packed, Acc, Scalar_, Vec_, VecU_) \
static __attribute__((noinline)) void name(long k, const Elem *restrict a, long lda, \
    const Packed *restrict b, Acc *restrict c, long ldc, int add, const Elem *ahead, \
    const Acc *bias) \
{ \
    (void)bias; \
    typedef Scalar_ Scalar __attribute__((aligned(1), may_alias)); \
    typedef Vec_ Vec; \
    typedef Vec_ VecB; \
    typedef VecU_ VecU; \
    TL_ROWS(TL_ZERO##NVn) \
    TL_ROWS(TL_WANT##NVn) \
    const long line = 64 / sizeof(Elem); \
    for (; k >= 16; k -= 16) { \
        __builtin_prefetch(ahead, 0, 2); \
        __builtin_prefetch(ahead + lda, 0, 2); \
        ahead += line; \
        TL_STEP4(NVn) TL_STEP4(NVn) TL_STEP4(NVn) TL_STEP4(NVn) \
    } \
    for (; k > 0; k--) \
        TL_STEP(NVn) \
    if (add) { \
        TL_ROWS(TL_ADD##NVn) \
    } else { \
        TL_ROWS(TL_PUT##NVn) \
    } \
}

/* The same over a strip of B as it lies in memory, row major, which it leaves packed in `keep`: the
   first strip of A pays for the packing of B with idle load and store slots. */
#define TL_MICRO_KEEP(name, NVn, Elem, Vec_, VecU_) \
static __attribute__((noinline)) void name(long k, const Elem *restrict a, long lda, \
    const Elem *restrict b, long ldb, Elem *restrict keep, Elem *restrict c, long ldc, int add) \
{ \
    typedef Elem Scalar; \
    typedef Vec_ Vec; \
    typedef VecU_ VecB; \
    typedef VecU_ VecU; \
    TL_ROWS(TL_ZERO##NVn) \
    TL_ROWS(TL_WANT##NVn) \
    for (; k >= 4; k -= 4) { \
        TL_STEPKEEP(NVn) TL_STEPKEEP(NVn) TL_STEPKEEP(NVn) TL_STEPKEEP(NVn) \
    } \
    for (; k > 0; k--) \
        TL_STEPKEEP(NVn) \
    if (add) { \
        TL_ROWS(TL_ADD##NVn) \
    } else { \
        TL_ROWS(TL_PUT##NVn) \
    } \
}

/* The block routine: C[0:m, 0:n] (+)= A[0:m, 0:k] * B[0:k, 0:n].
   Whole microtiles go straight to C. The last rows are copied into a strip of MR first, a piece of
   k at a time, and tiles cut by m or n are made in `t` and their valid part moved to C; so nothing
   outside of A[0:m, 0:k] is read and nothing outside of C[0:m, 0:n] is touched.
   A caller whose buffers are padded may round m up to MR and n up to VL and has no cut tiles. */
#define TL_BLOCK(sfx, Elem, Packed, Acc, GROUP) \
static void tl_tile_##sfx(long k, long cols, const Elem *a, long lda, \
    const Packed *b, Acc *c, long ldc, int add, const Elem *ahead, const Acc *bias) \
{ \
    const long vl = TL_VB / sizeof(Acc); \
    if (cols > 2 * vl) \
        TL_CAT(tl_micro_##sfx##_, TL_NV)(k, a, lda, b, c, ldc, add, ahead, bias); \
    else if (cols > vl) \
        tl_micro_##sfx##_2(k, a, lda, b, c, ldc, add, ahead, bias); \
    else \
        tl_micro_##sfx##_1(k, a, lda, b, c, ldc, add, ahead, bias); \
} \
static __attribute__((noinline)) void tl_cut_##sfx(long k, long rows, long cols, const Elem *a, \
    long lda, const Packed *b, Acc *c, long ldc, int add) \
{ \
    enum { KP = 256, NR = TL_NV * TL_VB / sizeof(Acc) }; \
    Acc t[TL_MR * NR] __attribute__((aligned(64))); \
    Elem strip[TL_MR * KP * GROUP] __attribute__((aligned(64))); \
    long p = 0; \
    do { /* once where k is 0: t is zeros then */ \
        const long kk = k - p < KP ? k - p : KP; \
        const Elem *as = a + p * GROUP; \
        long ld = lda; \
        if (rows < TL_MR) { \
            for (long i = 0; i < TL_MR; i++) \
                for (long q = 0; q < kk * GROUP; q++) \
                    strip[i * KP * GROUP + q] = i < rows ? as[i * lda + q] : (Elem)0; \
            as = strip; \
            ld = KP * GROUP; \
        } \
        Acc bias[TL_MR]; \
        TL_BIAS_##sfx(bias, as, ld, kk) \
        tl_tile_##sfx(kk, cols, as, ld, b + p * NR * GROUP, t, NR, p > 0, as, bias); \
        p += KP; \
    } while (p < k); \
    for (long i = 0; i < rows; i++) { \
        if (add) { \
            for (long j = 0; j < cols; j++) \
                c[i * ldc + j] += t[i * NR + j]; \
        } else { \
            for (long j = 0; j < cols; j++) \
                c[i * ldc + j] = t[i * NR + j]; \
        } \
    } \
} \
static __attribute__((unused)) void tl_gemm_##sfx(long m, long n, long k, const Elem *a, long lda, \
    const Packed *b, long bstep, Acc *c, long ldc, int add, \
    const TlNext *next) \
{ \
    const long nr = TL_NV * TL_VB / (long)sizeof(Acc), vl = TL_VB / (long)sizeof(Acc); \
    TlAhead s = tl_ahead_start(next, ((m + TL_MR - 1) / TL_MR) * ((n + nr - 1) / nr)); \
    for (long i = 0; i < m; i += TL_MR) { \
        const long rows = m - i < TL_MR ? m - i : TL_MR; \
        const Elem *strip = a + i * lda; \
        Acc bias[TL_MR]; \
        if (rows == TL_MR) { \
            TL_BIAS_##sfx(bias, strip, lda, k) \
        } \
        long row = 0; \
        for (long j = 0; j < n; j += nr) { \
            const long cols = n - j < nr ? n - j : nr; \
            const Packed *bs = b + j / nr * bstep; \
            Acc *cs = c + i * ldc + j; \
            tl_ahead_step(&s); \
            if (rows < TL_MR || cols % vl) { \
                tl_cut_##sfx(k, rows, cols, strip, lda, bs, cs, ldc, add); \
                continue; \
            } \
            const int more = i + 2 * TL_MR <= m; \
            const Elem *ahead = more ? strip + (TL_MR + row) * lda : strip; \
            row = row + 2 < TL_MR ? row + 2 : 0; \
            tl_tile_##sfx(k, cols, strip, lda, bs, cs, ldc, add, ahead, bias); \
        } \
    } \
}

#if TL_NV > 2
#define TL_KERNELS(sfx, Elem, Packed, Acc, Scalar, Vec, VecU, GROUP) \
    TL_MICRO(tl_micro_##sfx##_1, 1, Elem, Packed, Acc, Scalar, Vec, VecU) \
    TL_MICRO(tl_micro_##sfx##_2, 2, Elem, Packed, Acc, Scalar, Vec, VecU) \
    TL_MICRO(tl_micro_##sfx##_3, 3, Elem, Packed, Acc, Scalar, Vec, VecU) \
    TL_BLOCK(sfx, Elem, Packed, Acc, GROUP)
#else
#define TL_KERNELS(sfx, Elem, Packed, Acc, Scalar, Vec, VecU, GROUP) \
    TL_MICRO(tl_micro_##sfx##_1, 1, Elem, Packed, Acc, Scalar, Vec, VecU) \
    TL_MICRO(tl_micro_##sfx##_2, 2, Elem, Packed, Acc, Scalar, Vec, VecU) \
    TL_BLOCK(sfx, Elem, Packed, Acc, GROUP)
#endif

#define TL_MICRO_KEEP_(...) TL_MICRO_KEEP(__VA_ARGS__)

/* The block routine with the copy of B sunk into it: src is the tile in global memory, row major,
   leading dimension ld, k valid rows and n valid columns; b is B_s, written here. */
#define TL_FUSED(sfx, Elem, Vec, VecU) \
TL_MICRO_KEEP_(tl_keep_##sfx, TL_NV, Elem, Vec, VecU) \
static void tl_pack_strip_##sfx(Elem *restrict q, const Elem *restrict src, long ld, long k, \
    long w) \
{ \
    const long nr = TL_NV * TL_VB / (long)sizeof(Elem), vl = TL_VB / (long)sizeof(Elem); \
    for (long p = 0; p < k; p++, q += nr, src += ld) { \
        long x = 0; \
        for (; x + vl <= w; x += vl) \
            *(Vec *)(q + x) = *(const VecU *)(src + x); \
        if (x == w) \
            continue; \
        *(Vec *)(q + x) = (Vec){0}; \
        for (; x < w; x++) \
            q[x] = src[x]; \
    } \
} \
static __attribute__((unused)) void tl_gemm_##sfx##_from(long m, long n, long k, const Elem *a, \
    long lda, const Elem *src, long ld, Elem *b, long bstep, Elem *c, \
    long ldc, int add, const TlNext *next) \
{ \
    const long nr = TL_NV * TL_VB / (long)sizeof(Elem); \
    const long top = m < TL_MR ? 0 : TL_MR; \
    for (long j = 0; j < n; j += nr) { \
        const long w = n - j < nr ? n - j : nr; \
        Elem *q = b + j / nr * bstep; \
        if (top && w == nr) { \
            tl_keep_##sfx(k, a, lda, src + j, ld, q, c + j, ldc, add); \
            continue; \
        } \
        tl_pack_strip_##sfx(q, src + j, ld, k, w); \
        tl_gemm_##sfx(top, w, k, a, lda, q, bstep, c + j, ldc, add, 0); \
    } \
    tl_gemm_##sfx(m - top, n, k, a + top * lda, lda, b, bstep, c + top * ldc, \
        ldc, add, next); \
}

#define TL_NO_BIAS(bias, a, lda, k) (void)bias;

/* --- f32 and f64 ----------------------------------------------------------------------------- */

#define TL_START(i) {0}
#define TL_GROUP 1
#define TL_DO(c, s, b) c += (s) * (b);
#ifdef TL_GEMM_F32
#define TL_BIAS_f32 TL_NO_BIAS
TL_KERNELS(f32, float, float, float, float, TlVf, TlVfu, 1)
TL_FUSED(f32, float, TlVf, TlVfu)
#endif
#ifdef TL_GEMM_F64
#define TL_BIAS_f64 TL_NO_BIAS
TL_KERNELS(f64, double, double, double, double, TlVd, TlVdu, 1)
TL_FUSED(f64, double, TlVd, TlVdu)
#endif
#undef TL_DO
#undef TL_GROUP

/* --- bf16 in pairs, f32 sums -----------------------------------------------------------------
   Only where vdpbf16ps exists (it flushes denormal products); elsewhere bf16 is packed as f32, or
   multiplied as in mmla.h.
   k counts pairs. A: row-major bf16, read in place.
   B_s (k, j): (j/NR)*NR*KT + (k/2)*NR*2 + (j%NR)*2 + k%2, KT even, odd k filled with zero. */
#if defined(TL_GEMM_BF16) && defined(__AVX512BF16__) && TL_VB == 64
#define TL_HAS_BF16_DOT 1
/* Compilers differ in the name of the builtin, and over time in the type of its operands. */
#if defined(__clang__) && __clang_major__ < 16
typedef int TlVpairs __attribute__((vector_size(64)));
#elif defined(__clang__) || __GNUC__ >= 13
typedef __bf16 TlVpairs __attribute__((vector_size(64)));
#else
typedef short TlVpairs __attribute__((vector_size(64)));
#endif
#ifdef __clang__
#define TL_DOT2 __builtin_ia32_dpbf16ps_512
#else
#define TL_DOT2 __builtin_ia32_dpbf16ps_v16sf
#endif
#define TL_BIAS_bf16 TL_NO_BIAS
#define TL_GROUP 2
#define TL_DO(c, s, b) { const TlVi w = (TlVi){0} + (s); \
    c = TL_DOT2(c, (TlVpairs)w, (TlVpairs)b); }
TL_KERNELS(bf16, uint16_t, uint16_t, float, int32_t, TlVf, TlVfu, 2)
#undef TL_DO
#undef TL_GROUP
#endif
#undef TL_START

/* --- 8-bit integers, int32 sums --------------------------------------------------------------
   A: row major, k filled with zeros up to a multiple of G; k counts groups.
   B_s (k, j): (j/NR)*NR*KT + (k/G)*NR*G + (j%NR)*G + k%G, KT a multiple of G.
     s8   both int8, only with vpdpbusd or sdot (TL_HAS_S8_DOT), G = 4. A is int8 as it lies in
          memory. sdot takes B so, vpdpbusd as b ^ 0x80, a byte 128 too large, and each row starts
          at -128 * sum of its A.
     i16  every mix of int8 and uint8, everywhere: A_s and B_s are TlWide, G = TL_WIDE_GROUP. */
#if defined(TL_GEMM_S8) && \
    ((defined(__AVX512VNNI__) && TL_VB == 64) || (defined(__AVXVNNI__) && TL_VB == 32))
#define TL_HAS_S8_DOT 1
static inline int32_t tl_sum_s8(const int8_t *a, long n)
{
    int32_t sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i];
    return sum;
}
#define TL_BIAS_s8(bias, a, lda, k) { \
    for (long r = 0; r < TL_MR; r++) \
        bias[r] = -128 * tl_sum_s8((a) + r * (lda), 4 * (k)); }
typedef int TlVdot __attribute__((vector_size(TL_VB)));
#if defined(__clang__) && TL_VB == 64
#define TL_VPDPBUSD __builtin_ia32_vpdpbusd512
#elif defined(__clang__)
#define TL_VPDPBUSD __builtin_ia32_vpdpbusd256
#elif TL_VB == 64
#define TL_VPDPBUSD __builtin_ia32_vpdpbusd_v16si
#else
#define TL_VPDPBUSD __builtin_ia32_vpdpbusd_v8si
#endif
#define TL_DOT4(c, u, s) (TlVi)TL_VPDPBUSD((TlVdot)c, (TlVdot)u, (TlVdot)s)
#define TL_START(i) (Vec){0} + bias[i]
#define TL_GROUP 4
#define TL_DO(c, s, b) { const TlVi w = (TlVi){0} + (s); c = TL_DOT4(c, b, w); }
TL_KERNELS(s8, int8_t, int8_t, int32_t, int32_t, TlVi, TlViu, 4)
#undef TL_DO
#undef TL_GROUP
#undef TL_START
#endif

#if defined(TL_GEMM_S8) && defined(__ARM_FEATURE_DOTPROD)
#define TL_HAS_S8_DOT 1
#define TL_BIAS_s8 TL_NO_BIAS
#define TL_START(i) {0}
#define TL_GROUP 4
#define TL_DO(c, s, b) __asm__("sdot %0.4s, %1.16b, %2.4b[0]" : "+w"(c) : "w"(b), "w"(s));
TL_KERNELS(s8, int8_t, int8_t, int32_t, int32_t, TlVi, TlViu, 4)
#undef TL_DO
#undef TL_GROUP
#undef TL_START
#endif

#ifdef TL_GEMM_I16
#if defined(__AVX512BW__) && TL_VB == 64 && defined(__clang__)
#define TL_MADD(x, y) __builtin_ia32_pmaddwd512(x, y)
#elif defined(__AVX512BW__) && TL_VB == 64
#define TL_MADD(x, y) __builtin_ia32_pmaddwd512_mask(x, y, (TlVmadd){0}, (unsigned short)-1)
#elif defined(__AVX2__) && TL_VB == 32
#define TL_MADD(x, y) __builtin_ia32_pmaddwd256(x, y)
#elif defined(__SSE2__) && TL_VB == 16
#define TL_MADD(x, y) __builtin_ia32_pmaddwd128(x, y)
#endif
#define TL_BIAS_i16 TL_NO_BIAS
#define TL_GROUP TL_WIDE_GROUP
#define TL_START(i) {0}
#ifdef TL_MADD
#define TL_WIDE_GROUP 2
typedef int16_t TlWide;
typedef short TlVs __attribute__((vector_size(TL_VB)));
typedef int TlVmadd __attribute__((vector_size(TL_VB)));
#define TL_DO(c, s, b) { const TlVi w = (TlVi){0} + (s); c += (TlVi)TL_MADD((TlVs)b, (TlVs)w); }
#else
#define TL_WIDE_GROUP 1
typedef int32_t TlWide;
#define TL_DO(c, s, b) c += (s) * (b);
#endif
TL_KERNELS(i16, TlWide, TlWide, int32_t, int32_t, TlVi, TlViu, TL_WIDE_GROUP)
#undef TL_DO
#undef TL_GROUP
#undef TL_START
#endif

#endif
