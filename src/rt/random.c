/* random.c -- seeded contents of tensors.
 *
 * xoshiro256** (Blackman, Vigna) and Marsaglia's polar method with a logarithm of our own, so that
 * only operations that IEEE 754 fixes to the bit are used: the same seed gives the same bytes on
 * every machine.  Each stretch of CHUNK elements has its own stream, so threads do not matter. */
#include <math.h>
#include "rt/rt.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* as gcc does with -std=c11 */
#endif

enum { CHUNK = 1 << 15, INT_SPAN = 9 };

typedef struct {
    uint64_t s[4];
    double spare;
    bool has_spare;
} Random;

static uint64_t split_mix(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t next_bits(Random *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

static Random stream(uint64_t seed, int64_t chunk)
{
    uint64_t x = seed ^ (uint64_t)chunk * 0xd1342543de82ef95u;
    Random r = {0};
    for (int i = 0; i < 4; i++)
        r.s[i] = split_mix(&x);
    return r;
}

/* In (-1, 1). */
static double next_uniform(Random *r)
{
    return (double)((int64_t)next_bits(r) >> 10) * 0x1p-53;
}

/* Natural logarithm by 2 atanh((m-1)/(m+1)); within 1e-15 of the true one. */
static double own_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), z = s * s, sum = 0;
    for (int k = 19; k >= 1; k -= 2)
        sum = sum * z + 1.0 / k;
    return 2 * s * sum + e * 0.69314718055994531;
}

static double next_normal(Random *r)
{
    double u, v, q;

    if (r->has_spare) {
        r->has_spare = false;
        return r->spare;
    }
    do {
        u = next_uniform(r);
        v = next_uniform(r);
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    double scale = sqrt(-2 * own_log(q) / q);
    r->spare = v * scale;
    r->has_spare = true;
    return u * scale;
}

typedef struct {
    DType type;
    void *data;
    int64_t n;
    uint64_t seed;
} Fill;

static int64_t next_int(Random *r, DType t)
{
    int64_t n = (int64_t)(next_bits(r) >> 33);

    if (t == DT_BOOL)
        return n & 1;
    return dtype_is_unsigned(t) ? n % INT_SPAN : n % INT_SPAN - INT_SPAN / 2;
}

static void fill_chunk(void *arg, int64_t chunk, int worker)
{
    const Fill *f = arg;
    int64_t from = chunk * CHUNK, to = MIN(from + CHUNK, f->n);
    Random r = stream(f->seed, chunk);

    (void)worker;
    for (int64_t i = from; i < to; i++) {
        if (f->type == DT_F32)
            ((float *)f->data)[i] = (float)next_normal(&r);
        else if (f->type == DT_E8M0) /* a scale: a power of two near one */
            num_store(f->type, f->data, i, ldexp(1, (int)(next_bits(&r) >> 62) - 2), 0);
        else if (dtype_is_float(f->type))
            num_store(f->type, f->data, i, next_normal(&r), 0);
        else
            num_store(f->type, f->data, i, 0, next_int(&r, f->type));
    }
}

void random_fill(Pool *pool, DType t, void *data, int64_t nelem, uint64_t seed)
{
    Fill f = {t, data, nelem, seed};
    int64_t nchunk = (nelem + CHUNK - 1) / CHUNK;

    if (pool && nchunk > 1) {
        pool_run(pool, nchunk, fill_chunk, &f);
        return;
    }
    for (int64_t i = 0; i < nchunk; i++)
        fill_chunk(&f, i, 0);
}
