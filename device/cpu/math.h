/* math.h -- elementary functions of f32 for emitted CPU code.

   Branch free, so that a loop over any of them vectorises; at most 2 units in the last place over
   the whole range, infinities, NaN and denormals included. What loops of tile kernels are full of
   (exp, tanh, sigmoid, erf) works in f32. The rest works in f64, where range and cancellation
   need no care, and rounds once. Compile with -fno-math-errno -fno-trapping-math. */
#ifndef TL_MATH_H
#define TL_MATH_H

#include "convert.h"

#define TL_NAN_F32 __builtin_nanf("")

static inline uint64_t tl_bits_f64(double x)
{
    uint64_t u;
    __builtin_memcpy(&u, &x, 8);
    return u;
}

static inline double tl_f64_bits(uint64_t u)
{
    double x;
    __builtin_memcpy(&x, &u, 8);
    return x;
}

/* --- exponentials in f32 --------------------------------------------------------------------- */

/* Adding this leaves the nearest integer plus 187 in the low bits. */
#define TL_ROUND_F32 (12582912.0f + 187.0f)
#define TL_SMALL_F32 0x1p-60f

/* p * 2^(60 + n) where z = n + TL_ROUND_F32, n in [-151, 129], as two factors 2^h and 2^(n - h)
   with biases that cancel: no intermediate leaves the range, and a denormal is rounded once. */
static inline float tl_scale_f32(float p, float z)
{
    const uint32_t n = tl_bits_f32(z), h = n >> 1;
    return tl_f32_bits(tl_bits_f32(p) + (h << 23)) * tl_f32_bits((n - h) << 23);
}

/* x between -lo and hi, given as bits. The minimum of integers stays one instruction; of a floating
   comparison gcc makes a path of its own for the constant. A NaN is lost here. */
static inline float tl_clamp_f32(float x, uint32_t lo, int32_t hi)
{
    const uint32_t u = tl_bits_f32(x), v = u < lo ? u : lo;
    const int32_t s = (int32_t)v;
    return tl_f32_bits((uint32_t)(s < hi ? s : hi));
}

static inline float tl_exp2f(float x)
{
    const float c = tl_clamp_f32(x, 0xc3170000u, 0x43010000); /* -151 and 129 */
    const float z = c + TL_ROUND_F32;
    const float f = c - (z - TL_ROUND_F32);
    float p = 1.3225707496213347e-3f * TL_SMALL_F32; /* within 1.8 ulp; degree 4 is not in 2 */
    p = p * f + 9.671762953878366e-3f * TL_SMALL_F32;
    p = p * f + 5.550891438819218e-2f * TL_SMALL_F32;
    p = p * f + 2.4022237035983857e-1f * TL_SMALL_F32;
    p = p * f + 6.931468292474326e-1f * TL_SMALL_F32;
    p = p * f + TL_SMALL_F32;
    const float r = tl_scale_f32(p, z);
    return x != x ? x : r;
}

/* e^r * 2^-60 for |r| <= ln(2)/2 */
static inline float tl_exp_core(float r)
{
    float p = 1.9890988455544567e-4f;
    p = p * r + 1.3933647862928863e-3f;
    p = p * r + 8.333310927615311e-3f;
    p = p * r + 4.1666464944505696e-2f;
    p = p * r + 1.6666666681621095e-1f;
    p = p * r + 0.5f;
    return (p * (r * r) + r) * TL_SMALL_F32 + TL_SMALL_F32;
}

static inline float tl_expf(float x)
{
    const float c = tl_clamp_f32(x, 0xc2d10000u, 0x42b20000); /* -104.5 and 89 */
    const float z = c * 1.44269504f + TL_ROUND_F32;
    const float n = z - TL_ROUND_F32;
    const float r = (c - n * 0.693359375f) - n * -2.12194440e-4f;
    const float y = tl_scale_f32(tl_exp_core(r), z);
    return x != x ? x : y;
}

static inline float tl_exp10f(float x)
{
    const float c = tl_clamp_f32(x, 0xc2360000u, 0x421c0000); /* -45.5 and 39 */
    const float z = c * 3.32192809f + TL_ROUND_F32;
    const float n = z - TL_ROUND_F32;
    const float r = ((c - n * 0.301025390625f) - n * 4.605038981195214e-6f) * 2.302585093f;
    const float y = tl_scale_f32(tl_exp_core(r), z);
    return x != x ? x : y;
}

