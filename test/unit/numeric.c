/* numeric.c -- conversions against every pattern of the small types and a slow reference.
 *
 * The reference knows only num_decode: the nearest of all finite values of the type, ties to the
 * even pattern.  num_decode itself is checked against values written down by hand. */
#include <math.h>
#include "ir/ir.h"
#include "test.h"

static const DType small[] = {
    DT_E3M4, DT_E4M3, DT_E4M3B11, DT_E4M3FNUZ, DT_E5M2, DT_E5M2FNUZ, DT_E8M0, DT_E2M3, DT_E3M2,
    DT_E2M1, DT_F16, DT_BF16,
};

/* Bits that a pattern has: fp6 lives in a byte. */
static int pattern_bits(DType t)
{
    return t == DT_E2M3 || t == DT_E3M2 ? 6 : dtype_bits(t);
}

static uint64_t random_next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/* A double of any exponent near the range of t, sometimes exactly between two values. */
static double random_near(uint64_t *s, DType t)
{
    double m = 1.0 + ldexp((double)(random_next(s) >> 12), -52);
    int e = (int)(random_next(s) % 64) - 32 + (int)(random_next(s) % 300 ? 0 : 200);
    if (t == DT_BF16 || t == DT_E8M0)
        e = (int)(random_next(s) % 290) - 145;
    if (random_next(s) % 4 == 0)
        m = 1.0 + ldexp((double)(random_next(s) % 4096), -12); /* few bits: many ties */
    return random_next(s) & 1 ? ldexp(m, e) : -ldexp(m, e);
}

/* Sorted by magnitude, the positive finite patterns of t are 0, 1, 2, … */
static int finite_count(DType t)
{
    int n = t == DT_E8M0 ? 256 : 1 << (pattern_bits(t) - 1);
    while (n > 0 && !isfinite(num_decode(t, (uint64_t)(n - 1))))
        n--;
    return n;
}

static double reference(DType t, double v, int count)
{
    double x = fabs(v);
    int low = 0, high = count - 1;
    if (x >= num_decode(t, (uint64_t)high)) {
        /* Past the middle of the last step an unsaturated type gives infinity. */
        double last = num_decode(t, (uint64_t)high), before = num_decode(t, (uint64_t)high - 1);
        bool over = x >= last + (last - before) / 2;
        bool saturates = t != DT_F16 && t != DT_BF16;
        return copysign(over && !saturates ? INFINITY : last, v);
    }
    if (x <= num_decode(t, 0))
        return copysign(num_decode(t, 0), v);
    while (high - low > 1) {
        int mid = (low + high) / 2;
        if (num_decode(t, (uint64_t)mid) <= x)
            low = mid;
        else
            high = mid;
    }
    double a = num_decode(t, (uint64_t)low), b = num_decode(t, (uint64_t)high);
    double below = x - a, above = b - x; /* exact: the values are within a factor of two, or tiny */
    if (below < above || (below == above && low % 2 == 0))
        return copysign(a, v);
    return copysign(b, v);
}

TEST(patterns_survive_decoding_and_encoding)
{
    for (int i = 0; i < COUNT(small); i++) {
        DType t = small[i];
        uint64_t n = UINT64_C(1) << pattern_bits(t);
        for (uint64_t b = 0; b < n; b++) {
            double v = num_decode(t, b);
            if (isnan(v))
                CHECK(isnan(num_decode(t, num_encode(t, v))));
            else
                CHECK_INT(num_encode(t, v), b);
            if (isfinite(v))
                CHECK(num_round(t, v) == v && signbit(num_round(t, v)) == signbit(v));
        }
    }
}

TEST(positive_patterns_are_in_order)
{
    for (int i = 0; i < COUNT(small); i++) {
        int n = finite_count(small[i]);
        CHECK(n > 4);
        for (int b = 1; b < n; b++)
            CHECK(num_decode(small[i], (uint64_t)b) > num_decode(small[i], (uint64_t)b - 1));
        CHECK(num_decode(small[i], (uint64_t)n - 1) == num_largest(small[i]));
    }
}

