/* numeric.c -- exact conversion between number types.
 *
 * A float of any type is carried as a double, which holds all of them.  Rounding goes straight
 * from the double to the type (ties to even, denormals kept, never twice).  The processor is
 * expected to round to nearest, as C programs find it.
 *
 * Past the largest finite number: float64, float32, tfloat32, float16 and bfloat16 give infinity;
 * the 8, 6 and 4 bit types saturate, infinity included, as conversions on GPUs do.  A type without
 * a NaN (fp6, fp4) turns NaN into +max.  num_encode of an infinity that a type can spell gives
 * that spelling, so moving bits through a double loses nothing; num_round has saturated it before
 * in a conversion.  All NaNs of a type are one NaN. */
#include <math.h>
#include <stdlib.h>
#include "ir/ir.h"

typedef enum {
    SPECIAL_IEEE,   /* all-ones exponent: infinity, NaN */
    SPECIAL_FN,     /* all ones is NaN, no infinity */
    SPECIAL_UZ,     /* minus zero's pattern is NaN, no infinity */
    SPECIAL_NONE,   /* finite only */
    SPECIAL_SCALE,  /* e8m0: an unsigned power of two, 0xFF is NaN */
} Special;

typedef struct {
    int ebits, mbits, bias;
    Special special;
    bool saturates;
    uint64_t nan;
    double largest; /* finite */
} Format;

/* tfloat32 is stored as a float32 whose low mantissa bits are zero. */
static const Format formats[DT_COUNT] = {
    [DT_F64] = {11, 52, 1023, SPECIAL_IEEE, false, UINT64_C(0x7ff8) << 48, 0x1.fffffffffffffp1023},
    [DT_F32] = {8, 23, 127, SPECIAL_IEEE, false, 0x7fc00000, 0x1.fffffep127},
    [DT_TF32] = {8, 10, 127, SPECIAL_IEEE, false, 0x7fc00000, 0x1.ffcp127},
    [DT_F16] = {5, 10, 15, SPECIAL_IEEE, false, 0x7e00, 65504},
    [DT_BF16] = {8, 7, 127, SPECIAL_IEEE, false, 0x7fc0, 0x1.fep127},
    [DT_E3M4] = {3, 4, 3, SPECIAL_IEEE, true, 0x78, 15.5},
    [DT_E4M3] = {4, 3, 7, SPECIAL_FN, true, 0x7f, 448},
    [DT_E4M3B11] = {4, 3, 11, SPECIAL_UZ, true, 0x80, 30},
    [DT_E4M3FNUZ] = {4, 3, 8, SPECIAL_UZ, true, 0x80, 240},
    [DT_E5M2] = {5, 2, 15, SPECIAL_IEEE, true, 0x7e, 57344},
    [DT_E5M2FNUZ] = {5, 2, 16, SPECIAL_UZ, true, 0x80, 57344},
    [DT_E8M0] = {8, 0, 127, SPECIAL_SCALE, true, 0xff, 0x1p127},
    [DT_E2M3] = {2, 3, 1, SPECIAL_NONE, true, 0x1f, 7.5},
    [DT_E3M2] = {3, 2, 3, SPECIAL_NONE, true, 0x1f, 28},
    [DT_E2M1] = {2, 1, 1, SPECIAL_NONE, true, 0x7, 6},
    [DT_E2M1B] = {2, 1, 1, SPECIAL_NONE, true, 0x7, 6},
};

double num_largest(DType t)
{
    return formats[t].largest;
}

enum { DOUBLE_MBITS = 52, DOUBLE_BIAS = 1023 };

