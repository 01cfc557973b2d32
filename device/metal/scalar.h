/* scalar.h -- small scalar helpers: numbers as bits, rounding casts, integer division, nibbles.
 *
 * MSL has no double and no long long; int64_t is long.  Compiled without fast math: NaN and infinity count. */

TL_DEVICE uint32_t tl_bits_f32(float x) { return as_type<uint32_t>(x); }
TL_DEVICE float tl_f32_bits(uint32_t u) { return as_type<float>(u); }
TL_DEVICE uint32_t tl_f32_to_bits(float x) { return as_type<uint32_t>(x); }
TL_DEVICE float tl_bits_to_f32(uint32_t u) { return as_type<float>(u); }
TL_DEVICE float tl_f16_to_f32(uint16_t h) { return float(as_type<half>(h)); }
TL_DEVICE uint16_t tl_f32_to_f16(float x) { return as_type<uint16_t>(half(x)); }

TL_DEVICE float tl_round_f16(float x) { return float(half(x)); }
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

/* Codes of numbers of a type that has infinities, where a conversion would saturate. */
TL_DEVICE uint8_t tl_keep_e5m2(float x)
{
    const uint32_t u = as_type<uint32_t>(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? uint8_t(0x7cu | (u >> 24 & 0x80u)) : tl_f32_to_e5m2(x);
}

TL_DEVICE uint8_t tl_keep_e3m4(float x)
{
    const uint32_t u = as_type<uint32_t>(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? uint8_t(0x70u | (u >> 24 & 0x80u)) : tl_f32_to_e3m4(x);
}

/* To odd: what float cannot hold sets its last bit, so that rounding it to fewer bits after this
 * is rounding once. */
TL_DEVICE float tl_odd_u64(uint64_t x)
{
    const uint32_t n = 64u - uint32_t(clz(x)), gone = n > 24u ? n - 24u : 0u;
    const uint32_t lost = (x & ((1UL << gone) - 1UL)) != 0UL ? 1u : 0u;
    return float(uint32_t(x >> gone) | lost) * as_type<float>((127u + gone) << 23);
}

TL_DEVICE float tl_odd_i64(int64_t x)
{
    const float r = tl_odd_u64(x < 0 ? 0UL - uint64_t(x) : uint64_t(x));
    return x < 0 ? -r : r;
}

TL_DEVICE float tl_odd_i32(int32_t x) { return tl_odd_i64(int64_t(x)); }
TL_DEVICE float tl_odd_u32(uint32_t x) { return tl_odd_u64(uint64_t(x)); }

/* a * b + c, to odd, of numbers of at most 11 digits: a float holds their product. */
TL_DEVICE float tl_fma_odd(float a, float b, float c)
{
    const float p = a * b, s = p + c, of_c = s - p;
    const float lost = (p - (s - of_c)) + (c - of_c);
    const uint32_t u = as_type<uint32_t>(s);
    const bool inexact = lost < 0.0f || lost > 0.0f, inward = (lost < 0.0f) != (s < 0.0f);
    return inexact && (u & 1u) == 0u ? as_type<float>(inward ? u - 1u : u + 1u) : s;
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
TL_DEVICE float tl_min_f32(float a, float b) { return a < b || b != b ? a : b; }
TL_DEVICE float tl_max_f32(float a, float b) { return a > b || b != b ? a : b; }
/* NaN wins. */
TL_DEVICE float tl_min_nan_f32(float a, float b) { return a < b || a != a ? a : b; }
TL_DEVICE float tl_max_nan_f32(float a, float b) { return a > b || a != a ? a : b; }

/* float to integer: toward zero, saturated, NaN gives 0 */
TL_DEVICE int32_t tl_f32_to_int32(float x)
{
    return x != x ? 0 : x >= 2147483648.0f ? 2147483647 : x < -2147483648.0f ? (-2147483647 - 1) : int32_t(x);
}

TL_DEVICE uint32_t tl_f32_to_uint32(float x)
{
    return x != x || x <= 0.0f ? 0u : x >= 4294967296.0f ? 4294967295u : uint32_t(x);
}

TL_DEVICE int64_t tl_f32_to_int64(float x)
{
    return x != x ? 0L
           : x >= 9223372036854775808.0f ? 9223372036854775807L
           : x < -9223372036854775808.0f ? (-9223372036854775807L - 1L) : int64_t(x);
}

TL_DEVICE uint64_t tl_f32_to_uint64(float x)
{
    return x != x || x <= 0.0f ? 0UL : x >= 18446744073709551616.0f ? 18446744073709551615UL : uint64_t(x);
}

TL_DEVICE int32_t tl_clamp_i32(int32_t x, int32_t lo, int32_t hi) { return x < lo ? lo : x > hi ? hi : x; }
TL_DEVICE int8_t tl_f32_to_int8(float x) { return int8_t(tl_clamp_i32(tl_f32_to_int32(x), -128, 127)); }
TL_DEVICE uint8_t tl_f32_to_uint8(float x) { return uint8_t(tl_clamp_i32(tl_f32_to_int32(x), 0, 255)); }
TL_DEVICE int16_t tl_f32_to_int16(float x) { return int16_t(tl_clamp_i32(tl_f32_to_int32(x), -32768, 32767)); }
TL_DEVICE uint16_t tl_f32_to_uint16(float x) { return uint16_t(tl_clamp_i32(tl_f32_to_int32(x), 0, 65535)); }
TL_DEVICE int8_t tl_f32_to_int4(float x) { return int8_t(tl_clamp_i32(tl_f32_to_int32(x), -8, 7)); }
TL_DEVICE uint8_t tl_f32_to_uint4(float x) { return uint8_t(tl_clamp_i32(tl_f32_to_int32(x), 0, 15)); }

/* Division by 0 gives 0, the rest is 0 too; the least integer over -1 wraps to itself. */
TL_DEVICE int32_t tl_floordiv_i32(int32_t a, int32_t b)
{
    const int32_t d = b == 0 || b == -1 ? 1 : b, q = a / d, r = a % d;
    const int32_t whole = q - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
    return b == 0 ? 0 : b == -1 ? int32_t(0u - uint32_t(a)) : whole;
}

TL_DEVICE int32_t tl_floormod_i32(int32_t a, int32_t b)
{
    const int32_t r = a % (b == 0 || b == -1 ? 1 : b);
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

TL_DEVICE int64_t tl_floordiv_i64(int64_t a, int64_t b)
{
    const int64_t d = b == 0 || b == -1 ? 1 : b, q = a / d, r = a % d;
    const int64_t whole = q - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
    return b == 0 ? 0 : b == -1 ? int64_t(0UL - uint64_t(a)) : whole;
}

TL_DEVICE int64_t tl_floormod_i64(int64_t a, int64_t b)
{
    const int64_t r = a % (b == 0 || b == -1 ? 1 : b);
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

TL_DEVICE int32_t tl_truncdiv_i32(int32_t a, int32_t b)
{
    const int32_t q = a / (b == 0 || b == -1 ? 1 : b);
    return b == 0 ? 0 : b == -1 ? int32_t(0u - uint32_t(a)) : q;
}

TL_DEVICE int64_t tl_truncdiv_i64(int64_t a, int64_t b)
{
    const int64_t q = a / (b == 0 || b == -1 ? 1 : b);
    return b == 0 ? 0 : b == -1 ? int64_t(0UL - uint64_t(a)) : q;
}

TL_DEVICE int32_t tl_truncmod_i32(int32_t a, int32_t b) { return a % (b == 0 || b == -1 ? 1 : b); }
TL_DEVICE int64_t tl_truncmod_i64(int64_t a, int64_t b) { return a % (b == 0 || b == -1 ? 1 : b); }
TL_DEVICE uint32_t tl_div_u32(uint32_t a, uint32_t b) { return b ? a / b : 0u; }
TL_DEVICE uint32_t tl_mod_u32(uint32_t a, uint32_t b) { return b ? a % b : 0u; }
TL_DEVICE uint64_t tl_div_u64(uint64_t a, uint64_t b) { return b ? a / b : 0UL; }
TL_DEVICE uint64_t tl_mod_u64(uint64_t a, uint64_t b) { return b ? a % b : 0UL; }

/* By any count; a negative one is a large one. */
TL_DEVICE uint32_t tl_shl_u32(uint32_t a, uint32_t n) { return n < 32u ? a << n : 0u; }
TL_DEVICE uint64_t tl_shl_u64(uint64_t a, uint64_t n) { return n < 64UL ? a << n : 0UL; }
TL_DEVICE uint32_t tl_shr_u32(uint32_t a, uint32_t n) { return n < 32u ? a >> n : 0u; }
TL_DEVICE uint64_t tl_shr_u64(uint64_t a, uint64_t n) { return n < 64UL ? a >> n : 0UL; }
TL_DEVICE int32_t tl_shr_i32(int32_t a, uint32_t n) { return a >> (n < 32u ? n : 31u); }
TL_DEVICE int64_t tl_shr_i64(int64_t a, uint64_t n) { return a >> (n < 64UL ? n : 63UL); }

TL_DEVICE float tl_floormod_f32(float a, float b)
{
    const float r = fmod(a, b);
    return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
}

TL_DEVICE int32_t tl_abs_i32(int32_t a) { return a < 0 ? int32_t(0u - uint32_t(a)) : a; }
TL_DEVICE int64_t tl_abs_i64(int64_t a) { return a < 0 ? int64_t(0UL - uint64_t(a)) : a; }
TL_DEVICE int32_t tl_clz_u32(uint32_t a) { return int32_t(clz(a)); }
TL_DEVICE int32_t tl_clz_u64(uint64_t a) { return int32_t(clz(a)); }
TL_DEVICE int32_t tl_ffs(uint32_t a) { return a ? int32_t(ctz(a)) + 1 : 0; }
TL_DEVICE int32_t tl_ffs64(uint64_t a) { return a ? int32_t(ctz(a)) + 1 : 0; }
TL_DEVICE int32_t tl_popcount(uint32_t a) { return int32_t(popcount(a)); }
TL_DEVICE int32_t tl_popcount64(uint64_t a) { return int32_t(popcount(a)); }

/* The n-th set bit from base on, up or down; the one at base for n = 0. */
TL_DEVICE uint32_t tl_fns(uint32_t mask, uint32_t base, uint32_t offset)
{
    const int32_t n = int32_t(offset), step = n < 0 ? -1 : 1;
    int32_t left = n < 0 ? -n : n;
    if (n == 0)
        return base < 32u && (mask >> base & 1u) != 0u ? base : 0xffffffffu;
    for (int32_t at = int32_t(base); at >= 0 && at < 32; at += step)
        if ((mask >> at & 1u) != 0u && --left == 0)
            return uint32_t(at);
    return 0xffffffffu;
}

TL_DEVICE int64_t tl_pow_i64(int64_t a, int64_t n)
{
    uint64_t r = 1UL, b = uint64_t(a);
    if (n < 0)
        return a == 1 ? 1 : a == -1 ? (n % 2 ? -1 : 1) : 0;
    for (; n > 0; n >>= 1, b *= b)
        if (n & 1)
            r *= b;
    return int64_t(r);
}

TL_DEVICE uint64_t tl_pow_u64(uint64_t a, uint64_t n)
{
    uint64_t r = 1UL;
    for (; n > 0; n >>= 1, a *= a)
        if (n & 1)
            r *= a;
    return r;
}

TL_DEVICE int32_t tl_pow_i32(int32_t a, int32_t n) { return int32_t(tl_pow_i64(a, n)); }

/* 4-bit elements, two to a byte, low half first. */
template <class P> TL_DEVICE uint8_t tl_load_uint4(P p, int64_t i)
{
    return uint8_t((uint8_t(p[i >> 1]) >> ((i & 1) * 4)) & 15);
}

template <class P> TL_DEVICE int8_t tl_load_int4(P p, int64_t i)
{
    return int8_t(int8_t(tl_load_uint4(p, i) << 4) >> 4);
}

template <class P> TL_DEVICE float tl_load_e2m1(P p, int64_t i) { return tl_e2m1_to_f32(tl_load_uint4(p, i)); }

template <class P> TL_DEVICE void tl_store_nibble(P p, int64_t i, int32_t v)
{
    const int32_t was = p[i >> 1];
    p[i >> 1] = uint8_t((i & 1) != 0 ? (was & 15) | (v & 15) << 4 : (was & 0xf0) | (v & 15));
}

/* ---- functions that MSL does not have, or by another name -------------------------------------- */

TL_DEVICE int32_t tl_isnan_f32(float x) { return x != x ? 1 : 0; }
TL_DEVICE int32_t tl_isinf_f32(float x) { return fabs(x) == INFINITY ? 1 : 0; }
TL_DEVICE int32_t tl_isfinite_f32(float x) { return fabs(x) < INFINITY ? 1 : 0; }
TL_DEVICE float tl_rcp(float x) { return 1.0f / x; }
TL_DEVICE float tl_sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
TL_DEVICE float tl_ldexp(float x, float n) { return ldexp(x, int(n)); }

/* A product and a sum that the compiler contracts with nothing: each is one rounding already. */
TL_DEVICE float tl_mul_rn(float a, float b) { return fma(a, b, -0.0f); }
TL_DEVICE float tl_add_rn(float a, float b) { return fma(a, 1.0f, b); }

TL_DEVICE float tl_hypot(float x, float y)
{
    const float a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y)), r = b / a;
    return a == 0.0f || a == INFINITY ? a : a * sqrt(1.0f + r * r);
}

/* What is added to 1 without its rounding. */
TL_DEVICE float tl_log1p(float x)
{
    const float u = 1.0f + x;
    return u == 1.0f ? x : log(u) * (x / (u - 1.0f));
}

/* The next number from x towards y. */
TL_DEVICE float tl_nextafter(float x, float y)
{
    const uint32_t u = as_type<uint32_t>(x);
    if (x != x || y != y)
        return NAN;
    if (x == y)
        return y;
    if ((u & 0x7fffffffu) == 0u)
        return as_type<float>((as_type<uint32_t>(y) & 0x80000000u) | 1u);
    return as_type<float>((x < y) == (x > 0.0f) ? u + 1u : u - 1u);
}

/* Error below 2e-7: the series near 0, a rational of exp(-x*x) elsewhere (Abramowitz and Stegun 7.1.5
 * and 7.1.26). */
TL_DEVICE float tl_erf(float x)
{
    const float a = fabs(x), z = a * a, t = 1.0f / (1.0f + 0.3275911f * a);
    const float near = 1.1283791671f + z * (-0.3761263890f + z * (0.1128379167f + z * (-0.0268661706f + z * 0.0052239776f)));
    const float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    return a < 0.5f ? x * near : copysign(1.0f - p * exp(-z), x);
}

/* ---- the order of blocks --------------------------------------------------------------------- */

struct TlTile {
    int32_t x, y;
};

/* Panels of so many rows (columns) of blocks, one panel after the other, back and forth: blocks
 * that run together share operands in the cache. */
TL_DEVICE TlTile tl_raster_rows(uint3 block, uint3 grid, uint32_t panel)
{
    const uint32_t id = block.x + block.y * grid.x, whole = panel * grid.x, p = id / whole, in = id - p * whole;
    const uint32_t rows = tl_min_u32(panel, grid.y - p * panel), x = in / rows;
    return TlTile{int32_t((p & 1u) != 0u ? grid.x - 1u - x : x), int32_t(p * panel + in - x * rows)};
}

TL_DEVICE TlTile tl_raster_columns(uint3 block, uint3 grid, uint32_t panel)
{
    const uint32_t id = block.x + block.y * grid.x, whole = panel * grid.y, p = id / whole, in = id - p * whole;
    const uint32_t columns = tl_min_u32(panel, grid.x - p * panel), y = in / columns;
    return TlTile{int32_t(p * panel + in - y * columns), int32_t((p & 1u) != 0u ? grid.y - 1u - y : y)};
}

/* ---- random numbers: Philox 4x32, 10 rounds, a stream for every thread --------------------------- */

struct tl_random {
    uint64_t seed, stream, block;
    uint32_t next;
    uint32_t word[4];
};

TL_DEVICE void tl_rng_fill(thread tl_random &t)
{
    uint32_t c0 = uint32_t(t.block), c1 = uint32_t(t.block >> 32), c2 = uint32_t(t.stream), c3 = uint32_t(t.stream >> 32);
    uint32_t k0 = uint32_t(t.seed), k1 = uint32_t(t.seed >> 32);
    for (int32_t i = 0; i < 10; i++) {
        const uint32_t a = mulhi(0xD2511F53u, c0) ^ c3 ^ k1, low = 0xD2511F53u * c0;
        c0 = mulhi(0xCD9E8D57u, c2) ^ c1 ^ k0;
        c1 = 0xCD9E8D57u * c2;
        c2 = a;
        c3 = low;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    t.word[0] = c0;
    t.word[1] = c1;
    t.word[2] = c2;
    t.word[3] = c3;
}

TL_DEVICE void tl_rng_init(thread tl_random &t, uint64_t seed, uint64_t stream, uint64_t at)
{
    t.seed = seed;
    t.stream = stream;
    t.block = at / 4UL;
    t.next = uint32_t(at % 4UL);
    tl_rng_fill(t);
}

TL_DEVICE uint32_t tl_rng_next(thread tl_random &t)
{
    const uint32_t i = t.next;
    if (i == 0u)
        tl_rng_fill(t);
    t.next = (i + 1u) % 4u;
    t.block += i == 3u ? 1UL : 0UL;
    return t.word[i];
}

/* (2 x + 1) / 2^33, in (0, 1], rounded by whole numbers: the odd number is a tie only if one bit goes. */
TL_DEVICE float tl_rng_uniform(thread tl_random &t)
{
    const uint32_t x = tl_rng_next(t), n = 32u - uint32_t(clz(x));
    if (n < 24u)
        return float(2u * x + 1u) * as_type<float>(94u << 23);
    const uint32_t gone = n - 23u, q = x >> (gone - 1u);
    const uint32_t up = gone == 1u ? q & 1u : x >> ((gone - 2u) & 31u) & 1u;
    return float(q + up) * as_type<float>((94u + gone) << 23);
}

TL_DEVICE float tl_rng_normal(thread tl_random &t)
{
    const float u = tl_rng_uniform(t), v = tl_rng_uniform(t);
    return sqrt(-2.0f * log(u)) * sin(6.2831853f * v);
}
