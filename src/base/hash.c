/* hash.c -- hashing: a quick one for tables, XXH3-128 for names of cached files.
 *
 * xxhash.h is the one vendored file of this folder (version 0.8.1, BSD 2-clause). */
#define XXH_INLINE_ALL
#include "base/xxhash.h"
#include "base/base.h"

/* Multiply to 128 bits and fold: each bit of the answer depends on all bits of both. */
uint64_t hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 Wide;
    Wide p = (Wide)(a ^ 0x8ebc6af09c88c6e3u) * (b ^ 0x589965cc75374cc3u);
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    const char *s = p;
    uint64_t h = seed ^ (uint64_t)n * 0x9e3779b97f4a7c15u;
    uint64_t word = 0;
    for (; n >= sizeof word; n -= sizeof word, s += sizeof word) {
        memcpy(&word, s, sizeof word);
        h = hash_mix(h, word);
    }
    word = 0;
    if (n)
        memcpy(&word, s, n);
    return hash_mix(h, word);
}

void hash_hex(const void *p, size_t n, char hex[33])
{
    XXH128_hash_t h = XXH3_128bits(p, n);
    snprintf(hex, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}