static inline float tl_sigmoidf(float x)
{
    const float e = tl_expf(-__builtin_fabsf(x)), s = 1.0f + e;
    const float q = (x < 0.0f ? e : 1.0f) / s;
    /* what 1 + e lost, over s: the line is 1/s to 6 % */
    const float lost = (e - (s - 1.0f)) * (1.41176471f - 0.470588235f * s);
    return q - q * lost;
}

static inline float tl_tanhf(float x)
{
    const float a = __builtin_fabsf(x), t = a * a;
    const float big = 1.0f - 2.0f / (tl_expf(2.0f * a) + 1.0f);
    float p = 2.2927448161781422e-3f;
    p = p * t - 8.3439455158391528e-3f;
    p = p * t + 2.1768918651028209e-2f;
    p = p * t - 5.3959259577204544e-2f;
    p = p * t + 1.333330355691574e-1f;
    p = p * t - 3.3333333172140361e-1f;
    return __builtin_copysignf(a < 0.625f ? a + a * (t * p) : big, x);
}

static inline float tl_erff(float x)
{
    const float a = __builtin_fabsf(x), t = a * a, m = a > 4.0f ? 4.0f : a;
    float q = 2.361910227018601e-6f;
    q = q * m - 6.6447709780746272e-5f;
    q = q * m + 8.6100851651544198e-4f;
    q = q * m - 6.8666459689287326e-3f;
    q = q * m + 3.8117641890024138e-2f;
    q = q * m - 1.5881198977090871e-1f;
    q = q * m - 9.1153231128885903e-1f;
    q = q * m - 1.6305821714934441f;
    q = q * m + 4.6186157666988073e-4f;
    float p = -9.6670445714869965e-6f;
    p = p * t + 1.1265959025606609e-4f;
    p = p * t - 8.4840804055351068e-4f;
    p = p * t + 5.2210318078580228e-3f;
    p = p * t - 2.6865430727670243e-2f;
    p = p * t + 1.1283782495236845e-1f;
    p = p * t - 3.7612638468028708e-1f;
    p = p * t + 1.283791670615435e-1f;
    return __builtin_copysignf(a < 1.0f ? a + a * p : 1.0f - tl_exp2f(q), x);
}

static inline float tl_rcpf(float x)
{
    return 1.0f / x;
}

static inline float tl_rsqrtf(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}

/* --- exponential and logarithm in f64 -------------------------------------------------------- */

#define TL_ROUND_F64 6755399441055744.0

/* 2^y for |y| <= 1000, relative error 2e-14; beyond that, the bound. */
static inline double tl_exp2_wide(double y)
{
    double c = y < -1000.0 ? -1000.0 : y;
    c = c > 1000.0 ? 1000.0 : c;
    const double z = c + TL_ROUND_F64, f = c - (z - TL_ROUND_F64);
    double p = 1.0205905413765595e-7;
    p = p * f + 1.3259645244887111e-6;
    p = p * f + 1.5252672924850737e-5;
    p = p * f + 1.540343375125101e-4;
    p = p * f + 1.3333558200794592e-3;
    p = p * f + 9.6181291939343126e-3;
    p = p * f + 5.550410866465167e-2;
    p = p * f + 2.4022650695640341e-1;
    p = p * f + 6.9314718055994617e-1;
    p = p * f + 1.0;
    return p * tl_f64_bits((tl_bits_f64(z) + 1023) << 52);
}

static inline double tl_exp_wide(double x)
{
    return tl_exp2_wide(x * 1.4426950408889634);
}

/* x = 2^e * m with m in [sqrt(1/2), sqrt(2)); *rest is ln(m). x is positive and normal, and f is
   x - 1 where that is known better than x. */
static inline double tl_log_parts(double x, double f, double *rest)
{
    const uint64_t shifted = tl_bits_f64(x) - 0x3fe6a09e667f3bcdull + (1024ull << 52);
    const uint64_t raised = shifted >> 52;
    const double e = tl_f64_bits(raised | 0x4330000000000000ull) - (4503599627370496.0 + 1024.0);
    const double m = tl_f64_bits(tl_bits_f64(x) - ((raised - 1024) << 52));
    const double g = e == 0.0 ? f : m - 1.0;
    const double s = g / (g + 2.0), t = s * s;
    double p = 1.0 / 15;
    p = p * t + 1.0 / 13;
    p = p * t + 1.0 / 11;
    p = p * t + 1.0 / 9;
    p = p * t + 1.0 / 7;
    p = p * t + 1.0 / 5;
    p = p * t + 1.0 / 3;
    *rest = 2.0 * (s + s * (t * p));
    return e;
}

