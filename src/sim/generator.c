/* generator.c -- T.rng_* with a generator other than Philox.
 *
 * device/cpu/random.h has them for kernels; here they take every step that is asked for, one by one
 * or by squaring the step, in another way, so that the two can be compared. */
#include "sim/machine.h"

enum { XORWOW = 1, STATE = 4 };

static const uint64_t mrg_m[2] = {4294967087u, 4294944443u};

/* ---- XORWOW: 160 bits of xorshift as a matrix over one bit ----------------------------------- */

typedef struct {
    uint32_t v[5];
} Bits;

typedef struct {
    Bits col[160]; /* what each bit of the state becomes */
} BitMatrix;

static Bits shift(Bits s)
{
    uint32_t t = s.v[0] ^ s.v[0] >> 2;
    return (Bits){{s.v[1], s.v[2], s.v[3], s.v[4], s.v[4] ^ s.v[4] << 4 ^ t ^ t << 1}};
}

static Bits bits_apply(const BitMatrix *m, Bits s)
{
    Bits r = {{0}};
    for (int i = 0; i < 160; i++)
        for (int k = 0; s.v[i / 32] >> i % 32 & 1 && k < 5; k++)
            r.v[k] ^= m->col[i].v[k];
    return r;
}

static void bits_square(BitMatrix *m)
{
    BitMatrix was = *m;
    for (int i = 0; i < 160; i++)
        m->col[i] = bits_apply(&was, was.col[i]);
}

/* On by n times 2^first steps. */
static Bits bits_jump(Bits s, int first, uint64_t n)
{
    BitMatrix m;
    for (int i = 0; i < 160; i++) {
        Bits one = {{0}};
        one.v[i / 32] = 1u << i % 32;
        m.col[i] = shift(one);
    }
    for (int i = 0; i < first; i++)
        bits_square(&m);
    for (; n; n >>= 1, bits_square(&m))
        if (n & 1)
            s = bits_apply(&m, s);
    return s;
}

static void xorwow_init(uint64_t *st)
{
    uint32_t a = ((uint32_t)st[0] ^ 0xaad26b49u) * 1099087573u;
    uint32_t b = ((uint32_t)(st[0] >> 32) ^ 0xf7dcefddu) * 2591861531u;
    Bits s = {{123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a}};
    uint32_t count = 6615241u + a + b + 362437u * (uint32_t)st[1];

    if (st[2])
        s = bits_jump(s, 67, st[2]);
    s = bits_jump(s, 0, st[1]);
    st[STATE] = s.v[0] | (uint64_t)s.v[1] << 32;
    st[STATE + 1] = s.v[2] | (uint64_t)s.v[3] << 32;
    st[STATE + 2] = s.v[4] | (uint64_t)count << 32;
}

static uint32_t xorwow_next(uint64_t *st)
{
    Bits s = {{(uint32_t)st[STATE], (uint32_t)(st[STATE] >> 32), (uint32_t)st[STATE + 1],
               (uint32_t)(st[STATE + 1] >> 32), (uint32_t)st[STATE + 2]}};
    uint32_t count = (uint32_t)(st[STATE + 2] >> 32) + 362437u;

    s = shift(s);
    st[STATE] = s.v[0] | (uint64_t)s.v[1] << 32;
    st[STATE + 1] = s.v[2] | (uint64_t)s.v[3] << 32;
    st[STATE + 2] = s.v[4] | (uint64_t)count << 32;
    return s.v[4] + count;
}

/* ---- MRG32k3a: two recurrences of three words ------------------------------------------------ */

typedef struct {
    uint64_t at[3][3];
} Matrix3;

static Matrix3 product(Matrix3 a, Matrix3 b, uint64_t m)
{
    Matrix3 r = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                r.at[i][j] = (r.at[i][j] + a.at[i][k] * b.at[k][j] % m) % m;
    return r;
}

static Matrix3 mrg_step(int which)
{
    Matrix3 a = {{{0, 1, 0}, {0, 0, 1}, {mrg_m[0] - 810728, 1403580, 0}}};
    Matrix3 b = {{{0, 1, 0}, {0, 0, 1}, {mrg_m[1] - 1370589, 0, 527612}}};
    return which ? b : a;
}

static void mrg_jump(uint32_t *s, int which, int first, uint64_t n)
{
    uint64_t m = mrg_m[which], was[3] = {s[0], s[1], s[2]};
    Matrix3 p = mrg_step(which), r = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

    for (int i = 0; i < first; i++)
        p = product(p, p, m);
    for (; n; n >>= 1, p = product(p, p, m))
        if (n & 1)
            r = product(p, r, m);
    for (int i = 0; i < 3; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 3; k++)
            sum = (sum + r.at[i][k] * was[k] % m) % m;
        s[i] = (uint32_t)sum;
    }
}

static void mrg_init(uint64_t *st)
{
    uint32_t s[6];
    uint64_t mix[2] = {(uint32_t)st[0] ^ 0x55555555u, (uint32_t)(st[0] >> 32) ^ 0xaaaaaaaau};

    for (int i = 0; i < 6; i++)
        s[i] = st[0] ? (uint32_t)(mix[i % 2] * 12345 % mrg_m[i / 3]) : 12345;
    for (int which = 0; which < 2; which++) {
        mrg_jump(s + which * 3, which, 76, st[2]);
        mrg_jump(s + which * 3, which, 0, st[1]);
    }
    for (int i = 0; i < 3; i++)
        st[STATE + i] = s[2 * i] | (uint64_t)s[2 * i + 1] << 32;
}

static uint32_t mrg_next(uint64_t *st)
{
    uint32_t s[6];
    for (int i = 0; i < 6; i++)
        s[i] = (uint32_t)(st[STATE + i / 2] >> i % 2 * 32);
    mrg_jump(s, 0, 0, 1);
    mrg_jump(s + 3, 1, 0, 1);
    for (int i = 0; i < 3; i++)
        st[STATE + i] = s[2 * i] | (uint64_t)s[2 * i + 1] << 32;
    uint64_t d = s[2] >= s[5] ? (uint64_t)s[2] - s[5] : s[2] + mrg_m[0] - s[5];
    return (uint32_t)((d << 32) / mrg_m[0]);
}

/* ---- both ------------------------------------------------------------------------------------ */

void generator_init(uint64_t *st)
{
    st[3] == XORWOW ? xorwow_init(st) : mrg_init(st);
}

uint32_t generator_next(uint64_t *st)
{
    return st[3] == XORWOW ? xorwow_next(st) : mrg_next(st);
}
