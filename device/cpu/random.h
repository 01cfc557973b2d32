/* random.h -- T.rng_* with a generator other than Philox: XORWOW and MRG32k3a.
 *
 * s: six words of state and the kind.  Streams start 2^67 (XORWOW) and 2^76 (MRG32k3a) numbers apart; a
 * thread gets to its place by powers of the step, not by steps. */
#ifndef TL_RANDOM_H
#define TL_RANDOM_H

/* Five words of xorshift, then a counter that is added. */
static inline uint32_t tl_xorwow_next(uint32_t *s)
{
    const uint32_t t = s[0] ^ s[0] >> 2;
    s[0] = s[1], s[1] = s[2], s[2] = s[3], s[3] = s[4];
    s[4] = s[4] ^ s[4] << 4 ^ t ^ t << 1;
    s[5] += 362437u;
    return s[4] + s[5];
}

/* r = a b, as polynomials over one bit modulo that of the xorshift. */
static inline void tl_xorwow_mul(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    const uint32_t step[5] = {0x60001u, 0x8610030u, 0x62121u, 0xf3c0035u, 0xf0eu};
    uint32_t out[5] = {0, 0, 0, 0, 0};
    for (int i = 159; i >= 0; i--) {
        const uint32_t over = 0u - (out[4] >> 31), on = 0u - (b[i / 32] >> i % 32 & 1u);
        for (int k = 4; k >= 0; k--)
            out[k] = (out[k] << 1 | (k ? out[k - 1] >> 31 : 0u)) ^ (step[k] & over) ^ (a[k] & on);
    }
    for (int k = 0; k < 5; k++)
        r[k] = out[k];
}

/* On by n times the step that the polynomial x stands for. */
static inline void tl_xorwow_jump(uint32_t *s, const uint32_t *x, uint64_t n)
{
    uint32_t r[5] = {1, 0, 0, 0, 0}, p[5], to[5] = {0, 0, 0, 0, 0}, at = s[5];
    for (int k = 0; k < 5; k++)
        p[k] = x[k];
    for (; n; n >>= 1) {
        if (n & 1)
            tl_xorwow_mul(r, r, p);
        tl_xorwow_mul(p, p, p);
    }
    for (int i = 0; i < 160; i++) {
        const uint32_t on = 0u - (r[i / 32] >> i % 32 & 1u);
        for (int k = 0; k < 5; k++)
            to[k] ^= s[k] & on;
        tl_xorwow_next(s);
    }
    for (int k = 0; k < 5; k++)
        s[k] = to[k];
    s[5] = at;
}

static inline void tl_xorwow_init(uint32_t *s, uint64_t seed, uint64_t stream, uint64_t at)
{
    const uint32_t one[5] = {2, 0, 0, 0, 0};
    const uint32_t far[5] = {0x26294934u, 0x77bbc248u, 0x1a87dad0u, 0x930052d4u, 0x947e6dd2u};
    const uint32_t a = ((uint32_t)seed ^ 0xaad26b49u) * 1099087573u;
    const uint32_t b = ((uint32_t)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    s[0] = 123456789u + a, s[1] = 362436069u ^ a, s[2] = 521288629u + b, s[3] = 88675123u ^ b;
    s[4] = 5783321u + a, s[5] = 6615241u + a + b;
    if (stream)
        tl_xorwow_jump(s, far, stream);
    if (at)
        tl_xorwow_jump(s, one, at);
    s[5] += 362437u * (uint32_t)at;
}

/* Two recurrences of three words; their difference, spread over 32 bits. */
static inline uint32_t tl_mrg_next(uint32_t *s)
{
    const uint64_t m1 = 4294967087u, m2 = 4294944443u;
    const uint64_t p = (1403580u * (uint64_t)s[1] + (m1 - 810728u) * s[0]) % m1;
    const uint64_t q = (527612u * (uint64_t)s[5] + (m2 - 1370589u) * s[3]) % m2;
    s[0] = s[1], s[1] = s[2], s[2] = (uint32_t)p;
    s[3] = s[4], s[4] = s[5], s[5] = (uint32_t)q;
    return (uint32_t)(((p >= q ? p - q : p + m1 - q) << 32) / m1);
}

/* r = a b modulo m, of 3 x 3 */
static inline void tl_mrg_mul(uint32_t *r, const uint32_t *a, const uint32_t *b, uint64_t m)
{
    uint32_t out[9];
    for (int i = 0; i < 9; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 3; k++)
            sum = (sum + (uint64_t)a[i / 3 * 3 + k] * b[k * 3 + i % 3] % m) % m;
        out[i] = (uint32_t)sum;
    }
    for (int i = 0; i < 9; i++)
        r[i] = out[i];
}