static uint64_t bits_of(double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* 2^e for the exponent of a normal double. */
static double power(int e)
{
    return double_of((uint64_t)(e + DOUBLE_BIAS) << DOUBLE_MBITS);
}

static int exponent_of(double v)
{
    return (int)(bits_of(v) >> DOUBLE_MBITS & 0x7ff) - DOUBLE_BIAS;
}

/* The nearest power of two; a tie goes to the even exponent field. */
static double round_scale(double v)
{
    int e;
    if (isnan(v) || v < 0)
        return NAN;
    if (isinf(v) || v >= ldexp(1.5, 127))
        return ldexp(1.0, 127);
    if (v <= ldexp(1.0, -127))
        return ldexp(1.0, -127);
    double m = frexp(v, &e) * 2; /* v = m * 2^(e-1), 1 <= m < 2 */
    bool odd = ((e - 1 + 127) & 1) != 0;
    return ldexp(1.0, m > 1.5 || (m == 1.5 && odd) ? e : e - 1);
}

/* v >= 0, rounded to the precision and least exponent of f, its range unbounded above.  Adding a
 * number whose last bit is worth the wanted quantum makes the processor round there, once. */
static double round_precision(const Format *f, double v)
{
    int e = exponent_of(v);
    if (e > f->bias + 1)
        return v; /* too large, whatever its last bits are */
    double at = 1.5 * power(MAX(e, 1 - f->bias) - f->mbits + DOUBLE_MBITS);
    return (v + at) - at;
}

double num_round(DType t, double v)
{
    const Format *f = &formats[t];
    if (f->special == SPECIAL_SCALE)
        return round_scale(v);
    double most = f->largest;
    if (isnan(v))
        return f->special == SPECIAL_NONE ? most : NAN;
    if (isinf(v))
        return f->saturates ? copysign(most, v) : v;
    double r = t == DT_F64 ? v : copysign(round_precision(f, fabs(v)), v);
    if (fabs(r) > most)
        return copysign(f->saturates ? most : INFINITY, v);
    return r == 0 && f->special == SPECIAL_UZ ? 0.0 : r;
}

double num_cut(double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    u &= ~(uint32_t)((1u << (formats[DT_F32].mbits - formats[DT_TF32].mbits)) - 1);
    memcpy(&f, &u, sizeof f);
    return (double)f;
}

/* mbits of the stored pattern: more than the precision for tfloat32. */
static int stored_mbits(DType t)
{
    return t == DT_TF32 ? 23 : formats[t].mbits;
}

uint64_t num_encode(DType t, double v)
{
    const Format *f = &formats[t];
    int mbits = stored_mbits(t), width = f->ebits + mbits;
    if (t == DT_F64)
        return isnan(v) ? f->nan : bits_of(v);
    if (!isinf(v) || f->special != SPECIAL_IEEE)
        v = num_round(t, v);
    if (isnan(v))
        return f->nan;
    if (f->special == SPECIAL_SCALE)
        return (uint64_t)(exponent_of(v) + f->bias);
    uint64_t sign = bits_of(v) >> 63 << width;
    if (isinf(v))
        return sign | ((UINT64_C(1) << f->ebits) - 1) << mbits;
    int e = exponent_of(v);
    if (e < 1 - f->bias) /* a denormal, or zero */
        return sign | (uint64_t)(fabs(v) * power(mbits - (1 - f->bias)));
    uint64_t m = bits_of(v) << 12 >> (64 - mbits);
    return sign | (uint64_t)(e + f->bias) << mbits | m;
}

double num_decode(DType t, uint64_t bits)
{
    const Format *f = &formats[t];
    int mbits = stored_mbits(t), width = f->ebits + mbits;
    uint64_t top = (UINT64_C(1) << f->ebits) - 1;
    uint64_t field = bits >> mbits & top, m = bits & ((UINT64_C(1) << mbits) - 1);
    if (t == DT_F64)
        return isnan(double_of(bits)) ? NAN : double_of(bits);
    if (f->special == SPECIAL_SCALE)
        return field == f->nan ? NAN : power((int)field - f->bias);
    uint64_t sign = (bits >> width & 1) << 63;
    if (f->special == SPECIAL_IEEE && field == top)
        return m ? NAN : sign ? -INFINITY : INFINITY;
    if (f->special == SPECIAL_FN && field == top && m == (UINT64_C(1) << mbits) - 1)
        return NAN;
    if (f->special == SPECIAL_UZ && sign && field == 0 && m == 0)
        return NAN;
    if (field == 0)
        return copysign((double)m * power(1 - f->bias - mbits), sign ? -1.0 : 1.0);
    uint64_t e = field + (uint64_t)(DOUBLE_BIAS - f->bias);
    return double_of(sign | e << DOUBLE_MBITS | m << (DOUBLE_MBITS - mbits));
}

int64_t num_wrap(DType t, int64_t v)
{
    int bits = dtype_table[t].bits;
    if (dtype_table[t].kind == 'B')
        return v != 0;
    if (bits == 64)
        return v;
    uint64_t mask = (UINT64_C(1) << bits) - 1, low = (uint64_t)v & mask;
    if (dtype_table[t].kind == 'I' && low >> (bits - 1))
        low |= ~mask;
    return (int64_t)low;
}

int64_t num_from_float(DType t, double v)
{
    if (dtype_table[t].kind == 'B')
        return v != 0;
    if (isnan(v))
        return 0;
    v = trunc(v);
    /* The greatest int64 and uint64 are no doubles; the next power of two is. */
    if (v >= ldexp(1.0, dtype_table[t].bits - (dtype_table[t].kind == 'I')))
        return dtype_int_max(t);
    if (v <= (double)dtype_int_min(t))
        return dtype_int_min(t);
    return v >= 9223372036854775808.0 ? (int64_t)(uint64_t)v : (int64_t)v;
}

/* A 64-bit integer has more bits than a double: those that are lost set the last one that is kept,
 * so that rounding to fewer bits after this is rounding once. */
static double round_wide(DType to, uint64_t magnitude)
{
    uint64_t unit = UINT64_C(1) << 11, rest = magnitude % unit;

    if (to == DT_F64)
        return (double)magnitude;
    return num_round(to, (double)((magnitude - rest) | (rest ? unit : 0)));
}

double num_from_int(DType from, int64_t v, DType to)
{
    bool negative = !dtype_is_unsigned(from) && v < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)v : (uint64_t)v;
    if (magnitude >> 53 == 0)
        return num_round(to, negative ? -(double)magnitude : (double)magnitude);
    double r = round_wide(to, magnitude);
    return !negative ? r : to == DT_E8M0 ? NAN : -r;
}