/* ln(1 + f) for f > -1 */
static inline double tl_log1p_wide(double f)
{
    double rest;
    const double e = tl_log_parts(1.0 + f, f, &rest);
    return e * 0.69314718055994531 + rest;
}

/* What every logarithm of an f32 answers where the formula does not hold. */
static inline float tl_log_ends(float x, float r)
{
    r = x == 0.0f ? -__builtin_inff() : r;
    r = x < 0.0f ? TL_NAN_F32 : r;
    return x < __builtin_inff() ? r : x;
}

static inline float tl_logf(float x)
{
    double rest;
    const double e = tl_log_parts(x, (double)x - 1.0, &rest);
    return tl_log_ends(x, (float)(e * 0.69314718055994531 + rest));
}

static inline float tl_log2f(float x)
{
    double rest;
    const double e = tl_log_parts(x, (double)x - 1.0, &rest);
    return tl_log_ends(x, (float)(rest * 1.4426950408889634 + e));
}

static inline float tl_log10f(float x)
{
    double rest;
    const double e = tl_log_parts(x, (double)x - 1.0, &rest);
    return tl_log_ends(x, (float)(e * 0.30102999566398120 + rest * 0.43429448190325183));
}

static inline float tl_log1pf(float x)
{
    const float r = (float)tl_log1p_wide(x);
    const float ends = tl_log_ends(x + 1.0f, r);
    return x > -1.0f && x < __builtin_inff() ? (x == 0.0f ? x : r) : ends;
}

static inline float tl_powf(float x, float y)
{
    const float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    double rest;
    const double e = tl_log_parts(a, (double)a - 1.0, &rest);
    float r = (float)tl_exp2_wide((double)y * (rest * 1.4426950408889634 + e));
    /* 0 and infinity to a power are one of the two; so is anything to an infinite one. */
    const int ends = (a == 0.0f) | (a == __builtin_inff());
    const int grows = (a > 1.0f) == (y > 0.0f);
    r = ends | (b == __builtin_inff()) ? (grows ? __builtin_inff() : 0.0f) : r;
    const int whole = (b >= 8388608.0f) | (__builtin_truncf(y) == y);
    const float half = b * 0.5f;
    const int odd = whole & (b < 16777216.0f) & (__builtin_truncf(half) != half);
    const int negative = tl_bits_f32(x) >> 31;
    r = negative & odd ? -r : r;
    r = (x < 0.0f) & !whole & (a != __builtin_inff()) ? TL_NAN_F32 : r;
    r = (a == 1.0f) & (b == __builtin_inff()) ? 1.0f : r;
    r = (x != x) | (y != y) ? x + y : r;
    return (x == 1.0f) | (y == 0.0f) ? 1.0f : r;
}

/* --- hyperbolic functions and their inverses ------------------------------------------------- */

static inline float tl_sinhf(float x)
{
    const double a = __builtin_fabsf(x), t = a * a;
    const double e = tl_exp_wide(a);
    const double small = a + a * t * (1.0 / 6 + t * (1.0 / 120 + t * (1.0 / 5040 + t / 362880)));
    const double big = (e - 1.0 / e) * 0.5;
    return __builtin_copysignf((float)(a < 0.5 ? small : big), x);
}

static inline float tl_coshf(float x)
{
    const double e = tl_exp_wide(__builtin_fabsf(x));
    return (float)((e + 1.0 / e) * 0.5);
}

static inline float tl_asinhf(float x)
{
    const double a = __builtin_fabsf(x), t = a * a;
    const double r = tl_log1p_wide(a + t / (1.0 + __builtin_sqrt(1.0 + t)));
    const float f = __builtin_fabsf(x) < __builtin_inff() ? (float)r : x;
    return __builtin_copysignf(f, x);
}

static inline float tl_acoshf(float x)
{
    const double t = (double)x - 1.0;
    const float r = (float)tl_log1p_wide(t + __builtin_sqrt(t * (t + 2.0)));
    return x >= 1.0f ? (x < __builtin_inff() ? r : x) : TL_NAN_F32;
}

static inline float tl_atanhf(float x)
{
    const double a = __builtin_fabsf(x);
    float r = (float)(0.5 * tl_log1p_wide(2.0 * a / (1.0 - a)));
    r = a == 1.0 ? __builtin_inff() : r;
    return a <= 1.0 ? __builtin_copysignf(r, x) : TL_NAN_F32;
}

/* --- inverse circular functions -------------------------------------------------------------- */

