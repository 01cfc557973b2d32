/* opencl.h -- what the names of OpenCL C mean on the host.  Macros of device/opencl that are here too
 * are taken from here: see skip_macro in text.c.  Of the functions of the language there are those
 * that texts call, as its specification has them. */
#include <stddef.h>
#include <stdint.h>

TL_C_MATH
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#define __kernel static
#define __global
#define __local
#define __private
#define restrict
#define TL_LOCAL(name, bytes) uchar *const name = tl_self->shared
#define TL_FLAG
#define TL_FLAG_ALONE
#define TL_FAIL(number) tl_host->fail()

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
extern "C" int printf(const char *, ...);

struct uint2 {
    uint x, y;
    uint2(uint v = 0) : x(v), y(v) {}
};
struct uint4 {
    uint x, y, z, w;
    uint4(uint v = 0) : x(v), y(v), z(v), w(v) {}
};

/* ---- who is where ---------------------------------------------------------------------------- */

static inline size_t get_group_id(uint d) { return (&tl_self->block.x)[d]; }
static inline size_t get_local_id(uint d) { return (&tl_self->thread.x)[d]; }
static inline size_t get_local_size(uint d) { return (&tl_self->nthread.x)[d]; }

/* ---- numbers --------------------------------------------------------------------------------- */

template <class T, class F> static inline T tl_same_bits(F x)
{
    T r;
    static_assert(sizeof r == sizeof x, "as_type of another size");
    __builtin_memcpy(&r, &x, sizeof r);
    return r;
}
static inline uint as_uint(float x) { return tl_same_bits<uint>(x); }
static inline float as_float(uint x) { return tl_same_bits<float>(x); }
static inline ulong as_ulong(double x) { return tl_same_bits<ulong>(x); }
static inline double as_double(ulong x) { return tl_same_bits<double>(x); }
static inline half as_half(ushort x) { return tl_same_bits<half>(x); }
static inline ushort as_ushort(half x) { return tl_same_bits<ushort>(x); }
static inline half convert_half_rte(float x) { return (half)x; }
static inline float vload_half(size_t i, const half *p) { return (float)p[i]; }
static inline void vstore_half_rte(float x, size_t i, half *p) { p[i] = (half)x; }

static inline uint clz(uint x) { return x ? (uint)__builtin_clz(x) : 32; }
static inline ulong clz(ulong x) { return x ? (ulong)__builtin_clzl(x) : 64; }
static inline uint popcount(uint x) { return (uint)__builtin_popcount(x); }
static inline ulong popcount(ulong x) { return (ulong)__builtin_popcountl(x); }
static inline uchar popcount(uchar x) { return (uchar)__builtin_popcount(x); }
static inline ushort popcount(ushort x) { return (ushort)__builtin_popcount(x); }
static inline uint mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }

static inline float native_exp(float x) { return expf(x); }
static inline float native_log(float x) { return logf(x); }
static inline float native_log2(float x) { return log2f(x); }
static inline float native_sin(float x) { return sinf(x); }
static inline float native_cos(float x) { return cosf(x); }
static inline float native_tan(float x) { return tanf(x); }
static inline float native_recip(float x) { return 1 / x; }

/* ---- memory of others ------------------------------------------------------------------------ */

#define tl_fence() (tl_self->fenced = 1, tl_self->looked = 0)

/* Threads give way only where they wait: what happens between two waits is one step. */
#define TL_ATOMIC(name, T, next)                                                                   \
    static inline T name(volatile T *p, T x)                                                       \
    {                                                                                              \
        tl_self->hasty = !tl_self->fenced;                                                         \
        const T was = *p;                                                                          \
        *p = next;                                                                                 \
        return was;                                                                                \
    }
#define TL_ATOMICS(T)                                                                              \
    TL_ATOMIC(atomic_add, T, (T)((uint)was + (uint)x))                                             \
    TL_ATOMIC(atomic_xchg, T, x)                                                                   \
    TL_ATOMIC(atomic_max, T, was > x ? was : x)                                                    \
    TL_ATOMIC(atomic_min, T, was < x ? was : x)                                                    \
    TL_ATOMIC(atomic_or, T, was | x)                                                               \
    TL_ATOMIC(atomic_and, T, was & x)                                                              \
    TL_ATOMIC(atomic_xor, T, was ^ x)
TL_ATOMICS(int)
TL_ATOMICS(uint)

static inline uint atomic_cmpxchg(volatile uint *p, uint compare, uint x)
{
    tl_self->hasty = !tl_self->fenced;
    const uint was = *p;
    *p = was == compare ? x : was;
    return was;
}
static inline ulong atom_cmpxchg(volatile ulong *p, ulong compare, ulong x)
{
    tl_self->hasty = !tl_self->fenced;
    const ulong was = *p;
    *p = was == compare ? x : was;
    return was;
}

/* ---- threads that meet ----------------------------------------------------------------------- */

enum { CLK_LOCAL_MEM_FENCE = 1, CLK_GLOBAL_MEM_FENCE = 2 };
static inline void barrier(int) { tl_host->meet(0, 0); }

/* A subgroup has TL_LANES threads, which the text says. */
#define get_sub_group_local_id() ((tl_self->thread.x + tl_self->nthread.x * (tl_self->thread.y + tl_self->nthread.y * tl_self->thread.z)) % TL_LANES)
#define sub_group_barrier(flags) tl_host->lanes(tl_host->alive(), 0, 0)
#define sub_group_any(yes) (tl_votes(yes, TL_LANES) != 0)
#define sub_group_all(yes) (tl_votes(!(yes), TL_LANES) == 0)
#define get_sub_group_size() tl_lanes_here(TL_LANES)
#define sub_group_ballot(yes) tl_lanes_with(yes)
#define sub_group_shuffle(x, from) tl_shuffle(x, (from) & (TL_LANES - 1))

template <class T> static inline T tl_shuffle(T x, uint from)
{
    unsigned long long word = 0;
    T r;
    __builtin_memcpy(&word, &x, sizeof x);
    word = tl_host->lanes(tl_host->alive(), word, 0)[from];
    __builtin_memcpy(&r, &word, sizeof r);
    return r;
}

static inline int tl_votes(bool yes, int lanes)
{
    unsigned long long came;
    int n = 0;
    const unsigned long long *all = tl_host->lanes(tl_host->alive(), yes, &came);
    for (int l = 0; l < lanes; l++)
        n += (came >> l & 1) && all[l];
    return n;
}

/* The last subgroup may have fewer. */
static inline uint tl_lanes_here(uint lanes)
{
    const uint all = tl_self->nthread.x * tl_self->nthread.y * tl_self->nthread.z;
    const uint first = (tl_self->thread.x + tl_self->nthread.x * (tl_self->thread.y + tl_self->nthread.y * tl_self->thread.z)) / lanes * lanes;
    return all - first < lanes ? all - first : lanes;
}

static inline uint4 tl_lanes_with(bool yes)
{
    unsigned long long came, bits = 0;
    const unsigned long long *all = tl_host->lanes(tl_host->alive(), yes, &came);
    for (int l = 0; l < 64; l++)
        bits |= (unsigned long long)((came >> l & 1) && all[l]) << l;
    uint4 r;
    r.x = (uint)bits;
    r.y = (uint)(bits >> 32);
    return r;
}