double num_parse(const char *text, size_t n)
{
    /* Digits are gathered as a decimal and handed to the C library one way in every locale: without
     * a decimal point. */
    char plain[400];
    size_t used = 0;
    int scale = 0;
    size_t i = 0;
    bool point = false;
    for (; i < n && used < sizeof plain - 16; i++) {
        if (text[i] == '.' && !point)
            point = true;
        else if (text[i] >= '0' && text[i] <= '9') {
            plain[used++] = text[i];
            scale -= point;
        } else if (text[i] != '_') {
            break;
        }
    }
    if (used == 0)
        plain[used++] = '0';
    int64_t exponent = 0;
    if (i < n && (text[i] == 'e' || text[i] == 'E')) {
        bool minus = i + 1 < n && text[i + 1] == '-';
        i += 1 + (i + 1 < n && (text[i + 1] == '-' || text[i + 1] == '+'));
        for (; i < n && text[i] >= '0' && text[i] <= '9'; i++)
            exponent = MIN(exponent * 10 + (text[i] - '0'), 100000);
        exponent = minus ? -exponent : exponent;
    }
    snprintf(plain + used, sizeof plain - used, "e%d", (int)exponent + scale);
    return strtod(plain, NULL);
}

void num_load(DType t, const void *base, int64_t i, double *f, int64_t *n)
{
    const unsigned char *p = base;
    int nbytes = dtype_table[t].bits / 8;
    uint64_t bits = 0;
    if (dtype_table[t].bits == 4)
        bits = p[i / 2] >> (i % 2 * 4) & 15;
    else
        memcpy(&bits, p + i * nbytes, (size_t)nbytes);
    if (dtype_is_float(t))
        *f = num_decode(t, bits);
    else
        *n = num_wrap(t, (int64_t)bits);
}

