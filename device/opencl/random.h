/* random.h -- T.rng_*: Philox 4x32, 10 rounds, a stream for every thread.  Generators of another
 * kind are those of device/cpu/random.h. */

/* The next number is number `next` of the four of a block; word: they, if it is not the first. */
struct tl_random {
    uint64_t seed, stream, block;
    uint32_t next, word[4];
};

TL_DEVICE void tl_rng_fill(__private struct tl_random *t)
{
    uint32_t c0 = (uint32_t)t->block, c1 = (uint32_t)(t->block >> 32);
    uint32_t c2 = (uint32_t)t->stream, c3 = (uint32_t)(t->stream >> 32);
    uint32_t k0 = (uint32_t)t->seed, k1 = (uint32_t)(t->seed >> 32);
    for (int32_t i = 0; i < 10; i++) {
        const uint32_t a = mul_hi(0xD2511F53u, c0) ^ c3 ^ k1, low = 0xD2511F53u * c0;
        c0 = mul_hi(0xCD9E8D57u, c2) ^ c1 ^ k0;
        c1 = 0xCD9E8D57u * c2;
        c2 = a;
        c3 = low;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    t->word[0] = c0;
    t->word[1] = c1;
    t->word[2] = c2;
    t->word[3] = c3;
}

TL_DEVICE void tl_rng_init(__private struct tl_random *t, uint64_t seed, uint64_t stream, uint64_t at)
{
    t->seed = seed;
    t->stream = stream;
    t->block = at / 4;
    t->next = (uint32_t)(at % 4);
    if (t->next)
        tl_rng_fill(t);
}

TL_DEVICE uint32_t tl_rng_next(__private struct tl_random *t)
{
    const uint32_t i = t->next;
    if (i == 0)
        tl_rng_fill(t);
    t->next = (i + 1) % 4;
    t->block += i == 3;
    return t->word[i];
}

/* In (0, 1]; 53 or 24 bits of it random. */
TL_DEVICE double tl_rng_uniform(__private struct tl_random *t, int32_t bits)
{
    const uint64_t x = tl_rng_next(t);
    if (bits == 64)
        return (double)(x ^ (uint64_t)tl_rng_next(t) << 21) * 0x1p-53 + 0x1p-54;
    return (float)((double)x * 0x1p-32 + 0x1p-33);
}

TL_DEVICE double tl_rng_normal(__private struct tl_random *t, int32_t bits)
{
    const double u = tl_rng_uniform(t, bits), v = tl_rng_uniform(t, bits);
    return sqrt(-2 * log(u)) * sin(6.28318530717958647692 * v);
}

TL_DEVICE double tl_gen_normal(__private uint32_t *s, int32_t bits)
{
    const double u = tl_gen_uniform(s, bits), v = tl_gen_uniform(s, bits);
    return sqrt(-2 * log(u)) * sin(6.28318530717958647692 * v);
}
