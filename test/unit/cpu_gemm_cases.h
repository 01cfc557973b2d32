/* cpu_gemm_cases.h -- tests of device/cpu/gemm.h and pack.h at whatever vector width the includer
 * has asked the compiler for; READY() tells whether this processor has it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TL_GEMM_F32
#define TL_GEMM_F64
#define TL_GEMM_BF16
#define TL_GEMM_S8
#define TL_GEMM_I16
#include "../../device/cpu/pack.h"
#include "test.h"

typedef struct {
    long m, n, k, kt, lda, ldb, ldc;
    int ta, tb, add;
    uint32_t seed;
} Problem;

static uint32_t next(Problem *p)
{
    return (p->seed = p->seed * 1664525u + 1013904223u) >> 8;
}

static Problem problem(uint32_t seed)
{
    Problem p = {0};
    p.seed = seed * 2654435761u + 1;
    p.m = 1 + next(&p) % 40;
    p.n = 1 + next(&p) % 130;
    p.k = seed % 8 == 7 ? 0 : 1 + next(&p) % 300; /* 0: a tile that lies past the end of k */
    p.ta = next(&p) % 2;
    p.tb = next(&p) % 2;
    p.add = next(&p) % 2;
    p.kt = (p.k + 3) / 4 * 4 + 4;
    p.lda = (p.ta ? p.m : p.k) + next(&p) % 4;
    p.ldb = (p.tb ? p.k : p.n) + next(&p) % 4;
    p.ldc = p.n + next(&p) % 4;
    return p;
}

static long a_at(const Problem *p, long i, long q)
{
    return p->ta ? q * p->lda + i : i * p->lda + q;
}

static long b_at(const Problem *p, long q, long j)
{
    return p->tb ? j * p->ldb + q : q * p->ldb + j;
}

static long a_size(const Problem *p)
{
    return (p->ta ? p->k : p->m) * p->lda;
}

static long b_size(const Problem *p)
{
    return (p->tb ? p->n : p->k) * p->ldb;
}

static void *room(long nbytes)
{
    void *at = aligned_alloc(64, (size_t)(nbytes + 127) / 64 * 64);
    memset(at, 0x7f, (size_t)(nbytes + 127) / 64 * 64); /* what is not packed is not zero */
    return at;
}

/* Small multiples of 1/8: every order of summation gives the same sum. */
#define FLOAT_CASE(T, sfx, NR, fused)                                                              \
    static void product_##sfx(Problem p)                                                           \
    {                                                                                              \
        T *a = room(a_size(&p) * sizeof(T)), *b = room(b_size(&p) * sizeof(T));                    \
        T *c = room(p.m * p.ldc * sizeof(T)), *want = room(p.m * p.ldc * sizeof(T));               \
        T *as = room((p.m + 16) * p.kt * sizeof(T)), *bs = room((p.n + (NR)) * p.kt * sizeof(T));  \
        for (long i = 0; i < a_size(&p); i++)                                                      \
            a[i] = ((T)(next(&p) % 41) - 20) / 8;                                                  \
        for (long i = 0; i < b_size(&p); i++)                                                      \
            b[i] = ((T)(next(&p) % 41) - 20) / 8;                                                  \
        for (long i = 0; i < p.m * p.ldc; i++)                                                     \
            want[i] = c[i] = (T)(next(&p) % 9);                                                    \
        for (long i = 0; i < p.m; i++)                                                             \
            for (long j = 0; j < p.n; j++) {                                                       \
                T s = p.add ? c[i * p.ldc + j] : 0;                                                \
                for (long q = 0; q < p.k; q++)                                                     \
                    s += a[a_at(&p, i, q)] * b[b_at(&p, q, j)];                                    \
                want[i * p.ldc + j] = s;                                                           \
            }                                                                                      \
        const T *left = a;                                                                         \
        long lda = p.lda;                                                                          \
        if (p.ta) {                                                                                \
            tl_pack_at_##sfx(as, p.kt, a, p.lda, p.k, p.m);                                        \
            left = as;                                                                             \
            lda = p.kt;                                                                            \
        }                                                                                          \
        if (!p.tb && (fused))                                                                      \
            tl_gemm_##sfx##_from(p.m, p.n, p.k, left, lda, b, p.ldb, bs, (NR) * p.kt, c, p.ldc,    \
                                 p.add, 0);                                                        \
        else {                                                                                     \
            if (p.tb)                                                                              \
                tl_pack_bt_##sfx(bs, p.kt, b, p.ldb, p.k, p.n);                                    \
            else                                                                                   \
                tl_pack_b_##sfx(bs, p.kt, b, p.ldb, p.k, p.n);                                     \
            TlNext ahead = {(const char *)b, p.ldb * (long)sizeof(T), 1, 1};                       \
            tl_gemm_##sfx(p.m, p.n, p.k, left, lda, bs, (NR) * p.kt, c, p.ldc, p.add, &ahead);     \
        }                                                                                          \
        CHECK(!memcmp(c, want, (size_t)(p.m * p.ldc) * sizeof(T)));                                \
        free(a), free(b), free(c), free(want), free(as), free(bs);                                 \
    }
