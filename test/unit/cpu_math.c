/* cpu_math.c -- tests of device/cpu/math.h against the f64 library, in units of the last place. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../device/cpu/math.h"
#include "test.h"

typedef struct {
    const char *name;
    float (*got)(float);
    double (*want)(double);
} Case;

static double sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double exp_ten(double x)
{
    return pow(10, x);
}

static const Case cases[] = {
    {"exp", tl_expf, exp},       {"exp2", tl_exp2f, exp2},    {"exp10", tl_exp10f, exp_ten},
    {"log", tl_logf, log},       {"log2", tl_log2f, log2},    {"log10", tl_log10f, log10},
    {"log1p", tl_log1pf, log1p}, {"tanh", tl_tanhf, tanh},    {"erf", tl_erff, erf},
    {"sin", tl_sinf, sin},       {"cos", tl_cosf, cos},       {"tan", tl_tanf, tan},
    {"sinh", tl_sinhf, sinh},    {"cosh", tl_coshf, cosh},    {"asin", tl_asinf, asin},
    {"acos", tl_acosf, acos},    {"atan", tl_atanf, atan},    {"asinh", tl_asinhf, asinh},
    {"acosh", tl_acoshf, acosh}, {"atanh", tl_atanhf, atanh}, {"sigmoid", tl_sigmoidf, sigmoid},
    {"rsqrt", tl_rsqrtf, rsqrt},
};
enum { NCASES = sizeof cases / sizeof *cases };

static const double MOST_ULP = 2.0;
static const double WRONG = 1e9;

static double ulps(float got, double want)
{
    float near = (float)want;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : WRONG;
    if (isinf(near) || isinf(got))
        return near == got ? 0 : fabs((double)(isinf(near) ? got : near)) > 3.40282e38 ? 1 : WRONG;
    if (want == 0 && got == 0)
        return !signbit(want) == !signbit(got) ? 0 : WRONG;
    int e;
    frexp(want, &e);
    return fabs(got - want) / ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

static float from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

TEST(functions_stay_within_two_units)
{
    enum { STEP = 19997 }; /* a prime: every exponent with 400 mantissas of either sign */
    for (int i = 0; i < NCASES; i++)
        for (uint64_t u = 0; u <= UINT32_MAX; u += STEP) {
            float x = from_bits((uint32_t)u);
            double off = ulps(cases[i].got(x), cases[i].want(x));
            if (!(off <= MOST_ULP))
                fprintf(stderr, "%s(%a) is off by %g\n", cases[i].name, x, off);
            CHECK(off <= MOST_ULP);
        }
}

static const float ends[] = {
    0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 3.0f, -3.0f, 0.5f, -0.5f, INFINITY, -INFINITY, NAN,
    1e-40f, -1e-40f, 1.5f, 8388608.0f, 8388609.0f, -16777216.0f, 1e30f, -1e30f, 3.4028235e38f,
    0.99999994f, 1.0000001f, 1.57079637f, 3.14159274f, 88.72284f, -103.98f, 1.40129846e-45f,
};
enum { NENDS = sizeof ends / sizeof *ends };

TEST(ends_of_the_range)
{
    for (int i = 0; i < NCASES; i++)
        for (int j = 0; j < NENDS; j++)
            CHECK(ulps(cases[i].got(ends[j]), cases[i].want(ends[j])) <= MOST_ULP);
}

TEST(functions_of_two_arguments)
{
    for (int i = 0; i < NENDS; i++)
        for (int j = 0; j < NENDS; j++) {
            CHECK(ulps(tl_powf(ends[i], ends[j]), pow(ends[i], ends[j])) <= MOST_ULP);
            CHECK(ulps(tl_atan2f(ends[i], ends[j]), atan2(ends[i], ends[j])) <= MOST_ULP);
        }
    uint32_t s = 1;
    for (int i = 0; i < 300000; i++) {
        float x = from_bits(s = s * 1664525u + 1013904223u);
        float y = from_bits(s = s * 1664525u + 1013904223u);
        CHECK(ulps(tl_atan2f(x, y), atan2(x, y)) <= MOST_ULP);
        CHECK(ulps(tl_powf(x, y), pow(x, y)) <= MOST_ULP);
        float p = (float)(int32_t)s * 1e-8f;
        CHECK(ulps(tl_powf(fabsf(x), p), pow(fabsf(x), p)) <= MOST_ULP);
    }
}
