/* scalar.h -- small scalar helpers: rounding casts, integer division, nibbles, atomics. */
#ifndef TL_SCALAR_H
#define TL_SCALAR_H

TL_INLINE float tl_round_f16(float x) { return tl_f16_to_f32(tl_f32_to_f16(x)); }
TL_INLINE float tl_round_bf16(float x) { return tl_bf16_to_f32(tl_f32_to_bf16(x)); }
TL_INLINE float tl_round_tf32(float x) { return tl_f32_to_tf32(x); }
TL_INLINE float tl_round_e4m3fn(float x) { return tl_e4m3fn_to_f32(tl_f32_to_e4m3fn(x)); }
TL_INLINE float tl_round_e4m3fnuz(float x) { return tl_e4m3fnuz_to_f32(tl_f32_to_e4m3fnuz(x)); }
TL_INLINE float tl_round_e5m2(float x) { return tl_e5m2_to_f32(tl_f32_to_e5m2(x)); }
TL_INLINE float tl_round_e5m2fnuz(float x) { return tl_e5m2fnuz_to_f32(tl_f32_to_e5m2fnuz(x)); }
TL_INLINE float tl_round_e3m4(float x) { return tl_e3m4_to_f32(tl_f32_to_e3m4(x)); }
TL_INLINE float tl_round_e4m3b11fnuz(float x) { return tl_e4m3b11fnuz_to_f32(tl_f32_to_e4m3b11fnuz(x)); }
TL_INLINE float tl_round_e2m3(float x) { return tl_e2m3_to_f32(tl_f32_to_e2m3(x)); }
TL_INLINE float tl_round_e3m2(float x) { return tl_e3m2_to_f32(tl_f32_to_e3m2(x)); }
TL_INLINE float tl_round_e8m0(float x) { return tl_e8m0_to_f32(tl_f32_to_e8m0(x)); }
TL_INLINE float tl_round_e2m1(float x) { return tl_e2m1_to_f32(tl_f32_to_e2m1(x)); }

/* Codes of numbers of a type that has infinities, where a conversion would saturate. */
TL_INLINE uint8_t tl_keep_e5m2(float x)
{
    return (tl_bits_f32(x) & TL_MAG) == TL_INF ? 0x7cu | tl_sign8(x) : tl_f32_to_e5m2(x);
}
TL_INLINE uint8_t tl_keep_e3m4(float x)
{
    return (tl_bits_f32(x) & TL_MAG) == TL_INF ? 0x70u | tl_sign8(x) : tl_f32_to_e3m4(x);
}

/* To odd: what float cannot hold sets its last bit, so that rounding it to fewer bits after this
   is rounding once. */
