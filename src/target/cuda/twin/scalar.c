/* scalar.c -- instructions of one thread that compute: conversions, quick functions, sums of narrow
 * floats in memory. */
#include <math.h>
#include "target/cuda/twin/ptx.h"

/* ---- conversions ----------------------------------------------------------------------------- */

static double f32_of(const void *p)
{
    return (double)float_at(p);
}

/* What .satfinite does: 8-bit floats have no overflow. */
static uint64_t encode(DType t, double v)
{
    if (dtype_bits(t) == 8 && v == v)
        v = fmax(fmin(v, num_largest(t)), -num_largest(t));
    return num_encode(t, v);
}

void ptx_widen_half(const char *name, void *const *at, int n)
{
    uint16_t h;
    float f;

    (void)name;
    (void)n;
    memcpy(&h, at[1], sizeof h);
    f = (float)num_decode(DT_F16, h);
    memcpy(at[0], &f, sizeof f);
}

/* add.rn.f16, sub.rn.f16, mul.rn.f16, or of two (f16x2, bf16x2): a double has the result exactly,
 * or nearly enough. */
void ptx_half_op(const char *name, void *const *at, int n)
{
    int lanes = strstr(name, "x2") ? 2 : 1;
    DType t = strstr(name, "bf16") ? DT_BF16 : DT_F16;
    uint16_t out[2];

    (void)n;
    for (int l = 0; l < lanes; l++) {
        double x[2];
        for (int i = 0; i < 2; i++) {
            uint16_t h;
            memcpy(&h, (const char *)at[i + 1] + 2 * l, sizeof h);
            x[i] = num_decode(t, h);
        }
        double y = name[0] == 'm' ? x[0] * x[1] : name[0] == 'a' ? x[0] + x[1] : x[0] - x[1];
        out[l] = (uint16_t)num_encode(t, y);
    }
    memcpy(at[0], out, sizeof out[0] * (size_t)lanes);
}

/* The type between two points of the name, and whether there are two of them. */
static DType middle_type(const char *name, int point, bool *two)
{
    DType t = DT_F16;

    for (; point > 0; point--)
        name = strchr(name, '.') + 1;
    size_t n = strcspn(name, ".");
    *two = n > 2 && !strncmp(name + n - 2, "x2", 2);
    if (!ptx_type(name, *two ? n - 2 : n, &t))
        twin_fail("nobody knows the type in %s [twin-meaning]", name);
    return t;
}

/* cvt.rn.T.f32, cvt.rn.Tx2.f32: the first operand is the upper one of two. */
void ptx_narrow(const char *name, void *const *at, int n)
{
    bool two;
    DType t = middle_type(name, strstr(name, "satfinite") ? 3 : 2, &two);
    int bits = dtype_bits(t);
    uint64_t v = encode(t, f32_of(at[n - 1]));

    if (two)
        v |= encode(t, f32_of(at[1])) << bits;
    memcpy(at[0], &v, (size_t)(two ? bits / 4 : bits / 8));
}

/* cvt.rn.f16x2.Tx2 */
void ptx_widen_eight(const char *name, void *const *at, int n)
{
    bool two;
    DType t = middle_type(name, 3, &two);
    uint8_t in[2];
    uint16_t out[2];

    (void)n;
    memcpy(in, at[1], sizeof in);
    for (int i = 0; i < 2; i++)
        out[i] = (uint16_t)num_encode(DT_F16, num_decode(t, in[i]));
    memcpy(at[0], out, sizeof out);
}