FLOAT_CASE(float, f32, TL_NRF, p.seed & 1024)
FLOAT_CASE(double, f64, TL_NRD, p.seed & 1024)

TEST(floats)
{
    if (!READY())
        test_skip("this processor lacks the instructions");
    for (uint32_t i = 0; i < 150; i++) {
        product_f32(problem(i));
        product_f64(problem(i));
    }
}

/* bf16 widened while packed, and in pairs where the processor multiplies pairs. */
static void product_bf16(Problem p, int pairs)
{
    uint16_t *a = room(a_size(&p) * 2), *b = room(b_size(&p) * 2);
    float *c = room(p.m * p.n * 4), *as = room((p.m + 16) * p.kt * 4);
    float *bs = room((p.n + TL_NRF) * p.kt * 4);
    for (long i = 0; i < a_size(&p); i++)
        a[i] = tl_f32_to_bf16(((float)(next(&p) % 41) - 20) / 8);
    for (long i = 0; i < b_size(&p); i++)
        b[i] = tl_f32_to_bf16(((float)(next(&p) % 41) - 20) / 8);
    if (pairs) {
#ifdef TL_HAS_BF16_DOT
        uint16_t *a2 = (uint16_t *)as, *b2 = (uint16_t *)bs;
        if (p.ta)
            tl_pack_at_bf16x2(a2, p.kt, a, p.lda, p.k, p.m);
        else
            tl_pack_a_bf16x2(a2, p.kt, a, p.lda, p.m, p.k);
        if (p.tb)
            tl_pack_bt_bf16x2(b2, p.kt, b, p.ldb, p.k, p.n);
        else
            tl_pack_b_bf16x2(b2, p.kt, b, p.ldb, p.k, p.n);
        tl_gemm_bf16(p.m, p.n, (p.k + 1) / 2, a2, p.kt, b2, TL_NRF * p.kt, c, p.n, 0, 0);
#endif
    } else {
        if (p.ta)
            tl_pack_at_bf16(as, p.kt, a, p.lda, p.k, p.m);
        else
            tl_pack_a_bf16(as, p.kt, a, p.lda, p.m, p.k);
        if (p.tb)
            tl_pack_bt_bf16(bs, p.kt, b, p.ldb, p.k, p.n);
        else
            tl_pack_b_bf16(bs, p.kt, b, p.ldb, p.k, p.n);
        tl_gemm_f32(p.m, p.n, p.k, as, p.kt, bs, TL_NRF * p.kt, c, p.n, 0, 0);
    }
    for (long i = 0; i < p.m; i++)
        for (long j = 0; j < p.n; j++) {
            float s = 0;
            for (long q = 0; q < p.k; q++)
                s += tl_bf16_to_f32(a[a_at(&p, i, q)]) * tl_bf16_to_f32(b[b_at(&p, q, j)]);
            CHECK(c[i * p.n + j] == s);
        }
    free(a), free(b), free(c), free(as), free(bs);
}

TEST(narrow_floats)
{
    if (!READY())
        test_skip("this processor lacks the instructions");
    for (uint32_t i = 0; i < 60; i++) {
        product_bf16(problem(i), 0);
#ifdef TL_HAS_BF16_DOT
        if (__builtin_cpu_supports("avx512bf16"))
            product_bf16(problem(i), 1);
#endif
    }
}