TEST(values_written_down)
{
    CHECK(num_decode(DT_F16, 0x3c00) == 1 && num_decode(DT_F16, 1) == ldexp(1, -24));
    CHECK(num_decode(DT_BF16, 0x3f80) == 1 && num_decode(DT_BF16, 0xc000) == -2);
    CHECK(num_decode(DT_E4M3, 0x38) == 1 && num_decode(DT_E4M3, 0x7e) == 448);
    CHECK(isnan(num_decode(DT_E4M3, 0x7f)) && isnan(num_decode(DT_E4M3, 0xff)));
    CHECK(num_decode(DT_E5M2, 0x3c) == 1 && isinf(num_decode(DT_E5M2, 0x7c)));
    CHECK(num_decode(DT_E4M3FNUZ, 0x40) == 1 && isnan(num_decode(DT_E4M3FNUZ, 0x80)));
    CHECK(num_decode(DT_E5M2FNUZ, 0x40) == 1 && num_decode(DT_E4M3B11, 0x58) == 1);
    CHECK(num_decode(DT_E3M4, 0x30) == 1 && isinf(num_decode(DT_E3M4, 0x70)));
    CHECK(num_decode(DT_E8M0, 127) == 1 && isnan(num_decode(DT_E8M0, 255)));
    CHECK(num_decode(DT_E2M1, 7) == 6 && num_decode(DT_E2M1, 1) == 0.5);
    CHECK(num_decode(DT_E2M3, 8) == 1 && num_decode(DT_E3M2, 12) == 1);
    CHECK(num_decode(DT_F32, 0x3fc00000) == 1.5 && num_decode(DT_TF32, 0x3fc00000) == 1.5);
}

TEST(midpoints_go_to_the_even_pattern)
{
    for (int i = 0; i < COUNT(small); i++) {
        int n = finite_count(small[i]);
        for (int b = 0; b + 1 < n; b++) {
            double x = num_decode(small[i], (uint64_t)b), y = num_decode(small[i], (uint64_t)b + 1);
            double mid = x + (y - x) / 2;
            CHECK_INT(num_encode(small[i], mid), b % 2 ? b + 1 : b);
            CHECK_INT(num_encode(small[i], nextafter(mid, 0)), b);
            CHECK_INT(num_encode(small[i], nextafter(mid, INFINITY)), b + 1);
        }
    }
}

TEST(random_numbers_match_the_reference)
{
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < COUNT(small); i++) {
        DType t = small[i];
        int count = finite_count(t);
        for (int j = 0; j < 50000; j++) {
            double v = random_near(&seed, t);
            if (t == DT_E8M0)
                v = fabs(v);
            double got = num_round(t, v), want = reference(t, v, count);
            if (t == DT_E4M3FNUZ || t == DT_E4M3B11 || t == DT_E5M2FNUZ)
                want += 0.0; /* they have no minus zero */
            CHECK(got == want);
            CHECK((signbit(got) != 0) == (signbit(want) != 0) || want == 0);
        }
    }
}

TEST(float32_is_what_the_processor_does)
{
    uint64_t seed = 1234567;
    for (int j = 0; j < 200000; j++) {
        uint64_t bits = random_next(&seed);
        double v;
        if (j % 2) /* exponents around the edges of float32 */
            bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (uint64_t)(860 + bits % 300) << 52;
        memcpy(&v, &bits, sizeof v);
        if (isnan(v))
            continue;
        volatile float f = (float)v;
        CHECK(num_round(DT_F32, v) == (double)f);
        uint32_t pattern;
        float plain = f;
        memcpy(&pattern, &plain, sizeof pattern);
        CHECK_INT(num_encode(DT_F32, v), pattern);
        CHECK(num_decode(DT_F32, pattern) == (double)f);
    }
}

TEST(special_values)
{
    CHECK(isinf(num_round(DT_F16, 65520)) && num_round(DT_F16, 65519.999) == 65504);
    CHECK(isinf(num_round(DT_BF16, 3.4e38)) && isinf(num_round(DT_F32, 1e39)));
    CHECK(num_round(DT_E4M3, 1e30) == 448 && num_round(DT_E4M3, -INFINITY) == -448);
    CHECK(num_round(DT_E5M2, INFINITY) == 57344 && num_encode(DT_E5M2, INFINITY) == 0x7c);
    CHECK(isnan(num_round(DT_E4M3, NAN)) && num_encode(DT_E4M3, NAN) == 0x7f);
    CHECK(num_round(DT_E2M1, NAN) == 6 && num_encode(DT_E2M3, NAN) == 0x1f);
    CHECK_INT(num_encode(DT_E4M3FNUZ, -0.0), 0);
    CHECK_INT(num_encode(DT_E4M3FNUZ, -1e-9), 0);
    CHECK_INT(num_encode(DT_F16, -0.0), 0x8000);
    CHECK(isnan(num_round(DT_E8M0, -1)) && num_encode(DT_E8M0, 0) == 0);
    CHECK(num_round(DT_TF32, 1 + ldexp(1, -11)) == 1 &&
          num_round(DT_TF32, 1 + 3 * ldexp(1, -11)) == 1 + ldexp(1, -9));
}