#define TL_PI 3.14159265358979323846

/* The angle of (x, y), both at least 0 and not both 0 or infinite. */
static inline double tl_angle(double x, double y)
{
    const double lo = x < y ? x : y, hi = x < y ? y : x;
    /* past tan(pi/8), turned back by pi/4 */
    const int far = lo > 0.41421356237309503 * hi;
    const double s = (far ? lo - hi : lo) / (far ? lo + hi : hi), t = s * s;
    double p = 3.0662440370424447e-2;
    p = p * t - 5.8745056213078309e-2;
    p = p * t + 7.5637035519151921e-2;
    p = p * t - 9.0783920729434239e-2;
    p = p * t + 1.1110385046148014e-1;
    p = p * t - 1.4285690423839287e-1;
    p = p * t + 1.9999999604891977e-1;
    p = p * t - 3.3333333330803444e-1;
    const double r = s + s * (t * p) + (far ? TL_PI / 4 : 0.0);
    return x < y ? TL_PI / 2 - r : r;
}

static inline float tl_atan2f(float y, float x)
{
    /* infinities count as 1 and what they meet as 0, unless both are infinite */
    const double inf = __builtin_inff();
    const double ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
    const int big = (ax == inf) | (ay == inf);
    const double u = big ? (ax == inf ? 1.0 : 0.0) : ax;
    const double v = big ? (ay == inf ? 1.0 : 0.0) : ay;
    const int none = (u == 0.0) & (v == 0.0);
    const double r = none ? 0.0 : tl_angle(none ? 1.0 : u, v);
    const float f = (float)(tl_bits_f32(x) >> 31 ? TL_PI - r : r);
    return (x != x) | (y != y) ? x + y : __builtin_copysignf(f, y);
}

static inline float tl_atanf(float x)
{
    return tl_atan2f(x, 1.0f);
}

static inline float tl_asinf(float x)
{
    const double a = __builtin_fabsf(x);
    const double r = tl_angle(__builtin_sqrt((1.0 - a) * (1.0 + a)), a);
    return a <= 1.0 ? __builtin_copysignf((float)r, x) : TL_NAN_F32;
}

static inline float tl_acosf(float x)
{
    const double a = __builtin_fabsf(x);
    const double r = tl_angle(a, __builtin_sqrt((1.0 - a) * (1.0 + a)));
    return a <= 1.0 ? (float)(x < 0.0f ? TL_PI - r : r) : TL_NAN_F32;
}

/* --- circular functions ---------------------------------------------------------------------- */

/* 2/pi * 2^(i - 35) modulo 4 in three parts, 29 bits, 29 bits and the rest: a product with the 24
   bits of an f32 is exact for the first two, whatever the size of the argument. */