TL_INLINE float tl_odd_f64(double x)
{
    const float near = (float)x;
    const uint32_t u = tl_bits_f32(near) - (__builtin_fabs((double)near) > __builtin_fabs(x));
    return tl_f32_bits(u | ((double)tl_f32_bits(u) != x));
}
TL_INLINE float tl_odd_u64(uint64_t x)
{
    const uint64_t low = x & 0xffff, cut = (x - low) | (uint64_t)(low != 0) << 16;
    return tl_odd_f64((double)(x >> 40 ? cut : x));
}
TL_INLINE float tl_odd_i64(int64_t x)
{
    const float r = tl_odd_u64(x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
    return x < 0 ? -r : r;
}
TL_INLINE float tl_odd_i32(int32_t x) { return tl_odd_f64((double)x); }
TL_INLINE float tl_odd_u32(uint32_t x) { return tl_odd_f64((double)x); }

/* a * b + c, to odd, of numbers of at most 11 digits: a double holds their product. */
TL_INLINE float tl_fma_odd(float a, float b, float c)
{
    const double p = (double)a * (double)b, s = p + (double)c;
    const double of_c = s - p, lost = (p - (s - of_c)) + ((double)c - of_c);
    union { double f; uint64_t u; } v = {s};
    const uint64_t inward = (lost < 0) != (s < 0);
    v.u += (lost < 0 || lost > 0) && !(v.u & 1) ? (inward ? (uint64_t)-1 : 1) : 0;
    return tl_odd_f64(v.f);
}

/* Elements to words of 32 bits and back, so many bits at once. */
#define TL_WIDE(bits)                                                                              \
    TL_INLINE void tl_wide_load_##bits(void *to, const void *from, int yes)                        \
    {                                                                                              \
        if (yes)                                                                                   \
            __builtin_memcpy(to, from, bits / 8);                                                  \
        else                                                                                       \
            __builtin_memset(to, 0, bits / 8);                                                     \
    }                                                                                              \
    TL_INLINE void tl_wide_store_##bits(void *to, const void *from, int yes)                       \
    {                                                                                              \
        if (yes)                                                                                   \
            __builtin_memcpy(to, from, bits / 8);                                                  \
    }
TL_WIDE(32)
TL_WIDE(64)
TL_WIDE(128)
TL_WIDE(256)

/* An index that was not proved to lie inside its tile. */
TL_INLINE int64_t tl_check(int64_t i, int64_t n, int *bad, int which)
{
    if (__builtin_expect(i >= 0 && i < n, 1))
        return i;
    *bad = which;
    return 0;
}

/* float to integer: toward zero, saturated, NaN gives 0.  What becomes 0 is 0 before: gcc makes the
   float of the result trunc(x), which has a sign there. */
#define TL_TO_INT(name, F, I, lo, hi)                                                              \
TL_INLINE I name(F x)                                                                              \
{                                                                                                  \
    F y = !(x <= -1) & !(x >= 1) ? 0 : x;                                                          \
    y = y < (F)(lo) ? (F)(lo) : y;                                                                 \
    return y >= (F)(hi) ? (I)(hi) : (I)y;                                                          \
}
TL_TO_INT(tl_f32_to_int8, float, int8_t, -128, 127)
TL_TO_INT(tl_f32_to_uint8, float, uint8_t, 0, 255)
TL_TO_INT(tl_f32_to_int16, float, int16_t, -32768, 32767)
TL_TO_INT(tl_f32_to_uint16, float, uint16_t, 0, 65535)
TL_TO_INT(tl_f32_to_int32, float, int32_t, -2147483648.0, 2147483647)
TL_TO_INT(tl_f32_to_uint32, float, uint32_t, 0, 4294967295u)
TL_TO_INT(tl_f32_to_int64, float, int64_t, -9223372036854775808.0, 9223372036854775807LL)
TL_TO_INT(tl_f32_to_uint64, float, uint64_t, 0, 18446744073709551615ULL)
TL_TO_INT(tl_f32_to_int4, float, int8_t, -8, 7)
TL_TO_INT(tl_f32_to_uint4, float, uint8_t, 0, 15)
TL_TO_INT(tl_f64_to_int8, double, int8_t, -128, 127)
TL_TO_INT(tl_f64_to_uint8, double, uint8_t, 0, 255)
TL_TO_INT(tl_f64_to_int16, double, int16_t, -32768, 32767)
TL_TO_INT(tl_f64_to_uint16, double, uint16_t, 0, 65535)
TL_TO_INT(tl_f64_to_int32, double, int32_t, -2147483648.0, 2147483647)
TL_TO_INT(tl_f64_to_uint32, double, uint32_t, 0, 4294967295u)
TL_TO_INT(tl_f64_to_int64, double, int64_t, -9223372036854775808.0, 9223372036854775807LL)
TL_TO_INT(tl_f64_to_uint64, double, uint64_t, 0, 18446744073709551615ULL)
TL_TO_INT(tl_f64_to_int4, double, int8_t, -8, 7)
TL_TO_INT(tl_f64_to_uint4, double, uint8_t, 0, 15)

TL_INLINE uint32_t tl_f32_to_bits(float x) { union { float f; uint32_t u; } v = {x}; return v.u; }
TL_INLINE float tl_bits_to_f32(uint32_t u) { union { uint32_t u; float f; } v = {u}; return v.f; }
TL_INLINE uint64_t tl_f64_to_bits(double x) { union { double f; uint64_t u; } v = {x}; return v.u; }
TL_INLINE double tl_bits_to_f64(uint64_t u) { union { uint64_t u; double f; } v = {u}; return v.f; }

/* Division by 0 gives 0, the rest is 0 too; the least integer over -1 wraps to itself. */
#define TL_FLOOR(T, U, sfx)                                                                        \
TL_INLINE T tl_floordiv_##sfx(T a, T b)                                                            \
{                                                                                                  \
    if (b == 0)                                                                                    \
        return 0;                                                                                  \
    if (b == -1)                                                                                   \
        return (T)(0 - (U)a);                                                                      \
    T q = a / b, r = a % b;                                                                        \
    return q - (r != 0 && (r < 0) != (b < 0));                                                     \
}                                                                                                  \
TL_INLINE T tl_floormod_##sfx(T a, T b)                                                            \
{                                                                                                  \
    if (b == 0 || b == -1)                                                                         \
        return 0;                                                                                  \
    T r = a % b;                                                                                   \
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);                                             \
}
TL_FLOOR(int32_t, uint32_t, i32)
TL_FLOOR(int64_t, uint64_t, i64)
#define TL_TRUNC(T, U, sfx)                                                                        \
TL_INLINE T tl_truncdiv_##sfx(T a, T b)                                                            \
{                                                                                                  \
    return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : a / b;                                           \
}                                                                                                  \
TL_INLINE T tl_truncmod_##sfx(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; }
TL_TRUNC(int32_t, uint32_t, i32)
TL_TRUNC(int64_t, uint64_t, i64)
TL_INLINE uint32_t tl_div_u32(uint32_t a, uint32_t b) { return b ? a / b : 0; }
TL_INLINE uint32_t tl_mod_u32(uint32_t a, uint32_t b) { return b ? a % b : 0; }
TL_INLINE uint64_t tl_div_u64(uint64_t a, uint64_t b) { return b ? a / b : 0; }
TL_INLINE uint64_t tl_mod_u64(uint64_t a, uint64_t b) { return b ? a % b : 0; }

