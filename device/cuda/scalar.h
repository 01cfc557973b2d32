/* scalar.h -- small scalar helpers: rounding casts, integer division, nibbles. */

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

/* Codes of numbers of a type that has infinities, where a conversion would saturate. */
TL_DEVICE uint8_t tl_keep_e5m2(float x)
{
    const uint32_t u = __float_as_uint(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? (uint8_t)(0x7cu | (u >> 24 & 0x80u)) : tl_f32_to_e5m2(x);
}

TL_DEVICE uint8_t tl_keep_e3m4(float x)
{
    const uint32_t u = __float_as_uint(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? (uint8_t)(0x70u | (u >> 24 & 0x80u)) : tl_f32_to_e3m4(x);
}

/* To odd: what float cannot hold sets its last bit, so that rounding it to fewer bits after this
 * is rounding once. */
TL_DEVICE float tl_sticky(float x, bool lost) { return __uint_as_float(__float_as_uint(x) | (uint32_t)lost); }

TL_DEVICE float tl_odd_f64(double x)
{
    const float r = __double2float_rz(x);
    return tl_sticky(r, (double)r != x);
}

TL_DEVICE float tl_odd_i32(int32_t x)
{
    const float r = __int2float_rz(x);
    return tl_sticky(r, (int32_t)r != x);
}

TL_DEVICE float tl_odd_u32(uint32_t x)
{
    const float r = __uint2float_rz(x);
    return tl_sticky(r, (uint32_t)r != x);
}

TL_DEVICE float tl_odd_i64(int64_t x)
{
    const float r = __ll2float_rz(x);
    return tl_sticky(r, (int64_t)r != x);
}

TL_DEVICE float tl_odd_u64(uint64_t x)
{
    const float r = __ull2float_rz(x);
    return tl_sticky(r, (uint64_t)r != x);
}

TL_DEVICE float tl_fma_odd(float a, float b, float c)
{
    return tl_sticky(__fmaf_rz(a, b, c), __fmaf_rd(a, b, c) != __fmaf_ru(a, b, c));
}

TL_DEVICE int32_t tl_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
TL_DEVICE int32_t tl_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
/* -x, wrapped.  Of neg.s16 and the sign after it ptxas makes a negation of 32 bits, and the opposite
 * of -32768 is 32768 then (test/gpu/faults.py). */
TL_DEVICE int16_t tl_neg_i16(int16_t x)
{
    int32_t r;
    asm("{\n\t"
        ".reg .b32 t;\n\t"
        "neg.s32 t, %1;\n\t"
        "bfe.s32 %0, t, 0, 16;\n\t"
        "}" : "=r"(r) : "r"((int32_t)x));
    return (int16_t)r;
}
/* max(x, 0).  ptxas joins a minimum, this maximum and a comparison for equality into one VIMNMX.RELU
 * whose predicate is wrong (src/target/cuda/rt/sass.c); bits of the sign it leaves alone. */
TL_DEVICE int32_t tl_above_zero_i32(int32_t x)
{
    int32_t r;
    asm("{\n\t"
        ".reg .b32 s;\n\t"
        "shr.s32 s, %1, 31;\n\t"
        "not.b32 s, s;\n\t"
        "and.b32 %0, %1, s;\n\t"
        "}" : "=r"(r) : "r"(x));
    return r;
}
/* (x & a) | b.  Of two operators with a constant each ptxas makes two instructions. */
TL_DEVICE uint32_t tl_and_or_u32(uint32_t x, uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, 234;" : "=r"(r) : "r"(x), "r"(a), "r"(b));
    return r;
}
TL_DEVICE uint32_t tl_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
TL_DEVICE uint32_t tl_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
TL_DEVICE int64_t tl_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
TL_DEVICE int64_t tl_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
TL_DEVICE uint64_t tl_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
TL_DEVICE uint64_t tl_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* The other operand when one is NaN. */
TL_DEVICE float tl_min_f32(float a, float b) { return fminf(a, b); }
/* Results below 2**-126 are 0; elsewhere within 2 ulp. */
TL_DEVICE float tl_exp2f(float x)
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

TL_DEVICE float tl_max_f32(float a, float b) { return fmaxf(a, b); }
TL_DEVICE double tl_min_f64(double a, double b) { return fmin(a, b); }
TL_DEVICE double tl_max_f64(double a, double b) { return fmax(a, b); }
/* NaN wins. */
TL_DEVICE float tl_min_nan_f32(float a, float b) { return a < b || a != a ? a : b; }
TL_DEVICE float tl_max_nan_f32(float a, float b) { return a > b || a != a ? a : b; }
TL_DEVICE double tl_min_nan_f64(double a, double b) { return a < b || a != a ? a : b; }
TL_DEVICE double tl_max_nan_f64(double a, double b) { return a > b || a != a ? a : b; }

/* float to integer: toward zero, saturated, NaN gives 0 */
TL_DEVICE int32_t tl_clamp_i32(int32_t x, int32_t lo, int32_t hi) { return x < lo ? lo : x > hi ? hi : x; }
TL_DEVICE int32_t tl_f32_to_int32(float x) { return __float2int_rz(x); }
TL_DEVICE uint32_t tl_f32_to_uint32(float x) { return __float2uint_rz(x); }
TL_DEVICE int64_t tl_f32_to_int64(float x) { return x != x ? 0 : __float2ll_rz(x); }
TL_DEVICE uint64_t tl_f32_to_uint64(float x) { return x != x ? 0 : __float2ull_rz(x); }
TL_DEVICE int8_t tl_f32_to_int8(float x) { return (int8_t)tl_clamp_i32(tl_f32_to_int32(x), -128, 127); }
TL_DEVICE uint8_t tl_f32_to_uint8(float x) { return (uint8_t)tl_clamp_i32(tl_f32_to_int32(x), 0, 255); }
TL_DEVICE int16_t tl_f32_to_int16(float x) { return (int16_t)tl_clamp_i32(tl_f32_to_int32(x), -32768, 32767); }
TL_DEVICE uint16_t tl_f32_to_uint16(float x) { return (uint16_t)tl_clamp_i32(tl_f32_to_int32(x), 0, 65535); }
TL_DEVICE int8_t tl_f32_to_int4(float x) { return (int8_t)tl_clamp_i32(tl_f32_to_int32(x), -8, 7); }
TL_DEVICE uint8_t tl_f32_to_uint4(float x) { return (uint8_t)tl_clamp_i32(tl_f32_to_int32(x), 0, 15); }
TL_DEVICE int32_t tl_f64_to_int32(double x) { return x != x ? 0 : __double2int_rz(x); }
TL_DEVICE uint32_t tl_f64_to_uint32(double x) { return x != x ? 0 : __double2uint_rz(x); }
TL_DEVICE int64_t tl_f64_to_int64(double x) { return x != x ? 0 : __double2ll_rz(x); }
TL_DEVICE uint64_t tl_f64_to_uint64(double x) { return x != x ? 0 : __double2ull_rz(x); }
TL_DEVICE int8_t tl_f64_to_int8(double x) { return (int8_t)tl_clamp_i32(tl_f64_to_int32(x), -128, 127); }
TL_DEVICE uint8_t tl_f64_to_uint8(double x) { return (uint8_t)tl_clamp_i32(tl_f64_to_int32(x), 0, 255); }
TL_DEVICE int16_t tl_f64_to_int16(double x) { return (int16_t)tl_clamp_i32(tl_f64_to_int32(x), -32768, 32767); }
TL_DEVICE uint16_t tl_f64_to_uint16(double x) { return (uint16_t)tl_clamp_i32(tl_f64_to_int32(x), 0, 65535); }
TL_DEVICE int8_t tl_f64_to_int4(double x) { return (int8_t)tl_clamp_i32(tl_f64_to_int32(x), -8, 7); }
TL_DEVICE uint8_t tl_f64_to_uint4(double x) { return (uint8_t)tl_clamp_i32(tl_f64_to_int32(x), 0, 15); }

TL_DEVICE uint32_t tl_f32_to_bits(float x) { return __float_as_uint(x); }
TL_DEVICE float tl_bits_to_f32(uint32_t u) { return __uint_as_float(u); }
TL_DEVICE uint64_t tl_f64_to_bits(double x) { return (uint64_t)__double_as_longlong(x); }
TL_DEVICE double tl_bits_to_f64(uint64_t u) { return __longlong_as_double((long long)u); }

/* Division by 0 gives 0, the rest is 0 too; the least integer over -1 wraps to itself.  Without branches: whether a divisor is 0 or -1 differs
 * from lane to lane at worst. */
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
    return b == 0 ? 0 : b == -1 ? (int64_t)(0ull - (uint64_t)a) : whole;
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
    return b == 0 ? 0 : b == -1 ? (int64_t)(0ull - (uint64_t)a) : q;
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
    const float r = fmodf(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

TL_DEVICE double tl_floormod_f64(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* The least integer stays what it is.  Of abs.s32 ptxas believes that it is never negative, and a
 * remainder after it comes out wrong (test/gpu/faults.py). */
TL_DEVICE int32_t tl_abs_i32(int32_t a)
{
    int32_t s;
    asm("shr.s32 %0, %1, 31;" : "=r"(s) : "r"(a));
    return (int32_t)(((uint32_t)a ^ (uint32_t)s) - (uint32_t)s);
}
TL_DEVICE int64_t tl_abs_i64(int64_t a)
{
    int64_t s;
    asm("shr.s64 %0, %1, 63;" : "=l"(s) : "l"(a));
    return (int64_t)(((uint64_t)a ^ (uint64_t)s) - (uint64_t)s);
}
TL_DEVICE int32_t tl_clz_u32(uint32_t a) { return __clz((int32_t)a); }
TL_DEVICE int32_t tl_clz_u64(uint64_t a) { return __clzll((int64_t)a); }

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

/* 4-bit elements, two to a byte, low half first. */
TL_DEVICE uint8_t tl_load_uint4(const uint8_t *p, int64_t i) { return (p[i >> 1] >> ((i & 1) * 4)) & 15; }
TL_DEVICE float tl_load_e2m1(const uint8_t *p, int64_t i) { return tl_e2m1_to_f32(tl_load_uint4(p, i)); }

TL_DEVICE int8_t tl_load_int4(const int8_t *p, int64_t i)
{
    return (int8_t)((int8_t)(tl_load_uint4((const uint8_t *)p, i) << 4) >> 4);
}

TL_DEVICE void tl_store_nibble(void *base, int64_t i, int32_t v)
{
    uint8_t *const p = (uint8_t *)base + (i >> 1);
    *p = (uint8_t)(i & 1 ? (*p & 15) | (v & 15) << 4 : (*p & 0xf0) | (v & 15));
}

TL_DEVICE int32_t tl_isnan_f32(float x) { return x != x; }
TL_DEVICE int32_t tl_isnan_f64(double x) { return x != x; }
TL_DEVICE int32_t tl_isinf_f32(float x) { return fabsf(x) == __int_as_float(0x7f800000); }
TL_DEVICE int32_t tl_isinf_f64(double x) { return fabs(x) == __longlong_as_double(0x7ff0000000000000LL); }
TL_DEVICE int32_t tl_isfinite_f32(float x) { return x - x == 0; }
TL_DEVICE int32_t tl_isfinite_f64(double x) { return x - x == 0; }
TL_DEVICE float tl_rcpf(float x) { return 1.0f / x; }
namespace tl { TL_DEVICE float fast_rcp(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}}

TL_DEVICE double tl_rcp_f64(double x) { return 1.0 / x; }
TL_DEVICE float tl_sigmoidf(float x) { return 1.0f / (1.0f + expf(-x)); }
TL_DEVICE double tl_sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }

extern "C" __device__ int printf(const char *, ...);

TL_DEVICE void tl_fail(const char *text)
{
    printf("%s\n", text);
    __trap();
}

/* ---- the order of blocks --------------------------------------------------------------------- */

struct TlTile {
    int32_t x, y;
};

/* Panels of so many rows (columns) of blocks, one panel after the other, back and forth: blocks
 * that run together share operands in the cache. */
TL_DEVICE TlTile tl_raster_rows(int32_t panel)
{
    uint32_t nx = gridDim.x, ny = gridDim.y, id = blockIdx.x + blockIdx.y * nx;
    uint32_t whole = panel * nx, p = id / whole, in = id - p * whole;
    uint32_t rows = min((uint32_t)panel, ny - p * panel), x = in / rows;
    return {(int32_t)(p & 1 ? nx - 1 - x : x), (int32_t)(p * panel + in - x * rows)};
}

TL_DEVICE TlTile tl_raster_columns(int32_t panel)
{
    uint32_t nx = gridDim.x, ny = gridDim.y, id = blockIdx.x + blockIdx.y * nx;
    uint32_t whole = panel * ny, p = id / whole, in = id - p * whole;
    uint32_t columns = min((uint32_t)panel, nx - p * panel), y = in / columns;
    return {(int32_t)(p * panel + in - y * columns), (int32_t)(p & 1 ? ny - 1 - y : y)};
}

/* The same of clusters of cx by cy blocks. */
TL_DEVICE TlTile tl_raster_clusters_rows(int32_t panel, uint32_t cx, uint32_t cy)
{
    uint32_t bx = blockIdx.x / cx, by = blockIdx.y / cy, nx = gridDim.x / cx, ny = gridDim.y / cy, id = bx + by * nx;
    uint32_t whole = panel * nx, p = id / whole, in = id - p * whole;
    uint32_t rows = min((uint32_t)panel, ny - p * panel), x = in / rows, y = p * panel + in - x * rows;
    x = p & 1 ? nx - 1 - x : x;
    return {(int32_t)(x * cx + blockIdx.x - bx * cx), (int32_t)(y * cy + blockIdx.y - by * cy)};
}

TL_DEVICE TlTile tl_raster_clusters_columns(int32_t panel, uint32_t cx, uint32_t cy)
{
    uint32_t bx = blockIdx.x / cx, by = blockIdx.y / cy, nx = gridDim.x / cx, ny = gridDim.y / cy, id = bx + by * nx;
    uint32_t whole = panel * ny, p = id / whole, in = id - p * whole;
    uint32_t columns = min((uint32_t)panel, nx - p * panel), y = in / columns, x = p * panel + in - y * columns;
    y = p & 1 ? ny - 1 - y : y;
    return {(int32_t)(x * cx + blockIdx.x - bx * cx), (int32_t)(y * cy + blockIdx.y - by * cy)};
}
