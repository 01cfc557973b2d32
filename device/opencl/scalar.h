/* scalar.h -- small scalar helpers of OpenCL C: rounding casts, integer division, nibbles. */

TL_DEVICE uint32_t tl_bits_f32(float x) { return as_uint(x); }
TL_DEVICE float tl_f32_bits(uint32_t u) { return as_float(u); }
TL_DEVICE uint32_t tl_f32_to_bits(float x) { return as_uint(x); }
TL_DEVICE float tl_bits_to_f32(uint32_t u) { return as_float(u); }
TL_DEVICE uint64_t tl_f64_to_bits(double x) { return as_ulong(x); }
TL_DEVICE double tl_bits_to_f64(uint64_t u) { return as_double(u); }

/* Every device loads and stores halves, whether or not it computes with them. */
TL_DEVICE float tl_f16_to_f32(uint16_t h)
{
    const uint16_t at[1] = {h};
    return vload_half(0, (const __private half *)at);
}

TL_DEVICE uint16_t tl_f32_to_f16(float x)
{
    uint16_t at[1];
    vstore_half_rte(x, 0, (__private half *)at);
    return at[0];
}

TL_DEVICE float tl_round_f16(float x) { return tl_f16_to_f32(tl_f32_to_f16(x)); }
TL_DEVICE float tl_round_bf16(float x) { return tl_bf16_to_f32(tl_f32_to_bf16(x)); }
TL_DEVICE float tl_round_tf32(float x) { return tl_f32_to_tf32(x); }
TL_DEVICE float tl_round_e4m3fn(float x) { return tl_e4m3fn_to_f32(tl_f32_to_e4m3fn(x)); }
TL_DEVICE float tl_round_e4m3fnuz(float x) { return tl_e4m3fnuz_to_f32(tl_f32_to_e4m3fnuz(x)); }
TL_DEVICE float tl_round_e5m2(float x) { return tl_e5m2_to_f32(tl_f32_to_e5m2(x)); }
TL_DEVICE float tl_round_e5m2fnuz(float x) { return tl_e5m2fnuz_to_f32(tl_f32_to_e5m2fnuz(x)); }
TL_DEVICE float tl_round_e3m4(float x) { return tl_e3m4_to_f32(tl_f32_to_e3m4(x)); }
TL_DEVICE float tl_round_e4m3b11fnuz(float x) { return tl_e4m3b11fnuz_to_f32(tl_f32_to_e4m3b11fnuz(x)); }
TL_DEVICE float tl_round_e2m3(float x) { return tl_e2m3_to_f32(tl_f32_to_e2m3(x)); }
TL_DEVICE float tl_round_e3m2(float x) { return tl_e3m2_to_f32(tl_f32_to_e3m2(x)); }
TL_DEVICE float tl_round_e8m0(float x) { return tl_e8m0_to_f32(tl_f32_to_e8m0(x)); }
TL_DEVICE float tl_round_e2m1(float x) { return tl_e2m1_to_f32(tl_f32_to_e2m1(x)); }

/* As device/cpu/convert.h has it, which calls something half. */
TL_DEVICE uint8_t tl_f32_to_e8m0(float x)
{
    const uint32_t mag = as_uint(x) & 0x7fffffffu, exponent = mag >> 23;
    const uint32_t tie = exponent ? 0x400000u : 0x600000u, rest = mag & 0x7fffffu;
    const uint32_t e = exponent + (uint32_t)(rest > tie || (rest == tie && (exponent & 1)));
    return (uint8_t)(mag > 0x7f800000u || (mag && mag != as_uint(x)) ? 255u : e < 254 ? e : 254);
}