static const double tl_two_over_pi[3 * 140] = {
    0x1.45f306dp-36, 0x1.9391054p-65, 0x1.4fe13abe8fa9ap-94,
    0x1.45f306dp-35, 0x1.9391054p-64, 0x1.4fe13abe8fa9ap-93,
    0x1.45f306dp-34, 0x1.9391054p-63, 0x1.4fe13abe8fa9ap-92,
    0x1.45f306dp-33, 0x1.9391054p-62, 0x1.4fe13abe8fa9ap-91,
    0x1.45f306dp-32, 0x1.9391054p-61, 0x1.4fe13abe8fa9ap-90,
    0x1.45f306dp-31, 0x1.9391054p-60, 0x1.4fe13abe8fa9ap-89,
    0x1.45f306dp-30, 0x1.9391054p-59, 0x1.4fe13abe8fa9ap-88,
    0x1.45f306dp-29, 0x1.9391054p-58, 0x1.4fe13abe8fa9ap-87,
    0x1.45f306dp-28, 0x1.9391054p-57, 0x1.4fe13abe8fa9ap-86,
    0x1.45f306dp-27, 0x1.9391054p-56, 0x1.4fe13abe8fa9ap-85,
    0x1.45f306dp-26, 0x1.9391054p-55, 0x1.4fe13abe8fa9ap-84,
    0x1.45f306dp-25, 0x1.9391054p-54, 0x1.4fe13abe8fa9ap-83,
    0x1.45f306dp-24, 0x1.9391054p-53, 0x1.4fe13abe8fa9ap-82,
    0x1.45f306dp-23, 0x1.9391054p-52, 0x1.4fe13abe8fa9ap-81,
    0x1.45f306dp-22, 0x1.9391054p-51, 0x1.4fe13abe8fa9ap-80,
    0x1.45f306dp-21, 0x1.9391054p-50, 0x1.4fe13abe8fa9ap-79,
    0x1.45f306dp-20, 0x1.9391054p-49, 0x1.4fe13abe8fa9ap-78,
    0x1.45f306dp-19, 0x1.9391054p-48, 0x1.4fe13abe8fa9ap-77,
    0x1.45f306dp-18, 0x1.9391054p-47, 0x1.4fe13abe8fa9ap-76,
    0x1.45f306dp-17, 0x1.9391054p-46, 0x1.4fe13abe8fa9ap-75,
    0x1.45f306dp-16, 0x1.9391054p-45, 0x1.4fe13abe8fa9ap-74,
    0x1.45f306dp-15, 0x1.9391054p-44, 0x1.4fe13abe8fa9ap-73,
    0x1.45f306dp-14, 0x1.9391054p-43, 0x1.4fe13abe8fa9ap-72,
    0x1.45f306dp-13, 0x1.9391054p-42, 0x1.4fe13abe8fa9ap-71,
    0x1.45f306dp-12, 0x1.9391054p-41, 0x1.4fe13abe8fa9ap-70,
    0x1.45f306dp-11, 0x1.9391054p-40, 0x1.4fe13abe8fa9ap-69,
    0x1.45f306dp-10, 0x1.9391054p-39, 0x1.4fe13abe8fa9ap-68,
    0x1.45f306dp-9, 0x1.9391054p-38, 0x1.4fe13abe8fa9ap-67,
    0x1.45f306dp-8, 0x1.9391054p-37, 0x1.4fe13abe8fa9ap-66,
    0x1.45f306dp-7, 0x1.9391054p-36, 0x1.4fe13abe8fa9ap-65,
    0x1.45f306dp-6, 0x1.9391054p-35, 0x1.4fe13abe8fa9ap-64,
    0x1.45f306dp-5, 0x1.9391054p-34, 0x1.4fe13abe8fa9ap-63,
    0x1.45f306dp-4, 0x1.9391054p-33, 0x1.4fe13abe8fa9ap-62,
    0x1.45f306dp-3, 0x1.9391054p-32, 0x1.4fe13abe8fa9ap-61,
    0x1.45f306dp-2, 0x1.9391054p-31, 0x1.4fe13abe8fa9ap-60,
    0x1.45f306cp-1, 0x1.c9c882ap-29, 0x1.4fe13abe8fa9ap-59,
    0x1.45f306cp+0, 0x1.c9c882ap-28, 0x1.4fe13abe8fa9ap-58,
    0x1.45f306dp+1, 0x1.9391054p-28, 0x1.4fe13abe8fa9ap-57,
    0x1.17cc1b6p+0, 0x1.27220a9p-28, 0x1.3f84eafa3ea6ap-58,
    0x1.17cc1b7p+1, 0x1.3910548p-30, 0x1.3f84eafa3ea6ap-57,
    0x1.7cc1b7p-2, 0x1.391054ap-29, 0x1.fc2757d1f534ep-59,
    0x1.7cc1b7p-1, 0x1.391054ap-28, 0x1.fc2757d1f534ep-58,
    0x1.7cc1b72p+0, 0x1.c882a5p-30, 0x1.fc2757d1f534ep-57,
    0x1.7cc1b72p+1, 0x1.c882a52p-29, 0x1.f84eafa3ea69cp-57,
    0x1.f306dc8p+0, 0x1.c882a53p-28, 0x1.f09d5f47d4d37p-57,
    0x1.f306dc9p+1, 0x1.91054a7p-28, 0x1.e13abe8fa9a6fp-57,
    0x1.e60db93p+1, 0x1.220a94fp-28, 0x1.c2757d1f534dep-57,
    0x1.cc1b727p+1, 0x1.1054a7cp-30, 0x1.84eafa3ea69bcp-57,
    0x1.9836e4ep+1, 0x1.1054a7ep-29, 0x1.09d5f47d4d377p-57,
    0x1.306dc9cp+1, 0x1.1054a7fp-28, 0x1.3abe8fa9a6eep-61,
    0x1.836e4e4p-1, 0x1.054a7fp-31, 0x1.3abe8fa9a6eep-60,
    0x1.836e4e4p+0, 0x1.054a7fp-30, 0x1.3abe8fa9a6eep-59,
    0x1.836e4e4p+1, 0x1.054a7fp-29, 0x1.3abe8fa9a6eep-58,
    0x1.06dc9c8p+1, 0x1.054a7fp-28, 0x1.3abe8fa9a6eep-57,
    0x1.b72722p-4, 0x1.529fc2p-33, 0x1.d5f47d4d37703p-59,
    0x1.b72722p-3, 0x1.529fc2p-32, 0x1.d5f47d4d37703p-58,
    0x1.b72722p-2, 0x1.529fc2p-31, 0x1.d5f47d4d37703p-57,
    0x1.b72722p-1, 0x1.529fc24p-30, 0x1.abe8fa9a6ee07p-57,
    0x1.b72722p+0, 0x1.529fc26p-29, 0x1.57d1f534ddc0ep-57,
    0x1.b72722p+1, 0x1.529fc27p-28, 0x1.5f47d4d377037p-58,
    0x1.6e4e441p+1, 0x1.4a7f09cp-29, 0x1.5f47d4d377037p-57,
    0x1.b939104p+0, 0x1.4a7f09dp-28, 0x1.7d1f534ddc0dbp-58,
    0x1.b939105p+1, 0x1.29fc274p-29, 0x1.7d1f534ddc0dbp-57,
    0x1.727220ap+1, 0x1.29fc275p-28, 0x1.f47d4d377036ep-58,
    0x1.c9c882ap+0, 0x1.4fe13a8p-30, 0x1.f47d4d377036ep-57,
    0x1.c9c882ap+1, 0x1.4fe13aap-29, 0x1.e8fa9a6ee06dbp-57,
    0x1.9391054p+1, 0x1.4fe13abp-28, 0x1.d1f534ddc0db6p-57,
    0x1.27220a9p+1, 0x1.3f84eaep-29, 0x1.a3ea69bb81b6cp-57,
    0x1.3910548p-1, 0x1.3f84eafp-28, 0x1.47d4d377036d9p-57,
    0x1.391054ap+0, 0x1.fc2757cp-30, 0x1.1f534ddc0db63p-58,
    0x1.391054ap+1, 0x1.fc2757cp-29, 0x1.1f534ddc0db63p-57,
    0x1.c882a5p-1, 0x1.fc2757dp-28, 0x1.f534ddc0db629p-60,
    0x1.c882a52p+0, 0x1.f84eafap-28, 0x1.f534ddc0db629p-59,
    0x1.c882a53p+1, 0x1.f09d5f4p-28, 0x1.f534ddc0db629p-58,
    0x1.91054a7p+1, 0x1.e13abe8p-28, 0x1.f534ddc0db629p-57,
    0x1.220a94fp+1, 0x1.c2757d1p-28, 0x1.ea69bb81b6c53p-57,
    0x1.1054a7cp-1, 0x1.84eafa3p-28, 0x1.d4d377036d8a5p-57,
    0x1.1054a7ep+0, 0x1.09d5f47p-28, 0x1.a9a6ee06db14bp-57,
    0x1.1054a7fp+1, 0x1.3abe8fp-32, 0x1.534ddc0db6296p-57,
    0x1.054a7fp-2, 0x1.3abe8f8p-31, 0x1.4d377036d8a56p-58,
    0x1.054a7fp-1, 0x1.3abe8f8p-30, 0x1.4d377036d8a56p-57,
    0x1.054a7fp+0, 0x1.3abe8fap-29, 0x1.34ddc0db6295ap-58,
    0x1.054a7fp+1, 0x1.3abe8fap-28, 0x1.34ddc0db6295ap-57,
    0x1.529fc2p-4, 0x1.d5f47d4p-30, 0x1.a6ee06db14acdp-59,
    0x1.529fc2p-3, 0x1.d5f47d4p-29, 0x1.a6ee06db14acdp-58,
    0x1.529fc2p-2, 0x1.d5f47d4p-28, 0x1.a6ee06db14acdp-57,
    0x1.529fc24p-1, 0x1.abe8fa9p-28, 0x1.4ddc0db629599p-57,
    0x1.529fc26p+0, 0x1.57d1f53p-28, 0x1.377036d8a5665p-58,
    0x1.529fc27p+1, 0x1.5f47d4cp-29, 0x1.377036d8a5665p-57,
    0x1.4a7f09cp+0, 0x1.5f47d4dp-28, 0x1.bb81b6c52b328p-59,
    0x1.4a7f09dp+1, 0x1.7d1f534p-29, 0x1.bb81b6c52b328p-58,
    0x1.29fc274p+0, 0x1.7d1f534p-28, 0x1.bb81b6c52b328p-57,
    0x1.29fc275p+1, 0x1.f47d4d2p-29, 0x1.77036d8a5664fp-57,
    0x1.4fe13a8p-1, 0x1.f47d4d3p-28, 0x1.dc0db6295993cp-58,
    0x1.4fe13aap+0, 0x1.e8fa9a6p-28, 0x1.dc0db6295993cp-57,
    0x1.4fe13abp+1, 0x1.d1f534dp-28, 0x1.b81b6c52b3279p-57,
    0x1.3f84eaep+0, 0x1.a3ea69bp-28, 0x1.7036d8a5664f1p-57,
    0x1.3f84eafp+1, 0x1.47d4d37p-28, 0x1.c0db6295993c4p-58,
    0x1.fc2757cp-1, 0x1.1f534dcp-29, 0x1.c0db6295993c4p-57,
    0x1.fc2757cp+0, 0x1.1f534ddp-28, 0x1.81b6c52b32788p-57,
    0x1.fc2757dp+1, 0x1.f534dd8p-31, 0x1.036d8a5664f11p-57,
    0x1.f84eafap+1, 0x1.f534ddcp-30, 0x1.b6c52b3278872p-63,
    0x1.f09d5f4p+1, 0x1.f534ddcp-29, 0x1.b6c52b3278872p-62,
    0x1.e13abe8p+1, 0x1.f534ddcp-28, 0x1.b6c52b3278872p-61,
    0x1.c2757d1p+1, 0x1.ea69bb8p-28, 0x1.b6c52b3278872p-60,
    0x1.84eafa3p+1, 0x1.d4d377p-28, 0x1.b6c52b3278872p-59,
    0x1.09d5f47p+1, 0x1.a9a6eep-28, 0x1.b6c52b3278872p-58,
    0x1.3abe8fp-3, 0x1.534ddcp-28, 0x1.b6c52b3278872p-57,
    0x1.3abe8f8p-2, 0x1.4d37702p-29, 0x1.6d8a5664f10e4p-57,
    0x1.3abe8f8p-1, 0x1.4d37703p-28, 0x1.b6295993c439p-58,
    0x1.3abe8fap+0, 0x1.34ddc0cp-29, 0x1.b6295993c439p-57,
    0x1.3abe8fap+1, 0x1.34ddc0dp-28, 0x1.6c52b32788721p-57,
    0x1.d5f47d4p-1, 0x1.a6ee06cp-30, 0x1.b14acc9e21c82p-58,
    0x1.d5f47d4p+0, 0x1.a6ee06cp-29, 0x1.b14acc9e21c82p-57,
    0x1.d5f47d4p+1, 0x1.a6ee06dp-28, 0x1.6295993c43904p-57,
    0x1.abe8fa9p+1, 0x1.4ddc0dbp-28, 0x1.8a5664f10e41p-58,
    0x1.57d1f53p+1, 0x1.377036cp-29, 0x1.8a5664f10e41p-57,
    0x1.5f47d4cp+0, 0x1.377036dp-28, 0x1.14acc9e21c821p-57,
    0x1.5f47d4dp+1, 0x1.bb81b6cp-30, 0x1.4acc9e21c821p-60,
    0x1.7d1f534p+0, 0x1.bb81b6cp-29, 0x1.4acc9e21c821p-59,
    0x1.7d1f534p+1, 0x1.bb81b6cp-28, 0x1.4acc9e21c821p-58,
    0x1.f47d4d2p+0, 0x1.77036d8p-28, 0x1.4acc9e21c821p-57,
    0x1.f47d4d3p+1, 0x1.dc0db62p-29, 0x1.2b3278872084p-58,
    0x1.e8fa9a6p+1, 0x1.dc0db62p-28, 0x1.2b3278872084p-57,
    0x1.d1f534dp+1, 0x1.b81b6c5p-28, 0x1.5993c439041fep-59,
    0x1.a3ea69bp+1, 0x1.7036d8ap-28, 0x1.5993c439041fep-58,
    0x1.47d4d37p+1, 0x1.c0db628p-29, 0x1.5993c439041fep-57,
    0x1.1f534dcp+0, 0x1.c0db629p-28, 0x1.664f10e4107f9p-58,
    0x1.1f534ddp+1, 0x1.81b6c52p-28, 0x1.664f10e4107f9p-57,
    0x1.f534dd8p-2, 0x1.036d8a5p-28, 0x1.993c439041fe5p-58,
    0x1.f534ddcp-1, 0x1.b6c528p-34, 0x1.993c439041fe5p-57,
    0x1.f534ddcp+0, 0x1.b6c52ap-33, 0x1.3278872083fcap-57,
    0x1.f534ddcp+1, 0x1.b6c52bp-32, 0x1.93c439041fe51p-59,
    0x1.ea69bb8p+1, 0x1.b6c52bp-31, 0x1.93c439041fe51p-58,
    0x1.d4d377p+1, 0x1.b6c52bp-30, 0x1.93c439041fe51p-57,
    0x1.a9a6eep+1, 0x1.b6c52b2p-29, 0x1.278872083fca3p-57,
    0x1.534ddcp+1, 0x1.b6c52b3p-28, 0x1.3c439041fe516p-59,
    0x1.4d37702p+0, 0x1.6d8a566p-28, 0x1.3c439041fe516p-58,
    0x1.4d37703p+1, 0x1.b629598p-29, 0x1.3c439041fe516p-57,
    0x1.34ddc0cp+0, 0x1.b629599p-28, 0x1.e21c820ff28b2p-59,
};