TEST(integers_wrap_and_convert)
{
    CHECK_INT(num_wrap(DT_I8, 200), -56);
    CHECK_INT(num_wrap(DT_U8, -1), 255);
    CHECK_INT(num_wrap(DT_I4, 9), -7);
    CHECK_INT(num_wrap(DT_BOOL, 256), 1);
    CHECK_INT(num_from_float(DT_I8, -1000), -128);
    CHECK_INT(num_from_float(DT_U8, -3), 0);
    CHECK_INT(num_from_float(DT_I32, 2.9), 2);
    CHECK_INT(num_from_float(DT_I32, -2.9), -2);
    CHECK_INT(num_from_float(DT_I32, NAN), 0);
    CHECK(num_from_float(DT_I64, 1e30) == INT64_MAX && num_from_float(DT_I64, -1e30) == INT64_MIN);
    CHECK((uint64_t)num_from_float(DT_U64, 1.8e19) == UINT64_C(18000000000000000000));
    CHECK((uint64_t)num_from_float(DT_U64, 1e30) == UINT64_MAX);
}

TEST(wide_integers_round_once)
{
    uint64_t seed = 99;
    /* Just above a tie of float32, the part below a double's precision decides. */
    int64_t tie = (INT64_C(1) << 62) + (INT64_C(1) << 38);
    CHECK(num_from_int(DT_I64, tie, DT_F32) == ldexp(1, 62));
    CHECK(num_from_int(DT_I64, tie + 1, DT_F32) == ldexp(1, 62) + ldexp(1, 39));
    CHECK(num_from_int(DT_I64, -(tie + 1), DT_F32) == -ldexp(1, 62) - ldexp(1, 39));
    for (int i = 0; i < 100000; i++) {
        uint64_t v = random_next(&seed) >> (random_next(&seed) % 64);
        volatile float f = (float)v, g = (float)(int64_t)v;
        volatile double d = (double)v, e = (double)(int64_t)v;
        CHECK(num_from_int(DT_U64, (int64_t)v, DT_F32) == (double)f);
        CHECK(num_from_int(DT_I64, (int64_t)v, DT_F32) == (double)g);
        CHECK(num_from_int(DT_U64, (int64_t)v, DT_F64) == d);
        CHECK(num_from_int(DT_I64, (int64_t)v, DT_F64) == e);
    }
    CHECK(isinf(num_from_int(DT_I64, 100000, DT_F16)));
}

TEST(storage_is_packed_low_half_first)
{
    unsigned char bytes[4] = {0};
    double f;
    int64_t n;
    num_store(DT_E2M1, bytes, 0, 6, 0);
    num_store(DT_E2M1, bytes, 1, -0.5, 0);
    CHECK_INT(bytes[0], 0x97);
    num_load(DT_E2M1, bytes, 1, &f, NULL);
    CHECK(f == -0.5);
    num_store(DT_I4, bytes, 3, 0, -2);
    num_load(DT_I4, bytes, 3, NULL, &n);
    CHECK_INT(n, -2);
    CHECK_INT(bytes[1], 0xe0);
    num_store(DT_BF16, bytes, 1, 1.0, 0);
    CHECK(bytes[2] == 0x80 && bytes[3] == 0x3f);
}

TEST(decimal_literals)
{
    CHECK(num_parse("1.5", 3) == 1.5 && num_parse("1e-3", 4) == 1e-3);
    CHECK(num_parse("1_000.25e2", 10) == 100025.0);
    CHECK(num_parse("0.1", 3) == 0.1 && num_parse("123456789012345678", 18) == 123456789012345678.0);
    CHECK(num_parse("4.9e-324", 8) == 4.9e-324 && isinf(num_parse("1e999", 5)));
}