/* Codes of numbers of a type that has infinities, where a conversion would saturate. */
TL_DEVICE uint8_t tl_keep_e5m2(float x)
{
    const uint32_t u = as_uint(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? (uint8_t)(0x7cu | (u >> 24 & 0x80u)) : tl_f32_to_e5m2(x);
}

TL_DEVICE uint8_t tl_keep_e3m4(float x)
{
    const uint32_t u = as_uint(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? (uint8_t)(0x70u | (u >> 24 & 0x80u)) : tl_f32_to_e3m4(x);
}

/* To odd: what float cannot hold sets its last bit, so that rounding it to fewer bits after this
 * is rounding once. */
TL_DEVICE float tl_sticky(float x, bool lost) { return as_float(as_uint(x) | (uint32_t)lost); }

TL_DEVICE float tl_odd_u64(uint64_t x)
{
    const int32_t drop = 40 - (int32_t)clz(x);
    const uint64_t cut = drop > 0 ? x >> drop << drop : x;
    return tl_sticky((float)cut, cut != x);
}

TL_DEVICE float tl_odd_i64(int64_t x)
{
    return x < 0 ? -tl_odd_u64(0ul - (uint64_t)x) : tl_odd_u64((uint64_t)x);
}

TL_DEVICE float tl_odd_i32(int32_t x) { return tl_odd_i64(x); }
TL_DEVICE float tl_odd_u32(uint32_t x) { return tl_odd_u64(x); }

TL_DEVICE float tl_odd_f64(double x)
{
    const float near = (float)x;
    const uint32_t u = as_uint(near) - (uint32_t)(fabs((double)near) > fabs(x));
    return as_float(u | (uint32_t)((double)as_float(u) != x));
}

/* a * b + c, to odd, of numbers of at most 11 digits: a double holds their product. */
TL_DEVICE float tl_fma_odd(float a, float b, float c)
{
    const double p = (double)a * (double)b, s = p + (double)c;
    const double of_c = s - p, lost = (p - (s - of_c)) + ((double)c - of_c);
    uint64_t u = as_ulong(s);
    const uint64_t step = (lost < 0) != (s < 0) ? (uint64_t)-1 : 1ul;
    u += (lost < 0 || lost > 0) && !(u & 1) ? step : 0ul;
    return tl_odd_f64(as_double(u));
}

TL_DEVICE int32_t tl_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
TL_DEVICE int32_t tl_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
TL_DEVICE uint32_t tl_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
TL_DEVICE uint32_t tl_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
TL_DEVICE int64_t tl_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
TL_DEVICE int64_t tl_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
TL_DEVICE uint64_t tl_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
TL_DEVICE uint64_t tl_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* The other operand when one is NaN. */
TL_DEVICE float tl_min_f32(float a, float b) { return ((a < b) | (b != b)) ? a : b; }
TL_DEVICE float tl_max_f32(float a, float b) { return ((a > b) | (b != b)) ? a : b; }
TL_DEVICE double tl_min_f64(double a, double b) { return ((a < b) | (b != b)) ? a : b; }
TL_DEVICE double tl_max_f64(double a, double b) { return ((a > b) | (b != b)) ? a : b; }
/* NaN wins. */
TL_DEVICE float tl_min_nan_f32(float a, float b) { return ((a < b) | (a != a)) ? a : b; }
TL_DEVICE float tl_max_nan_f32(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
TL_DEVICE double tl_min_nan_f64(double a, double b) { return ((a < b) | (a != a)) ? a : b; }
TL_DEVICE double tl_max_nan_f64(double a, double b) { return ((a > b) | (a != a)) ? a : b; }

/* float to integer: toward zero, saturated, NaN gives 0 */
TL_DEVICE int32_t tl_clamp_i32(int32_t x, int32_t lo, int32_t hi) { return x < lo ? lo : x > hi ? hi : x; }
TL_DEVICE int32_t tl_f32_to_int32(float x)
{
    return x != x ? 0 : x < -0x1p31f ? -2147483647 - 1 : x >= 0x1p31f ? 2147483647 : (int32_t)x;
}

TL_DEVICE uint32_t tl_f32_to_uint32(float x)
{
    return !(x > 0.0f) ? 0u : x >= 0x1p32f ? 4294967295u : (uint32_t)x;
}

TL_DEVICE int64_t tl_f32_to_int64(float x)
{
    return x != x ? 0l : x < -0x1p63f ? -9223372036854775807l - 1l : x >= 0x1p63f ? 9223372036854775807l : (int64_t)x;
}

TL_DEVICE uint64_t tl_f32_to_uint64(float x)
{
    return !(x > 0.0f) ? 0ul : x >= 0x1p64f ? 18446744073709551615ul : (uint64_t)x;
}

TL_DEVICE int32_t tl_f64_to_int32(double x)
{
    return x != x ? 0 : x <= -0x1p31 ? -2147483647 - 1 : x >= 0x1p31 ? 2147483647 : (int32_t)x;
}

TL_DEVICE uint32_t tl_f64_to_uint32(double x)
{
    return !(x > 0.0) ? 0u : x >= 0x1p32 ? 4294967295u : (uint32_t)x;
}

TL_DEVICE int64_t tl_f64_to_int64(double x)
{
    return x != x ? 0l : x < -0x1p63 ? -9223372036854775807l - 1l : x >= 0x1p63 ? 9223372036854775807l : (int64_t)x;
}

TL_DEVICE uint64_t tl_f64_to_uint64(double x)
{
    return !(x > 0.0) ? 0ul : x >= 0x1p64 ? 18446744073709551615ul : (uint64_t)x;
}

TL_DEVICE int8_t tl_f32_to_int8(float x) { return (int8_t)tl_clamp_i32(tl_f32_to_int32(x), -128, 127); }
TL_DEVICE uint8_t tl_f32_to_uint8(float x) { return (uint8_t)tl_clamp_i32(tl_f32_to_int32(x), 0, 255); }
TL_DEVICE int16_t tl_f32_to_int16(float x) { return (int16_t)tl_clamp_i32(tl_f32_to_int32(x), -32768, 32767); }
TL_DEVICE uint16_t tl_f32_to_uint16(float x) { return (uint16_t)tl_clamp_i32(tl_f32_to_int32(x), 0, 65535); }
TL_DEVICE int8_t tl_f32_to_int4(float x) { return (int8_t)tl_clamp_i32(tl_f32_to_int32(x), -8, 7); }
TL_DEVICE uint8_t tl_f32_to_uint4(float x) { return (uint8_t)tl_clamp_i32(tl_f32_to_int32(x), 0, 15); }
TL_DEVICE int8_t tl_f64_to_int8(double x) { return (int8_t)tl_clamp_i32(tl_f64_to_int32(x), -128, 127); }
TL_DEVICE uint8_t tl_f64_to_uint8(double x) { return (uint8_t)tl_clamp_i32(tl_f64_to_int32(x), 0, 255); }
TL_DEVICE int16_t tl_f64_to_int16(double x) { return (int16_t)tl_clamp_i32(tl_f64_to_int32(x), -32768, 32767); }
TL_DEVICE uint16_t tl_f64_to_uint16(double x) { return (uint16_t)tl_clamp_i32(tl_f64_to_int32(x), 0, 65535); }
TL_DEVICE int8_t tl_f64_to_int4(double x) { return (int8_t)tl_clamp_i32(tl_f64_to_int32(x), -8, 7); }
TL_DEVICE uint8_t tl_f64_to_uint4(double x) { return (uint8_t)tl_clamp_i32(tl_f64_to_int32(x), 0, 15); }

/* Division by 0 gives 0, the rest is 0 too; the least integer over -1 wraps to itself. */
TL_DEVICE int32_t tl_floordiv_i32(int32_t a, int32_t b)
{
    const int32_t d = b == 0 || b == -1 ? 1 : b, q = a / d, r = a % d;
    const int32_t whole = q - (r != 0 && (r < 0) != (b < 0));
    return b == 0 ? 0 : b == -1 ? (int32_t)(0u - (uint32_t)a) : whole;
}

TL_DEVICE int32_t tl_floormod_i32(int32_t a, int32_t b)
{
    const int32_t r = a % (b == 0 || b == -1 ? 1 : b);
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

TL_DEVICE int64_t tl_floordiv_i64(int64_t a, int64_t b)
{
    const int64_t d = b == 0 || b == -1 ? 1 : b, q = a / d, r = a % d;
    const int64_t whole = q - (r != 0 && (r < 0) != (b < 0));
    return b == 0 ? 0 : b == -1 ? (int64_t)(0ul - (uint64_t)a) : whole;
}

TL_DEVICE int64_t tl_floormod_i64(int64_t a, int64_t b)
{
    const int64_t r = a % (b == 0 || b == -1 ? 1 : b);
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

TL_DEVICE int32_t tl_truncdiv_i32(int32_t a, int32_t b)
{
    const int32_t q = a / (b == 0 || b == -1 ? 1 : b);
    return b == 0 ? 0 : b == -1 ? (int32_t)(0u - (uint32_t)a) : q;
}

TL_DEVICE int64_t tl_truncdiv_i64(int64_t a, int64_t b)
{
    const int64_t q = a / (b == 0 || b == -1 ? 1 : b);
    return b == 0 ? 0 : b == -1 ? (int64_t)(0ul - (uint64_t)a) : q;
}

TL_DEVICE int32_t tl_truncmod_i32(int32_t a, int32_t b) { return a % (b == 0 || b == -1 ? 1 : b); }
TL_DEVICE int64_t tl_truncmod_i64(int64_t a, int64_t b) { return a % (b == 0 || b == -1 ? 1 : b); }
TL_DEVICE uint32_t tl_div_u32(uint32_t a, uint32_t b) { return b ? a / b : 0; }
TL_DEVICE uint32_t tl_mod_u32(uint32_t a, uint32_t b) { return b ? a % b : 0; }
TL_DEVICE uint64_t tl_div_u64(uint64_t a, uint64_t b) { return b ? a / b : 0; }
TL_DEVICE uint64_t tl_mod_u64(uint64_t a, uint64_t b) { return b ? a % b : 0; }

/* By any count; a negative one is a large one. */
TL_DEVICE uint32_t tl_shl_u32(uint32_t a, uint32_t n) { return n < 32 ? a << n : 0; }
TL_DEVICE uint64_t tl_shl_u64(uint64_t a, uint64_t n) { return n < 64 ? a << n : 0; }
TL_DEVICE uint32_t tl_shr_u32(uint32_t a, uint32_t n) { return n < 32 ? a >> n : 0; }
TL_DEVICE uint64_t tl_shr_u64(uint64_t a, uint64_t n) { return n < 64 ? a >> n : 0; }
TL_DEVICE int32_t tl_shr_i32(int32_t a, uint32_t n) { return a >> (n < 32 ? n : 31); }
TL_DEVICE int64_t tl_shr_i64(int64_t a, uint64_t n) { return a >> (n < 64 ? n : 63); }

TL_DEVICE float tl_floormod_f32(float a, float b)
{
    const float r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

TL_DEVICE double tl_floormod_f64(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

TL_DEVICE int32_t tl_abs_i32(int32_t a) { return a < 0 ? (int32_t)(0u - (uint32_t)a) : a; }
TL_DEVICE int64_t tl_abs_i64(int64_t a) { return a < 0 ? (int64_t)(0ul - (uint64_t)a) : a; }
TL_DEVICE int32_t tl_clz_u32(uint32_t a) { return (int32_t)clz(a); }
TL_DEVICE int32_t tl_clz_u64(uint64_t a) { return (int32_t)clz(a); }
TL_DEVICE int32_t tl_ffs_u32(uint32_t a) { return a ? 32 - (int32_t)clz(a & (0u - a)) : 0; }
TL_DEVICE int32_t tl_ffs_u64(uint64_t a) { return a ? 64 - (int32_t)clz(a & (0ul - a)) : 0; }

/* The n-th set bit from base on, up or down; the one at base for n = 0. */
TL_DEVICE uint32_t tl_fns(uint32_t mask, uint32_t base, uint32_t offset)
{
    const int32_t n = (int32_t)offset, step = n < 0 ? -1 : 1;
    int32_t left = n < 0 ? -n : n;
    if (n == 0)
        return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
    for (int32_t at = (int32_t)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0)
            return (uint32_t)at;
    return 0xffffffffu;
}

TL_DEVICE int64_t tl_pow_i64(int64_t a, int64_t n)
{
    uint64_t r = 1, b = (uint64_t)a;
    if (n < 0)
        return a == 1 ? 1 : a == -1 ? (n % 2 ? -1 : 1) : 0;
    for (; n > 0; n >>= 1, b *= b)
        if (n & 1)
            r *= b;
    return (int64_t)r;
}

TL_DEVICE uint64_t tl_pow_u64(uint64_t a, uint64_t n)
{
    uint64_t r = 1;
    for (; n > 0; n >>= 1, a *= a)
        if (n & 1)
            r *= a;
    return r;
}

TL_DEVICE int32_t tl_pow_i32(int32_t a, int32_t n) { return (int32_t)tl_pow_i64(a, n); }

/* 4-bit elements, two to a byte, low half first; of memory of any kind. */
#define tl_load_uint4(p, i) ((uint8_t)((uint8_t)(p)[(i) >> 1] >> (((i) & 1) * 4) & 15))
#define tl_load_int4(p, i) ((int8_t)((int8_t)(tl_load_uint4(p, i) << 4) >> 4))
#define tl_load_e2m1(p, i) tl_e2m1_to_f32(tl_load_uint4(p, i))
#define tl_store_nibble(p, i, v) ((p)[(i) >> 1] = tl_nibble((uint8_t)(p)[(i) >> 1], (i) & 1, v))
TL_DEVICE uint8_t tl_nibble(uint8_t was, int32_t high, int32_t v)
{
    return (uint8_t)(high ? (was & 15) | (v & 15) << 4 : (was & 0xf0) | (v & 15));
}

/* In memory that others write too: the rest of the word stays. */
TL_DEVICE void tl_share_nibble_global(volatile __global void *base, int64_t i, int32_t v)
{
    const uintptr_t at = (uintptr_t)base + (uintptr_t)(i >> 1);
    volatile __global uint32_t *const word = (volatile __global uint32_t *)(at & ~(uintptr_t)3);
    const uint32_t shift = (uint32_t)(at & 3) * 8 + (uint32_t)(i & 1) * 4;
    uint32_t was, seen = *word;
    do {
        was = seen;
        seen = atomic_cmpxchg(word, was, (was & ~(15u << shift)) | ((uint32_t)v & 15u) << shift);
    } while (seen != was);
}

TL_DEVICE void tl_share_nibble_local(volatile __local void *base, int64_t i, int32_t v)
{
    const uintptr_t at = (uintptr_t)base + (uintptr_t)(i >> 1);
    volatile __local uint32_t *const word = (volatile __local uint32_t *)(at & ~(uintptr_t)3);
    const uint32_t shift = (uint32_t)(at & 3) * 8 + (uint32_t)(i & 1) * 4;
    uint32_t was, seen = *word;
    do {
        was = seen;
        seen = atomic_cmpxchg(word, was, (was & ~(15u << shift)) | ((uint32_t)v & 15u) << shift);
    } while (seen != was);
}

TL_DEVICE int32_t tl_isnan_f32(float x) { return x != x; }
TL_DEVICE int32_t tl_isnan_f64(double x) { return x != x; }
TL_DEVICE int32_t tl_isinf_f32(float x) { return (as_uint(x) & 0x7fffffffu) == 0x7f800000u; }
TL_DEVICE int32_t tl_isinf_f64(double x) { return (as_ulong(x) & 0x7ffffffffffffffful) == 0x7ff0000000000000ul; }
TL_DEVICE int32_t tl_isfinite_f32(float x) { return (as_uint(x) & 0x7f800000u) != 0x7f800000u; }
TL_DEVICE int32_t tl_isfinite_f64(double x) { return (as_ulong(x) & 0x7ff0000000000000ul) != 0x7ff0000000000000ul; }
TL_DEVICE float tl_rcp_f32(float x) { return 1.0f / x; }
TL_DEVICE double tl_rcp_f64(double x) { return 1.0 / x; }
TL_DEVICE float tl_rsqrt_f32(float x) { return 1.0f / sqrt(x); }
TL_DEVICE double tl_rsqrt_f64(double x) { return 1.0 / sqrt(x); }
TL_DEVICE float tl_sigmoid_f32(float x) { return 1.0f / (1.0f + exp(-x)); }
TL_DEVICE double tl_sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }
TL_DEVICE float tl_ldexp_f32(float x, float n) { return ldexp(x, (int32_t)n); }
TL_DEVICE double tl_ldexp_f64(double x, double n) { return ldexp(x, (int32_t)n); }

/* Sums and products that are contracted with nothing: no expression has two of them. */
TL_DEVICE float tl_mul_rn_f32(float a, float b) { return a * b; }
TL_DEVICE double tl_mul_rn_f64(double a, double b) { return a * b; }
TL_DEVICE float tl_add_rn_f32(float a, float b) { return a + b; }
TL_DEVICE double tl_add_rn_f64(double a, double b) { return a + b; }

/* Words of 32 bits between memory and registers; what is not loaded is 0. */
#define tl_wide_load(to, space, from, n, yes)                                                      \
    for (int32_t tl_i = 0; tl_i < (n); tl_i++)                                                     \
        ((__private uint32_t *)(to))[tl_i] = (yes) ? ((const space uint32_t *)(from))[tl_i] : 0u

#define tl_wide_store(space, to, from, n, yes)                                                     \
    for (int32_t tl_i = 0; tl_i < (n); tl_i++)                                                     \
        if (yes)                                                                                   \
            ((space uint32_t *)(to))[tl_i] = ((const __private uint32_t *)(from))[tl_i]