#define TL_TRIG_FIRST 115

/* |x| = (k + f) * pi/2 with |f| <= 1/2; returns f, *quadrant is k modulo 4. Holds for every finite
   x of at least 2^-12. */
static inline double tl_quarter(float x, uint64_t *quadrant)
{
    const uint32_t mag = tl_bits_f32(x) & TL_MAG;
    int32_t row = (int32_t)(mag >> 23) - TL_TRIG_FIRST;
    row = row < 0 ? 0 : row;
    row = row > 139 ? 139 : row;
    const double m = (double)(int32_t)((mag & 0x7fffffu) | 0x800000u);
    const double *const part = tl_two_over_pi;
    const int32_t at = 3 * row;
    const double a = m * part[at], b = m * part[at + 1];
    const double z = (a + b) + TL_ROUND_F64;
    *quadrant = tl_bits_f64(z) & 3;
    return ((a - (z - TL_ROUND_F64)) + b) + m * part[at + 2];
}

static inline double tl_sin_core(double f)
{
    const double r = f * (TL_PI / 2), t = r * r;
    double p = 1.0 / 6227020800.0;
    p = p * t - 1.0 / 39916800.0;
    p = p * t + 1.0 / 362880.0;
    p = p * t - 1.0 / 5040.0;
    p = p * t + 1.0 / 120.0;
    p = p * t - 1.0 / 6.0;
    return r + r * (t * p);
}