void num_store(DType t, void *base, int64_t i, double f, int64_t n)
{
    unsigned char *p = base;
    int nbytes = dtype_table[t].bits / 8;
    uint64_t bits = dtype_is_float(t) ? num_encode(t, f) : (uint64_t)num_wrap(t, n);
    if (dtype_table[t].bits == 4) {
        int shift = (int)(i % 2 * 4);
        p[i / 2] = (unsigned char)((p[i / 2] & ~(15 << shift)) | (int)(bits & 15) << shift);
        return;
    }
    memcpy(p + i * nbytes, &bits, (size_t)nbytes);
}

/* ---- integers -------------------------------------------------------------------------------- */

/* x / y and the rest, toward zero; y is not 0.  The least integer over -1 wraps. */
static void int_divide(bool uns, int64_t x, int64_t y, int64_t *quotient, int64_t *rest)
{
    if (uns) {
        *quotient = (int64_t)((uint64_t)x / (uint64_t)y);
        *rest = (int64_t)((uint64_t)x % (uint64_t)y);
    } else if (y == -1) {
        *quotient = (int64_t)(0 - (uint64_t)x);
        *rest = 0;
    } else {
        *quotient = x / y;
        *rest = x % y;
    }
}

static int64_t int_division(ExprOp op, bool uns, int64_t x, int64_t y)
{
    int64_t quotient, rest;
    if (y == 0)
        return 0;
    int_divide(uns, x, y, &quotient, &rest);
    bool down = rest != 0 && !uns && (rest < 0) != (y < 0);
    switch (op) {
    case EX_DIV: case EX_TRUNCDIV: return quotient;
    case EX_TRUNCMOD: return rest;
    case EX_FLOORDIV: return quotient - down;
    default: return down ? rest + y : rest;
    }
}

/* A count that is negative or past the width leaves 0, or the sign of a right shift. */
static int64_t int_shift(ExprOp op, DType t, int64_t x, int64_t y)
{
    bool sign = op == EX_SHR && !dtype_is_unsigned(t) && x < 0;
    if (y < 0 || y >= dtype_bits(t))
        return sign ? -1 : 0;
    if (op == EX_SHL)
        return (int64_t)((uint64_t)x << y);
    return sign ? ~(int64_t)(~(uint64_t)x >> y) : (int64_t)((uint64_t)x >> y);
}

/* Before it is wrapped to t. */
static int64_t int_binary(ExprOp op, DType t, int64_t x, int64_t y)
{
    bool uns = dtype_table[t].kind != 'I', less = uns ? (uint64_t)x < (uint64_t)y : x < y;

    switch (op) {
    case EX_ADD: return (int64_t)((uint64_t)x + (uint64_t)y);
    case EX_SUB: return (int64_t)((uint64_t)x - (uint64_t)y);
    case EX_MUL: return (int64_t)((uint64_t)x * (uint64_t)y);
    case EX_MIN: return less ? x : y;
    case EX_MAX: return less ? y : x;
    case EX_EQ: return x == y;
    case EX_NE: return x != y;
    case EX_LT: return less;
    case EX_LE: return less || x == y;
    case EX_GT: return !less && x != y;
    case EX_GE: return !less;
    case EX_AND: return x && y;
    case EX_OR: return x || y;
    case EX_BITAND: return x & y;
    case EX_BITOR: return x | y;
    case EX_BITXOR: return x ^ y;
    case EX_SHL: case EX_SHR: return int_shift(op, t, x, y);
    default: return int_division(op, uns, x, y);
    }
}

int64_t num_binary(ExprOp op, DType t, int64_t x, int64_t y)
{
    int64_t r = int_binary(op, t, x, y);
    return dtype_bits(t) == 64 ? r : num_wrap(t, r);
}