static inline void tl_mrg_jump(uint32_t *s, const uint32_t *step, uint64_t n, uint64_t m)
{
    uint32_t p[9], was[3] = {s[0], s[1], s[2]};
    uint32_t r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 9; i++)
        p[i] = step[i];
    for (; n; n >>= 1) {
        if (n & 1)
            tl_mrg_mul(r, r, p, m);
        tl_mrg_mul(p, p, p, m);
    }
    for (int i = 0; i < 3; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 3; k++)
            sum = (sum + (uint64_t)r[i * 3 + k] * was[k] % m) % m;
        s[i] = (uint32_t)sum;
    }
}

static inline void tl_mrg_init(uint32_t *s, uint64_t seed, uint64_t stream, uint64_t at)
{
    const uint64_t m1 = 4294967087u, m2 = 4294944443u;
    const uint32_t one1[9] = {0, 1, 0, 0, 0, 1, 4294156359u, 1403580u, 0};
    const uint32_t one2[9] = {0, 1, 0, 0, 0, 1, 4293573854u, 0, 527612u};
    const uint32_t far1[9] = {82758667u, 1871391091u, 4127413238u, 3672831523u, 69195019u,
                              1871391091u, 3672091415u, 3528743235u, 69195019u};
    const uint32_t far2[9] = {1511326704u, 3759209742u, 1610795712u, 4292754251u, 1511326704u,
                              3889917532u, 3859662829u, 4292754251u, 3708466080u};
    const uint64_t low = (uint32_t)seed ^ 0x55555555u, high = (uint32_t)(seed >> 32) ^ 0xaaaaaaaau;
    for (int i = 0; i < 6; i++)
        s[i] = 12345u;
    if (seed) {
        s[0] = (uint32_t)(low * s[0] % m1), s[1] = (uint32_t)(high * s[1] % m1);
        s[2] = (uint32_t)(low * s[2] % m1), s[3] = (uint32_t)(high * s[3] % m2);
        s[4] = (uint32_t)(low * s[4] % m2), s[5] = (uint32_t)(high * s[5] % m2);
    }
    if (stream)
        tl_mrg_jump(s, far1, stream, m1), tl_mrg_jump(s + 3, far2, stream, m2);
    if (at)
        tl_mrg_jump(s, one1, at, m1), tl_mrg_jump(s + 3, one2, at, m2);
}

static inline void tl_gen_init(uint32_t *s, uint32_t kind, uint64_t seed, uint64_t stream, uint64_t at)
{
    s[6] = kind;
    if (kind == 1)
        tl_xorwow_init(s, seed, stream, at);
    else
        tl_mrg_init(s, seed, stream, at);
}

static inline uint32_t tl_gen_next(uint32_t *s)
{
    return s[6] == 1 ? tl_xorwow_next(s) : tl_mrg_next(s);
}

/* In (0, 1]; 53 or 24 bits of it random. */
static inline double tl_gen_uniform(uint32_t *s, int32_t bits)
{
    const uint64_t x = tl_gen_next(s);
    if (bits == 64)
        return (double)(x ^ (uint64_t)tl_gen_next(s) << 21) * 0x1p-53 + 0x1p-54;
    return (float)((double)x * 0x1p-32 + 0x1p-33);
}

#endif