static float flushed(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

void ptx_exp2_ftz(const char *name, void *const *at, int n)
{
    float y = flushed(exp2f(flushed(float_at(at[1]))));

    (void)name;
    (void)n;
    memcpy(at[0], &y, sizeof y);
}

void ptx_rcp_ftz(const char *name, void *const *at, int n)
{
    float y = flushed(1 / flushed(float_at(at[1])));

    (void)name;
    (void)n;
    memcpy(at[0], &y, sizeof y);
}

/* -0 is less than 0. */
void ptx_extreme_or_nan(const char *name, void *const *at, int n)
{
    float a = float_at(at[1]), b = float_at(at[2]);
    bool less = a < b || (a == b && signbit(a) && !signbit(b));
    float y = isnan(a) || isnan(b) ? NAN : less == !strncmp(name, "min", 3) ? a : b;

    (void)n;
    memcpy(at[0], &y, sizeof y);
}

/* ---- words ----------------------------------------------------------------------------------- */

void ptx_set_unequal(const char *name, void *const *at, int n)
{
    uint64_t yes = word_at(at[1]) != word_at(at[2]);

    (void)name;
    (void)n;
    memcpy(at[0], &yes, sizeof yes);
}

void ptx_select_u32(const char *name, void *const *at, int n)
{
    uint32_t v = word_at(word_at(at[3]) ? at[1] : at[2]);

    (void)name;
    (void)n;
    memcpy(at[0], &v, sizeof v);
}

void ptx_negate(const char *name, void *const *at, int n)
{
    uint32_t v = 0u - word_at(at[1]);

    (void)name;
    (void)n;
    memcpy(at[0], &v, sizeof v);
}

/* to, from, first bit, bits: within the word, and the last one is the sign */
void ptx_signed_field(const char *name, void *const *at, int n)
{
    uint32_t first = word_at(at[2]), bits = word_at(at[3]);

    (void)n;
    if (bits == 0 || first + bits > 32)
        twin_fail("%s of %u bits from %u [twin-fault]", name, bits, first);
    int32_t v = (int32_t)(word_at(at[1]) << (32 - first - bits)) >> (32 - bits);
    memcpy(at[0], &v, sizeof v);
}

void ptx_shift_right(const char *name, void *const *at, int n)
{
    int32_t v = (int32_t)word_at(at[1]) >> MIN(word_at(at[2]), 31);

    (void)name;
    (void)n;
    memcpy(at[0], &v, sizeof v);
}

void ptx_shift_right_long(const char *name, void *const *at, int n)
{
    int64_t v = (int64_t)long_at(at[1]) >> MIN(word_at(at[2]), 63);

    (void)name;
    (void)n;
    memcpy(at[0], &v, sizeof v);
}

void ptx_bits_not(const char *name, void *const *at, int n)
{
    uint32_t v = ~word_at(at[1]);

    (void)name;
    (void)n;
    memcpy(at[0], &v, sizeof v);
}

void ptx_bits_and(const char *name, void *const *at, int n)
{
    uint32_t v = word_at(at[1]) & word_at(at[2]);

    (void)name;
    (void)n;
    memcpy(at[0], &v, sizeof v);
}

/* to, three words, table: bit a * 4 + b * 2 + c of it is what bits a, b and c give */
void ptx_bits_by_table(const char *name, void *const *at, int n)
{
    uint32_t a = word_at(at[1]), b = word_at(at[2]), c = word_at(at[3]), table = word_at(at[4]);
    uint32_t v = 0;

    (void)name;
    (void)n;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1)
            v |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    memcpy(at[0], &v, sizeof v);
}

void ptx_move(const char *name, void *const *at, int n)
{
    (void)n;
    memcpy(at[0], at[1], strstr(name, "64") ? 8 : 4);
}

/* Two halves as one register. */
void ptx_move_halves(const char *name, void *const *at, int n)
{
    (void)name;
    (void)n;
    memcpy(at[0], at[1], 8);
    memcpy((char *)at[0] + 8, at[2], 8);
}

void ptx_nothing(const char *name, void *const *at, int n)
{
    (void)name;
    (void)at;
    (void)n;
}

/* A word for the second level cache; the hardware's has its meaning in the upper half. */
static uint64_t policy_word(const char *name)
{
    return (strstr(name, "evict_first") ? 0x12f0ull : 0x14f0ull) << 48;
}

void ptx_policy(const char *name, void *const *at, int n)
{
    uint64_t word = policy_word(name);

    (void)n;
    memcpy(at[0], &word, sizeof word);
}

void policy_check(const char *name, const void *at)
{
    uint64_t word = strstr(name, "L2::cache_hint") ? long_at(at) : policy_word("");

    if (word != policy_word("evict_first") && word != policy_word(""))
        twin_fail("%s with a policy that nobody made [twin-fault]", name);
}

/* ---- sums in memory -------------------------------------------------------------------------- */

static double add_half(DType t, uint16_t *p, uint16_t x)
{
    double was = num_decode(t, *p);

    *p = (uint16_t)num_encode(t, was + num_decode(t, x));
    return was;
}

static uint16_t *half_place(const void *at, uint64_t align)
{
    uint64_t p = long_at(at);

    if (p % align)
        twin_fail("a sum in memory at an address that is no multiple of %llu [twin-fault]",
                  (unsigned long long)align);
    return (uint16_t *)(uintptr_t)p;
}

void ptx_atomic_half(const char *name, void *const *at, int n)
{
    DType t = strstr(name, "bf16") ? DT_BF16 : DT_F16;
    uint16_t *p = half_place(at[1], 2), was = *p, x;

    (void)n;
    memcpy(&x, at[2], sizeof x);
    add_half(t, p, x);
    memcpy(at[0], &was, sizeof was);
}

void ptx_add_halves(const char *name, void *const *at, int n)
{
    DType t = strstr(name, "bf16") ? DT_BF16 : DT_F16;
    uint16_t *p = half_place(at[0], 4 * (uint64_t)(n - 1));

    for (int i = 1; i < n; i++) {
        uint32_t two = word_at(at[i]);
        add_half(t, p++, (uint16_t)two);
        add_half(t, p++, (uint16_t)(two >> 16));
    }
}

void ptx_add_floats(const char *name, void *const *at, int n)
{
    float *p = (float *)(void *)half_place(at[0], 4 * (uint64_t)(n - 1));

    (void)name;
    for (int i = 1; i < n; i++)
        *p++ += float_at(at[i]);
}