/* By any count; a negative one is a large one. */
TL_INLINE uint32_t tl_shl_u32(uint32_t a, uint32_t n) { return n < 32 ? a << n : 0; }
TL_INLINE uint64_t tl_shl_u64(uint64_t a, uint64_t n) { return n < 64 ? a << n : 0; }
TL_INLINE uint32_t tl_shr_u32(uint32_t a, uint32_t n) { return n < 32 ? a >> n : 0; }
TL_INLINE uint64_t tl_shr_u64(uint64_t a, uint64_t n) { return n < 64 ? a >> n : 0; }
TL_INLINE int32_t tl_shr_i32(int32_t a, uint32_t n) { return a >> (n < 32 ? n : 31); }
TL_INLINE int64_t tl_shr_i64(int64_t a, uint64_t n) { return a >> (n < 64 ? n : 63); }

TL_INLINE float tl_floormod_f32(float a, float b)
{
    float r = __builtin_fmodf(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
TL_INLINE double tl_floormod_f64(double a, double b)
{
    double r = __builtin_fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

TL_INLINE int32_t tl_abs_i32(int32_t a) { return a < 0 ? (int32_t)(0u - (uint32_t)a) : a; }
TL_INLINE int64_t tl_abs_i64(int64_t a) { return a < 0 ? (int64_t)(0u - (uint64_t)a) : a; }
TL_INLINE int32_t tl_clz_u32(uint32_t a) { return a ? __builtin_clz(a) : 32; }
/* The n-th set bit from base on, up or down; the one at base for n = 0. */
TL_INLINE uint32_t tl_fns(uint32_t mask, uint32_t base, uint32_t offset)
{
    int32_t n = (int32_t)offset, step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
    if (n == 0)
        return base < 32 && mask >> base & 1 ? base : 0xffffffffu;
    for (int32_t at = (int32_t)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return 0xffffffffu;
}
TL_INLINE int32_t tl_clz_u64(uint64_t a) { return a ? __builtin_clzl(a) : 64; }
#define TL_POW(T, U, sfx)                                                                          \
TL_INLINE T tl_pow_##sfx(T a, T n)                                                                 \
{                                                                                                  \
    U r = 1, b = (U)a;                                                                             \
    if (n < 0)                                                                                     \
        return a == 1 ? 1 : a == -1 ? (n % 2 ? -1 : 1) : 0;                                        \
    for (; n > 0; n >>= 1, b *= b)                                                                 \
        if (n & 1)                                                                                 \
            r *= b;                                                                                \
    return (T)r;                                                                                   \
}
TL_POW(int32_t, uint32_t, i32)
TL_POW(int64_t, uint64_t, i64)
TL_INLINE uint64_t tl_pow_u64(uint64_t a, uint64_t n)
{
    uint64_t r = 1;
    for (; n > 0; n >>= 1, a *= a)
        if (n & 1)
            r *= a;
    return r;
}

/* 4-bit elements, two to a byte, low half first. */
TL_INLINE uint8_t tl_load_uint4(const uint8_t *p, int64_t i) { return (p[i >> 1] >> ((i & 1) * 4)) & 15; }
TL_INLINE int8_t tl_load_int4(const int8_t *p, int64_t i)
{
    return (int8_t)((int8_t)(tl_load_uint4((const uint8_t *)p, i) << 4) >> 4);
}
TL_INLINE float tl_load_e2m1(const uint8_t *p, int64_t i) { return tl_e2m1_to_f32(tl_load_uint4(p, i)); }
TL_INLINE void tl_store_nibble(void *base, int64_t i, int v)
{
    uint8_t *p = (uint8_t *)base + (i >> 1);
    *p = (uint8_t)(i & 1 ? (*p & 15) | (v & 15) << 4 : (*p & 0xf0) | (v & 15));
}

/* Atomics on storage: compare and swap of the element's bits.  Each gives the value before. */
#define TL_ATOMIC(op, T, S, V, IN, OUT, JOIN)                                                      \
TL_INLINE V tl_atomic_##op##_##T(S *p, V x)                                                        \
{                                                                                                  \
    S was, next;                                                                                   \
    __atomic_load(p, &was, __ATOMIC_RELAXED);                                                      \
    do {                                                                                           \
        const V a = IN(was);                                                                       \
        (void)a;                                                                                   \
        next = OUT(JOIN);                                                                          \
    } while (!__atomic_compare_exchange(p, &was, &next, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));   \
    return IN(was);                                                                                \
}
#define TL_ATOMIC_MOVES(T, S, V, IN, OUT)                                                          \
TL_INLINE V tl_atomic_load_##T(S *p) { S v; __atomic_load(p, &v, __ATOMIC_SEQ_CST); return IN(v); } \
TL_INLINE void tl_atomic_store_##T(S *p, V x) { S v = OUT(x); __atomic_store(p, &v, __ATOMIC_SEQ_CST); } \
TL_ATOMIC(exch, T, S, V, IN, OUT, x)
#define TL_ID(x) (x)
#define TL_ATOMICS_F(T, S, V, IN, OUT)                                                             \
TL_ATOMIC(add, T, S, V, IN, OUT, a + x)                                                            \
TL_ATOMIC(max, T, S, V, IN, OUT, (a > x) | (x != x) ? a : x)                                       \
TL_ATOMIC(min, T, S, V, IN, OUT, (a < x) | (x != x) ? a : x)                                       \
TL_ATOMIC_MOVES(T, S, V, IN, OUT)
#define TL_ATOMICS_I(T, C, U)                                                                      \
TL_ATOMIC(add, T, C, C, TL_ID, TL_ID, (C)((U)a + (U)x))                                            \
TL_ATOMIC(max, T, C, C, TL_ID, TL_ID, a > x ? a : x)                                               \
TL_ATOMIC(min, T, C, C, TL_ID, TL_ID, a < x ? a : x)                                               \
TL_ATOMIC(or, T, C, C, TL_ID, TL_ID, (C)(a | x))                                                   \
TL_ATOMIC(and, T, C, C, TL_ID, TL_ID, (C)(a & x))                                                  \
TL_ATOMIC(xor, T, C, C, TL_ID, TL_ID, (C)(a ^ x))                                                  \
TL_ATOMIC_MOVES(T, C, C, TL_ID, TL_ID)
TL_ATOMICS_F(float32, float, float, TL_ID, TL_ID)
TL_ATOMICS_F(tfloat32, float, float, TL_ID, TL_ID)
TL_ATOMICS_F(float64, double, double, TL_ID, TL_ID)
TL_ATOMICS_F(float16, uint16_t, float, tl_f16_to_f32, tl_f32_to_f16)
TL_ATOMICS_F(bfloat16, uint16_t, float, tl_bf16_to_f32, tl_f32_to_bf16)
TL_ATOMICS_F(float8_e4m3fn, uint8_t, float, tl_e4m3fn_to_f32, tl_f32_to_e4m3fn)
TL_ATOMICS_F(float8_e5m2, uint8_t, float, tl_e5m2_to_f32, tl_f32_to_e5m2)
TL_ATOMICS_I(int8, int8_t, uint32_t)
TL_ATOMICS_I(uint8, uint8_t, uint32_t)
TL_ATOMICS_I(bool, uint8_t, uint32_t)
TL_ATOMICS_I(int16, int16_t, uint32_t)
TL_ATOMICS_I(uint16, uint16_t, uint32_t)
TL_ATOMICS_I(int32, int32_t, uint32_t)
TL_ATOMICS_I(uint32, uint32_t, uint32_t)
TL_ATOMICS_I(int64, int64_t, uint64_t)
TL_ATOMICS_I(uint64, uint64_t, uint64_t)

#define TL_CLASSES(F, sfx, nan, inf)                                                               \
TL_INLINE int tl_isnan_##sfx(F x) { return x != x; }                                               \
TL_INLINE int tl_isinf_##sfx(F x) { return x == inf || x == -inf; }                                \
TL_INLINE int tl_isfinite_##sfx(F x) { return x - x == 0; }                                        \
TL_INLINE F tl_min_nan_##sfx(F a, F b) { const F m = a < b ? a : b; return a != a ? a : m; }       \
TL_INLINE F tl_max_nan_##sfx(F a, F b) { const F m = a > b ? a : b; return a != a ? a : m; }
/* Sums and products that the compiler does not contract: what they take and give is in a register. */
#if defined __x86_64__
#define TL_SETTLE(x) __asm__("" : "+x"(x))
#elif defined __aarch64__
#define TL_SETTLE(x) __asm__("" : "+w"(x))
#else
#define TL_SETTLE(x) __asm__("" : "+m"(x))
#endif
#define TL_ALONE(name, T, op)                                                                      \
    TL_INLINE T name(T a, T b)                                                                     \
    {                                                                                              \
        TL_SETTLE(a);                                                                              \
        TL_SETTLE(b);                                                                              \
        T r = a op b;                                                                              \
        TL_SETTLE(r);                                                                              \
        return r;                                                                                  \
    }
TL_ALONE(tl_mul_rn_f32, float, *)
TL_ALONE(tl_mul_rn_f64, double, *)
TL_ALONE(tl_add_rn_f32, float, +)
TL_ALONE(tl_add_rn_f64, double, +)
TL_CLASSES(float, f32, __builtin_nanf(""), __builtin_inff())
TL_CLASSES(double, f64, __builtin_nan(""), __builtin_inf())
TL_INLINE double tl_exp10_f64(double x) { return __builtin_pow(10.0, x); }
TL_INLINE double tl_rcp_f64(double x) { return 1.0 / x; }
TL_INLINE double tl_rsqrt_f64(double x) { return 1.0 / __builtin_sqrt(x); }
TL_INLINE double tl_sigmoid_f64(double x) { return 1.0 / (1.0 + __builtin_exp(-x)); }

#endif