static inline double tl_cos_core(double f)
{
    const double r = f * (TL_PI / 2), t = r * r;
    double p = 1.0 / 479001600.0;
    p = p * t - 1.0 / 3628800.0;
    p = p * t + 1.0 / 40320.0;
    p = p * t - 1.0 / 720.0;
    p = p * t + 1.0 / 24.0;
    p = p * t - 0.5;
    return p * t + 1.0;
}

#define TL_TINY_ANGLE 2.44140625e-4f

static inline float tl_sinf(float x)
{
    uint64_t k;
    const double f = tl_quarter(x, &k);
    const double s = tl_sin_core(f), c = tl_cos_core(f);
    const double v = k & 1 ? c : s;
    float r = (float)(k & 2 ? -v : v);
    r = tl_f32_bits(tl_bits_f32(r) ^ (tl_bits_f32(x) & 0x80000000u));
    r = __builtin_fabsf(x) < TL_TINY_ANGLE ? x : r;
    return __builtin_fabsf(x) < __builtin_inff() ? r : TL_NAN_F32;
}

static inline float tl_cosf(float x)
{
    uint64_t k;
    const double f = tl_quarter(x, &k);
    const double s = tl_sin_core(f), c = tl_cos_core(f);
    const double v = k & 1 ? s : c;
    float r = (float)((k + 1) & 2 ? -v : v);
    r = __builtin_fabsf(x) < TL_TINY_ANGLE ? 1.0f : r;
    return __builtin_fabsf(x) < __builtin_inff() ? r : TL_NAN_F32;
}

static inline float tl_tanf(float x)
{
    uint64_t k;
    const double f = tl_quarter(x, &k);
    const double s = tl_sin_core(f), c = tl_cos_core(f);
    float r = (float)((k & 1 ? -c : s) / (k & 1 ? s : c));
    r = tl_f32_bits(tl_bits_f32(r) ^ (tl_bits_f32(x) & 0x80000000u));
    r = __builtin_fabsf(x) < TL_TINY_ANGLE ? x : r;
    return __builtin_fabsf(x) < __builtin_inff() ? r : TL_NAN_F32;
}

#endif