#define SAME_WIDENING(sfx, T)                                                                      \
    for (uint32_t code = 0; code < 1u << 8 * sizeof(T); code++) {                                  \
        T in[TL_VF];                                                                               \
        for (int i = 0; i < TL_VF; i++)                                                            \
            in[i] = (T)code;                                                                       \
        TlVf out = tl_load_##sfx(in);                                                              \
        float got, want = tl_##sfx##_to_f32((T)code);                                              \
        memcpy(&got, &out, 4);                                                                     \
        CHECK(want != want ? got != got : !memcmp(&got, &want, 4));                                \
    }

TEST(a_vector_widens_as_its_elements_do)
{
    if (!READY())
        test_skip("this processor lacks the instructions");
    SAME_WIDENING(f16, uint16_t)
    SAME_WIDENING(bf16, uint16_t)
    SAME_WIDENING(e4m3fn, uint8_t)
    SAME_WIDENING(e5m2, uint8_t)
    SAME_WIDENING(e4m3fnuz, uint8_t)
    SAME_WIDENING(e5m2fnuz, uint8_t)
}

#define BYTE_CASE(name, TA, TB, a_sfx, b_sfx, sfx, Packed, G)                                      \
    static void product_##name(Problem p)                                                          \
    {                                                                                              \
        TA *a = room(a_size(&p));                                                                  \
        TB *b = room(b_size(&p));                                                                  \
        int32_t *c = room(p.m * p.ldc * 4), *old = room(p.m * p.ldc * 4);                          \
        Packed *as = room((p.m + 16) * p.kt * sizeof(Packed));                                     \
        Packed *bs = room((p.n + TL_NRF) * p.kt * sizeof(Packed));                                 \
        for (long i = 0; i < a_size(&p); i++)                                                      \
            a[i] = (TA)next(&p);                                                                   \
        for (long i = 0; i < b_size(&p); i++)                                                      \
            b[i] = (TB)next(&p);                                                                   \
        for (long i = 0; i < p.m * p.ldc; i++)                                                     \
            c[i] = old[i] = (int32_t)(next(&p) % 1000);                                            \
        if (p.ta)                                                                                  \
            tl_pack_at_##a_sfx(as, p.kt, a, p.lda, p.k, p.m);                                      \
        else                                                                                       \
            tl_pack_a_##a_sfx(as, p.kt, a, p.lda, p.m, p.k);                                       \
        if (p.tb)                                                                                  \
            tl_pack_bt_##b_sfx(bs, p.kt, b, p.ldb, p.k, p.n);                                      \
        else                                                                                       \
            tl_pack_b_##b_sfx(bs, p.kt, b, p.ldb, p.k, p.n);                                       \
        tl_gemm_##sfx(p.m, p.n, (p.k + (G) - 1) / (G), as, p.kt, bs, TL_NRF * p.kt, c, p.ldc,      \
                      p.add, 0);                                                                   \
        for (long i = 0; i < p.m; i++)                                                             \
            for (long j = 0; j < p.n; j++) {                                                       \
                int32_t s = p.add ? old[i * p.ldc + j] : 0;                                        \
                for (long q = 0; q < p.k; q++)                                                     \
                    s += a[a_at(&p, i, q)] * b[b_at(&p, q, j)];                                    \
                CHECK_INT(c[i * p.ldc + j], s);                                                    \
            }                                                                                      \
        free(a), free(b), free(c), free(old), free(as), free(bs);                                  \
    }
BYTE_CASE(ss, int8_t, int8_t, i16_s8, i16_s8, i16, TlWide, TL_WIDE_GROUP)
BYTE_CASE(us, uint8_t, int8_t, i16_u8, i16_s8, i16, TlWide, TL_WIDE_GROUP)
BYTE_CASE(uu, uint8_t, uint8_t, i16_u8, i16_u8, i16, TlWide, TL_WIDE_GROUP)
#ifdef TL_HAS_S8_DOT
BYTE_CASE(dot, int8_t, int8_t, s8, s8, s8, int8_t, 4)
#endif

TEST(bytes)
{
    if (!READY())
        test_skip("this processor lacks the instructions");
    for (uint32_t i = 0; i < 60; i++) {
        product_ss(problem(i));
        product_us(problem(i));
        product_uu(problem(i));
#ifdef TL_HAS_S8_DOT
        product_dot(problem(i));
#endif
    }
}
