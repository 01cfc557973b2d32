/* cpu_convert.c -- tests of device/cpu/convert.h against a search over every code of a format. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../../device/cpu/convert.h"
#include "test.h"

typedef enum { ENDS_IEEE, ENDS_FN, ENDS_FNUZ, ENDS_NONE } Ends;

typedef struct {
    const char *name;
    int exponent, mantissa, bias;
    Ends ends;
    int saturates;
    float (*decode)(unsigned);
    unsigned (*encode)(float);
} Format;

#define PAIR(word, T)                                                                              \
    static float decode_##word(unsigned b) { return tl_##word##_to_f32((T)b); }                    \
    static unsigned encode_##word(float x) { return tl_f32_to_##word(x); }
PAIR(f16, uint16_t)
PAIR(bf16, uint16_t)
PAIR(e4m3fn, uint8_t)
PAIR(e5m2, uint8_t)
PAIR(e4m3fnuz, uint8_t)
PAIR(e5m2fnuz, uint8_t)
PAIR(e3m4, uint8_t)
PAIR(e4m3b11fnuz, uint8_t)
PAIR(e2m3, uint8_t)
PAIR(e3m2, uint8_t)
PAIR(e2m1, uint8_t)

#define ROW(word, e, m, bias, ends, sat)                                                           \
    {#word, e, m, bias, ends, sat, decode_##word, encode_##word}
static const Format formats[] = {
    ROW(f16, 5, 10, 15, ENDS_IEEE, 0),     ROW(bf16, 8, 7, 127, ENDS_IEEE, 0),
    ROW(e4m3fn, 4, 3, 7, ENDS_FN, 1),      ROW(e5m2, 5, 2, 15, ENDS_IEEE, 1),
    ROW(e4m3fnuz, 4, 3, 8, ENDS_FNUZ, 1),  ROW(e5m2fnuz, 5, 2, 16, ENDS_FNUZ, 1),
    ROW(e3m4, 3, 4, 3, ENDS_IEEE, 1),      ROW(e4m3b11fnuz, 4, 3, 11, ENDS_FNUZ, 1),
    ROW(e2m3, 2, 3, 1, ENDS_NONE, 1),      ROW(e3m2, 3, 2, 3, ENDS_NONE, 1),
    ROW(e2m1, 2, 1, 1, ENDS_NONE, 1),
};
enum { NFORMATS = sizeof formats / sizeof *formats };

static float from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

static unsigned sign_bit(const Format *f)
{
    return 1u << (f->exponent + f->mantissa);
}

/* Value of a code without sign, from the definition of the format. */
static double magnitude(const Format *f, unsigned b)
{
    unsigned m = b & ((1u << f->mantissa) - 1), e = b >> f->mantissa;
    if (f->ends == ENDS_IEEE && e == (1u << f->exponent) - 1)
        return m ? NAN : INFINITY;
    if (f->ends == ENDS_FN && b == sign_bit(f) - 1)
        return NAN;
    if (!e)
        return ldexp(m, 1 - f->bias - f->mantissa);
    return ldexp(m | 1u << f->mantissa, (int)e - f->bias - f->mantissa);
}

static unsigned largest_finite(const Format *f)
{
    unsigned top = sign_bit(f) - 1;
    while (!isfinite(magnitude(f, top)))
        top--;
    return top;
}

static unsigned nearest(const Format *f, double a, unsigned top)
{
    unsigned lo = 0, hi = top;
    while (lo < hi) {
        unsigned mid = (lo + hi + 1) / 2;
        if (magnitude(f, mid) <= a)
            lo = mid;
        else
            hi = mid - 1;
    }
    double below = magnitude(f, lo);
    double above = lo < top ? magnitude(f, lo + 1) : 2 * below - magnitude(f, lo - 1);
    unsigned up = a - below > above - a || (a - below == above - a && lo % 2);
    if (lo == top && f->saturates)
        up = 0;
    return lo + (isinf(a) && !f->saturates ? 1 : up);
}

TEST(every_code_decodes)
{
    for (int i = 0; i < NFORMATS; i++) {
        const Format *f = &formats[i];
        for (unsigned b = 0; b < 2 * sign_bit(f); b++) {
            double v = magnitude(f, b & (sign_bit(f) - 1));
            v = b & sign_bit(f) ? -v : v;
            if (f->ends == ENDS_FNUZ && b == sign_bit(f))
                v = NAN;
            float got = f->decode(b);
            CHECK(isnan(v) ? isnan(got) : got == v && !signbit(got) == !signbit(v));
        }
    }
}

/* Random bits, bits with a short mantissa (ties), and the ends of the range. */
static float sample(uint32_t *state, int i)
{
    *state = *state * 1664525u + 1013904223u;
    uint32_t u = *state;
    if (i % 3 == 1)
        u &= 0xfff00000u | (0x80000u >> (u & 15));
    if (i % 3 == 2)
        u = (u & 0x807fffffu) | ((u >> 5 & 31) + 110u) << 23;
    return from_bits(u);
}

TEST(encoding_takes_the_nearest)
{
    uint32_t state = 7;
    for (int i = 0; i < NFORMATS; i++) {
        const Format *f = &formats[i];
        unsigned top = largest_finite(f);
        for (int n = 0; n < 200000; n++) {
            float x = n == 0 ? INFINITY : n == 1 ? -INFINITY : n == 2 ? -0.0f : sample(&state, n);
            unsigned got = f->encode(x);
            if (isnan(x)) {
                CHECK(f->ends == ENDS_NONE ? (got & 7) == 7 : isnan(f->decode(got)));
                continue;
            }
            unsigned want = nearest(f, fabs((double)x), top);
            if (signbit(x) && !(f->ends == ENDS_FNUZ && !want))
                want |= sign_bit(f);
            CHECK_INT(got, want);
        }
    }
}

TEST(scales_are_powers_of_two)
{
    for (int b = 0; b < 255; b++) {
        CHECK(tl_e8m0_to_f32((uint8_t)b) == (float)ldexp(1, b - 127));
        CHECK_INT(tl_f32_to_e8m0((float)ldexp(1, b - 127)), b);
    }
    CHECK(isnan(tl_e8m0_to_f32(255)));
    CHECK_INT(tl_f32_to_e8m0(NAN), 255);
    CHECK_INT(tl_f32_to_e8m0(INFINITY), 254);
    CHECK_INT(tl_f32_to_e8m0(0), 0);
    CHECK_INT(tl_f32_to_e8m0(1.499f), 127);
    CHECK_INT(tl_f32_to_e8m0(1.5f), 128);
}

TEST(tf32_keeps_ten_bits)
{
    CHECK(tl_f32_to_tf32(1.0f) == 1.0f);
    CHECK(tl_f32_to_tf32(from_bits(0x3f801000u)) == 1.0f);
    CHECK(tl_f32_to_tf32(from_bits(0x3f803000u)) == from_bits(0x3f804000u));
    CHECK(tl_f32_to_tf32(INFINITY) == INFINITY);
    CHECK(isnan(tl_f32_to_tf32(NAN)));
}
