/* warp.h -- barriers of some threads, and values that go from lane to lane.
 * Names in namespace tl are those that kernels know for T.call_extern. */

TL_DEVICE uint32_t tl_shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

TL_DEVICE uint32_t tl_shared_at(const void *p, int32_t bytes)
{
    return tl_shared_address(p) + (uint32_t)bytes;
}

namespace tl { TL_DEVICE void __sync_thread_partial(int32_t id, int32_t threads)
{
    asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}}

namespace tl { TL_DEVICE void __named_barrier_arrive(int32_t id, int32_t threads)
{
    asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}}

/* What all lanes have alike, so that the compiler knows it to be so. */
TL_DEVICE int32_t tl_warp_same(int32_t x) { return __shfl_sync(0xffffffffu, x, 0); }

template <class T> TL_DEVICE uint32_t tl_match_all(uint32_t lanes, T x)
{
    int32_t all;
    return __match_all_sync(lanes, x, &all);
}

template <class T> TL_DEVICE T tl_warp_sum(T x)
{
#pragma unroll
    for (int32_t by = 16; by > 0; by /= 2)
        x = x + __shfl_xor_sync(0xffffffffu, x, by);
    return x;
}

template <class T> TL_DEVICE T tl_warp_max(T x)
{
#pragma unroll
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = __shfl_xor_sync(0xffffffffu, x, by);
        x = x > y || y != y ? x : y;
    }
    return x;
}

template <class T> TL_DEVICE T tl_warp_min(T x)
{
#pragma unroll
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = __shfl_xor_sync(0xffffffffu, x, by);
        x = x < y || y != y ? x : y;
    }
    return x;
}

template <class T> TL_DEVICE T tl_warp_and(T x)
{
#pragma unroll
    for (int32_t by = 16; by > 0; by /= 2)
        x = x & __shfl_xor_sync(0xffffffffu, x, by);
    return x;
}

template <class T> TL_DEVICE T tl_warp_or(T x)
{
#pragma unroll
    for (int32_t by = 16; by > 0; by /= 2)
        x = x | __shfl_xor_sync(0xffffffffu, x, by);
    return x;
}

/* Of a warp that is not whole: the first lane joins what there is, and tells the others. */
template <class T> TL_DEVICE T tl_part_sum(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = __shfl_xor_sync(0xffffffffu, x, by);
        x = (__activemask() >> (lane ^ by) & 1u) != 0u ? (x + y) : x;
    }
    return __shfl_sync(0xffffffffu, x, 0);
}

template <class T> TL_DEVICE T tl_part_max(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = __shfl_xor_sync(0xffffffffu, x, by);
        x = (__activemask() >> (lane ^ by) & 1u) != 0u ? (x > y || y != y ? x : y) : x;
    }
    return __shfl_sync(0xffffffffu, x, 0);
}

template <class T> TL_DEVICE T tl_part_min(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = __shfl_xor_sync(0xffffffffu, x, by);
        x = (__activemask() >> (lane ^ by) & 1u) != 0u ? (x < y || y != y ? x : y) : x;
    }
    return __shfl_sync(0xffffffffu, x, 0);
}

template <class T> TL_DEVICE T tl_part_and(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = __shfl_xor_sync(0xffffffffu, x, by);
        x = (__activemask() >> (lane ^ by) & 1u) != 0u ? (x & y) : x;
    }
    return __shfl_sync(0xffffffffu, x, 0);
}

template <class T> TL_DEVICE T tl_part_or(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = __shfl_xor_sync(0xffffffffu, x, by);
        x = (__activemask() >> (lane ^ by) & 1u) != 0u ? (x | y) : x;
    }
    return __shfl_sync(0xffffffffu, x, 0);
}

/* ---- random numbers: Philox 4x32, 10 rounds, a stream for every thread --------------------------- */

/* The next number is number `next` of the four of a block; word: they, if it is not the first.  Two
 * members and not one position: a loop that takes whole blocks leaves next as it was, so the compiler
 * sees that it makes each block once. */
struct tl_random {
    uint64_t seed, stream, block;
    uint32_t next, word[4];
};

TL_DEVICE void tl_rng_fill(tl_random *t)
{
    uint32_t c0 = (uint32_t)t->block, c1 = (uint32_t)(t->block >> 32);
    uint32_t c2 = (uint32_t)t->stream, c3 = (uint32_t)(t->stream >> 32);
    uint32_t k0 = (uint32_t)t->seed, k1 = (uint32_t)(t->seed >> 32);
#pragma unroll
    for (int32_t i = 0; i < 10; i++) {
        /* of 32 bits: a product of 64 takes sums of its halves beside */
        const uint32_t a = __umulhi(0xD2511F53u, c0) ^ c3 ^ k1, low = 0xD2511F53u * c0;
        c0 = __umulhi(0xCD9E8D57u, c2) ^ c1 ^ k0;
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

TL_DEVICE void tl_rng_init(tl_random *t, uint64_t seed, uint64_t stream, uint64_t at)
{
    t->seed = seed;
    t->stream = stream;
    t->block = at / 4;
    t->next = (uint32_t)(at % 4);
    if (t->next)
        tl_rng_fill(t);
}

TL_DEVICE uint32_t tl_rng_next(tl_random *t)
{
    const uint32_t i = t->next;
    if (i == 0)
        tl_rng_fill(t);
    t->next = (i + 1) % 4;
    t->block += i == 3;
    /* chosen, not indexed: the words stay in registers */
    return i < 2 ? (i ? t->word[1] : t->word[0]) : (i == 2 ? t->word[2] : t->word[3]);
}

/* In (0, 1]; 53 or 24 bits of it random. */
TL_DEVICE double tl_rng_uniform(tl_random *t, int32_t bits)
{
    const uint64_t x = tl_rng_next(t);
    if (bits == 64)
        return (double)(x ^ (uint64_t)tl_rng_next(t) << 21) * 0x1p-53 + 0x1p-54;
    return (float)((double)x * 0x1p-32 + 0x1p-33);
}

TL_DEVICE double tl_rng_normal(tl_random *t, int32_t bits)
{
    const double u = tl_rng_uniform(t, bits), v = tl_rng_uniform(t, bits);
    return sqrt(-2 * log(u)) * sin(6.28318530717958647692 * v);
}

/* Of the generators of device/cpu/random.h. */
TL_DEVICE double tl_gen_normal(uint32_t *s, int32_t bits)
{
    const double u = tl_gen_uniform(s, bits), v = tl_gen_uniform(s, bits);
    return sqrt(-2 * log(u)) * sin(6.28318530717958647692 * v);
}
