/* value.c -- arithmetic on typed values, as doc/numerics.md says. */
#include "sim/sim.h"

#include <fenv.h>
#include <math.h>

static double from_bits(uint64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

static uint64_t to_bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

enum { F64_MANTISSA = 52, F64_BIAS = 1023 };

/* Ordinary values of the types with an IEEE-like exponent are rounded on the bits of the double;
 * anything near the ends of the range goes the long way. */
double value_round(DType t, double v)
{
    switch (t) {
    case DT_F64:
        return v;
    case DT_F32:
        return (double)(float)v;
    case DT_F16:
    case DT_BF16:
    case DT_TF32: {
        const DTypeInfo *info = &dtype_table[t];
        uint64_t u = to_bits(v);
        int exponent = (int)(u >> F64_MANTISSA & 0x7ff) - F64_BIAS;
        int most = (1 << (info->ebits - 1)) - 1;
        if (exponent <= -most + 1 || exponent >= most)
            return v == 0 ? v : num_round(t, v);
        int shift = F64_MANTISSA - info->mbits;
        u += ((uint64_t)1 << (shift - 1)) - 1 + (u >> shift & 1);
        return from_bits(u & ~(((uint64_t)1 << shift) - 1));
    }
    default:
        return num_round(t, v);
    }
}

Value1 value_cast(DType from, DType to, Value1 v)
{
    if (from == to)
        return v;
    bool ff = dtype_is_float(from), tf = dtype_is_float(to);
    if (to == DT_BOOL)
        return (Value1){.i = ff ? v.f != 0 : v.i != 0};
    if (tf)
        return (Value1){.f = ff ? value_round(to, v.f) : num_from_int(from, v.i, to)};
    return (Value1){.i = ff ? num_from_float(to, v.f) : num_wrap(to, v.i)};
}

static double float_mod(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static Value1 float_binary(ExprOp op, DType t, double a, double b)
{
    switch (op) {
    case EX_ADD: return (Value1){.f = value_round(t, a + b)};
    case EX_SUB: return (Value1){.f = value_round(t, a - b)};
    case EX_MUL: return (Value1){.f = value_round(t, a * b)};
    case EX_DIV: return (Value1){.f = value_round(t, a / b)};
    case EX_FLOORDIV: return (Value1){.f = floor(value_round(t, a / b))};
    case EX_FLOORMOD: return (Value1){.f = value_round(t, float_mod(a, b))};
    case EX_TRUNCDIV: return (Value1){.f = trunc(value_round(t, a / b))};
    case EX_TRUNCMOD: return (Value1){.f = value_round(t, fmod(a, b))};
    case EX_MIN: return (Value1){.f = isnan(a) ? b : isnan(b) ? a : a < b ? a : b};
    case EX_MAX: return (Value1){.f = isnan(a) ? b : isnan(b) ? a : a > b ? a : b};
    case EX_EQ: return (Value1){.i = a == b};
    case EX_NE: return (Value1){.i = a != b};
    case EX_LT: return (Value1){.i = a < b};
    case EX_LE: return (Value1){.i = a <= b};
    case EX_GT: return (Value1){.i = a > b};
    case EX_GE: return (Value1){.i = a >= b};
    default: unreachable();
    }
}

Value1 value_binary(ExprOp op, DType t, Value1 a, Value1 b)
{
    return dtype_is_float(t) ? float_binary(op, t, a.f, b.f)
                             : (Value1){.i = num_binary(op, t, a.i, b.i)};
}

Value1 value_reduce(const Reduction *r, bool nan, DType t, Value1 a, Value1 b)
{
    if (!dtype_is_float(t))
        return (Value1){.i = num_binary(r->op, t, a.i, b.i)};
    if (r->op == EX_ADD)
        return (Value1){.f = a.f + b.f};
    if (nan && (isnan(a.f) || isnan(b.f)))
        return (Value1){.f = NAN};
    return float_binary(r->op, t, a.f, b.f);
}

/* ---- math functions -------------------------------------------------------------------------- */

static uint64_t bits_of(DType t, int64_t v)
{
    int n = dtype_bits(t);
    return n >= 64 ? (uint64_t)v : (uint64_t)v & (((uint64_t)1 << n) - 1);
}

/* A negative exponent of 1 or -1 is itself a power; every other one is a fraction, cut to 0. */
static int64_t int_power(DType t, int64_t base, int64_t n)
{
    uint64_t r = 1, b = (uint64_t)base, left = (uint64_t)n;
    if (n < 0 && !dtype_is_unsigned(t))
        return base == 1 ? 1 : base == -1 ? (n % 2 ? -1 : 1) : 0;
    for (; left > 0; left >>= 1, b *= b)
        if (left & 1)
            r *= b;
    return (int64_t)r;
}

/* As the instruction counts: at base itself, or the n-th from there, up or down. */
static int64_t find_set(uint32_t mask, int64_t base, int32_t n)
{
    int64_t step = n < 0 ? -1 : 1, left = n < 0 ? -(int64_t)n : n;

    if (n == 0)
        return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    for (int64_t at = base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return at;
    return UINT32_MAX;
}

static int64_t int_math(MathFn fn, DType t, const DType *type, const Value1 *x)
{
    uint64_t u = bits_of(type[0], x[0].i);
    switch (fn) {
    case MATH_ABS:
        return x[0].i < 0 && !dtype_is_unsigned(t) ? (int64_t)(0 - (uint64_t)x[0].i) : x[0].i;
    case MATH_CLZ: return u ? __builtin_clzll(u) - (64 - dtype_bits(type[0])) : dtype_bits(type[0]);
    case MATH_POPCOUNT: return __builtin_popcountll(u);
    case MATH_FNS: return find_set((uint32_t)u, x[1].i, (int32_t)x[2].i);
    case MATH_FFS: return u ? __builtin_ctzll(u) + 1 : 0;
    case MATH_POW: return int_power(t, x[0].i, x[1].i);
    case MATH_FMA: return (int64_t)((uint64_t)x[0].i * (uint64_t)x[1].i + (uint64_t)x[2].i);
    case MATH_MIN_NAN: return num_binary(EX_MIN, t, x[0].i, x[1].i);
    case MATH_MAX_NAN: return num_binary(EX_MAX, t, x[0].i, x[1].i);
    case MATH_FMOD: return num_binary(EX_TRUNCMOD, t, x[0].i, x[1].i);
    case MATH_ISNAN:
    case MATH_ISINF: return 0;
    case MATH_ISFINITE: return 1;
    default: return x[0].i; /* rounding functions leave integers as they are */
    }
}

static double nan_extreme(bool max, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return max == (a > b) ? a : b;
}

static double float_math2(MathFn fn, DType t, const DType *type, const Value1 *x)
{
    double a = x[0].f, b = dtype_is_float(type[1]) ? x[1].f : (double)x[1].i;
    switch (fn) {
    case MATH_ATAN2: return atan2(a, b);
    case MATH_COPYSIGN: return copysign(a, b);
    case MATH_FMOD: return fmod(a, b);
    case MATH_HYPOT: return hypot(a, b);
    case MATH_LDEXP: return ldexp(a, (int)b);
    case MATH_POW: return pow(a, b);
    case MATH_NEXTAFTER:
        return t == DT_F32 ? (double)nextafterf((float)a, (float)b) : nextafter(a, b);
    case MATH_MUL_RN: return a * b;
    case MATH_ADD_RN: return a + b;
    case MATH_MIN_NAN: return nan_extreme(false, a, b);
    case MATH_MAX_NAN: return nan_extreme(true, a, b);
    default: unreachable();
    }
}

static double float_math1(MathFn fn, double a)
{
    switch (fn) {
    case MATH_LDG: return a;
    case MATH_ABS: return fabs(a);
    case MATH_ACOS: return acos(a);
    case MATH_ACOSH: return acosh(a);
    case MATH_ASIN: return asin(a);
    case MATH_ASINH: return asinh(a);
    case MATH_ATAN: return atan(a);
    case MATH_ATANH: return atanh(a);
    case MATH_CEIL: return ceil(a);
    case MATH_FAST_COS:
    case MATH_COS: return cos(a);
    case MATH_COSH: return cosh(a);
    case MATH_ERF: return erf(a);
    case MATH_FAST_EXP:
    case MATH_EXP: return exp(a);
    case MATH_EXP2: return exp2(a);
    case MATH_FAST_EXP10:
    case MATH_EXP10: return pow(10, a);
    case MATH_FLOOR: return floor(a);
    case MATH_FAST_LOG:
    case MATH_LOG: return log(a);
    case MATH_LOG1P: return log1p(a);
    case MATH_FAST_LOG2:
    case MATH_LOG2: return log2(a);
    case MATH_FAST_LOG10:
    case MATH_LOG10: return log10(a);
    case MATH_NEARBYINT:
    case MATH_ROUND: return nearbyint(a);
    case MATH_ROUND_AWAY: return round(a);
    case MATH_RCP:
    case MATH_FAST_RCP: return 1 / a;
    case MATH_RSQRT: return 1 / sqrt(a);
    case MATH_SIGMOID: return 1 / (1 + exp(-a));
    case MATH_FAST_SIN:
    case MATH_SIN: return sin(a);
    case MATH_SINH: return sinh(a);
    case MATH_SQRT: return sqrt(a);
    case MATH_FAST_TAN:
    case MATH_TAN: return tan(a);
    case MATH_TANH: return tanh(a);
    case MATH_TRUNC: return trunc(a);
    default: unreachable();
    }
}

/* Rounding twice in one direction is rounding once; volatile keeps the operation between the calls
 * that set the direction. */
static bool is_directed(MathFn fn) { return fn >= MATH_ADD_RZ && fn <= MATH_ROOT_RD; }

static double directed_math(MathFn fn, DType t, const Value1 *x)
{
    static const int mode[3] = {FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    int n = math_table[fn].arity, was = fegetround();
    volatile double a = x[0].f, b = n > 1 ? x[1].f : 0, c = n > 2 ? x[2].f : 0, r = 0;

    fesetround(mode[(fn - MATH_ADD_RZ) % 3]);
    switch ((fn - MATH_ADD_RZ) / 3) {
    case 0: r = a + b; break;
    case 1: r = a - b; break;
    case 2: r = a * b; break;
    case 3: r = a / b; break;
    case 4: r = fma(a, b, c); break;
    case 5: r = 1 / a; break;
    case 6: r = sqrt(a); break;
    default: unreachable();
    }
    if (t == DT_F32) {
        volatile float narrow = (float)r;
        r = narrow;
    }
    fesetround(was);
    return r;
}

/* a * b + c, rounded once.  A double holds the product of two narrow numbers; what it cannot hold
 * of the sum sets its last bit (rounds to odd), so that rounding after that is rounding once. */
static double fused(DType t, double a, double b, double c)
{
    if (t == DT_F64)
        return fma(a, b, c);
    if (t == DT_F32)
        return (double)fmaf((float)a, (float)b, (float)c);
    double p = a * b, s = p + c, of_c = s - p, lost = (p - (s - of_c)) + (c - of_c);
    uint64_t u = to_bits(s);
    if ((lost < 0 || lost > 0) && !(u & 1))
        u += (lost < 0) == (s < 0) ? 1 : UINT64_MAX;
    return value_round(t, from_bits(u));
}

Value1 value_math(MathFn fn, DType t, const DType *type, const Value1 *x)
{
    if (!dtype_is_float(type[0])) {
        if (!dtype_is_float(t))
            return (Value1){.i = num_wrap(t, int_math(fn, t, type, x))};
        Value1 as[3];
        DType at[3] = {t, t, t};
        for (int i = 0; i < math_table[fn].arity; i++)
            as[i] = value_cast(type[i], t, x[i]);
        return value_math(fn, t, at, as);
    }
    switch (fn) {
    case MATH_ISNAN: return (Value1){.i = isnan(x[0].f) != 0};
    case MATH_ISINF: return (Value1){.i = isinf(x[0].f) != 0};
    case MATH_ISFINITE: return (Value1){.i = isfinite(x[0].f) != 0};
    case MATH_FMA: return (Value1){.f = fused(t, x[0].f, x[1].f, x[2].f)};
    default: break;
    }
    if (is_directed(fn))
        return (Value1){.f = directed_math(fn, t, x)};
    double r = math_table[fn].arity == 2 ? float_math2(fn, t, type, x) : float_math1(fn, x[0].f);
    return (Value1){.f = value_round(t, r)};
}

double value_scale(DType type, uint32_t word, int64_t number)
{
    uint32_t byte = word >> number % 4 * 8 & (type == DT_E4M3 ? 127 : 255);
    return num_decode(type, byte);
}

ValueCell value_dot(DType t, int n, const ValueCell *a, const ValueCell *b, ValueCell c)
{
    if (dtype_is_int(t)) {
        uint64_t sum = (uint64_t)c.i;
        for (int k = 0; k < n; k++)
            sum += (uint64_t)a[k].i * (uint64_t)b[k].i;
        return (ValueCell){.i = num_wrap(t, (int64_t)sum)};
    }
    for (int k = 0; k < n; k++)
        c.f += a[k].f * b[k].f;
    return (ValueCell){.f = value_round(t, c.f)};
}
