/* metal.h -- what the names of the Metal Shading Language mean on the host, as its specification has
 * them (sections 2 types, 4 address spaces, 5 attributes, 6 library).  A SIMD-group has 32 lanes.
 *
 * Written from the language, not from what is emitted: a name that is not here does not compile.  With
 * TL_SPACES and clang pointers into different memories are different types (test/gpu/metal.sh). */
/* #include <metal_stdlib> */

#if defined(TL_SPACES)
#define device __attribute__((address_space(1)))
#define threadgroup __attribute__((address_space(3)))
#define constant const __attribute__((address_space(2)))
#else
#define device
#define threadgroup
#define constant const
#endif

typedef signed char int8_t;
typedef unsigned char uint8_t, uchar;
typedef short int16_t;
typedef unsigned short uint16_t, ushort;
typedef int int32_t;
typedef unsigned uint32_t, uint;
typedef long int64_t;
typedef unsigned long uint64_t, ulong;
typedef unsigned long size_t;

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()

/* ---- numbers as bits --------------------------------------------------------------------------- */

namespace metal {

template <class To, class From> static inline To as_type(From x)
{
    static_assert(sizeof(To) == sizeof(From), "as_type between sizes");
    To r;
    __builtin_memcpy(&r, &x, sizeof r);
    return r;
}

/* binary16: to nearest, ties to even. */
struct half {
    uint16_t bits;
    half() = default;
    explicit half(float x)
    {
        const uint32_t u = as_type<uint32_t>(x), mag = u & 0x7fffffffu, sign = u >> 16 & 0x8000u;
        uint32_t h;
        if (mag > 0x7f800000u)
            h = 0x7e00u | (mag >> 13 & 0x3ffu);
        else if (mag >= 0x477ff000u) /* rounds past 65504 */
            h = 0x7c00u;
        else if (mag < 0x38800000u) { /* below 2^-14: whole numbers of 2^-24 */
            const float scaled = as_type<float>(mag) * 16777216.0f;
            const uint32_t whole = (uint32_t)scaled;
            const float rest = scaled - (float)whole;
            h = whole + (rest > 0.5f || (rest == 0.5f && (whole & 1u)));
        } else
            h = (mag - 0x38000000u + 0xfffu + (mag >> 13 & 1u)) >> 13;
        bits = (uint16_t)(h | sign);
    }
    operator float() const
    {
        const uint32_t mag = bits & 0x7fffu, sign = (uint32_t)(bits & 0x8000u) << 16;
        if (mag >= 0x7c00u)
            return as_type<float>(sign | 0x7f800000u | (mag & 0x3ffu) << 13);
        const float x = mag < 0x400u ? (float)mag * (1.0f / 16777216.0f) : as_type<float>((mag << 13) + 0x38000000u);
        return sign ? -x : x;
    }
};

/* The upper half of a float (MSL 3.1). */
struct bfloat {
    uint16_t bits;
    bfloat() = default;
    explicit bfloat(float x)
    {
        const uint32_t u = as_type<uint32_t>(x);
        bits = (uint16_t)(x != x ? u >> 16 | 0x40u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
    }
    operator float() const { return as_type<float>((uint32_t)bits << 16); }
};

#if defined(TL_SPACES)
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint3 __attribute__((ext_vector_type(3)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
#else
struct alignas(8) uint2 { uint x, y; };
struct alignas(16) uint3 { uint x, y, z; };
struct alignas(16) uint4 { uint x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
#endif

/* ---- functions of numbers ------------------------------------------------------------------------ */

#define TL_FLOAT1(name) static inline float name(float x) { return __builtin_##name##f(x); }
#define TL_FLOAT2(name) static inline float name(float x, float y) { return __builtin_##name##f(x, y); }
TL_FLOAT1(fabs) TL_FLOAT1(acos) TL_FLOAT1(acosh) TL_FLOAT1(asin) TL_FLOAT1(asinh) TL_FLOAT1(atan) TL_FLOAT1(atanh)
TL_FLOAT1(ceil) TL_FLOAT1(cos) TL_FLOAT1(cosh) TL_FLOAT1(exp) TL_FLOAT1(exp2) TL_FLOAT1(floor)
TL_FLOAT1(log) TL_FLOAT1(log2) TL_FLOAT1(log10) TL_FLOAT1(rint) TL_FLOAT1(round) TL_FLOAT1(sin) TL_FLOAT1(sinh)
TL_FLOAT1(sqrt) TL_FLOAT1(tan) TL_FLOAT1(tanh) TL_FLOAT1(trunc)
TL_FLOAT2(atan2) TL_FLOAT2(copysign) TL_FLOAT2(fmod) TL_FLOAT2(pow) TL_FLOAT2(fmin) TL_FLOAT2(fmax)
static inline float exp10(float x) { return __builtin_powf(10.0f, x); }
static inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
namespace fast { using metal::exp; using metal::exp10; using metal::log; using metal::log2; using metal::log10; using metal::sin; using metal::cos; using metal::tan; }

/* Of 0 the width. */
static inline uint32_t clz(uint32_t x) { return x ? (uint32_t)__builtin_clz(x) : 32u; }
static inline uint64_t clz(uint64_t x) { return x ? (uint64_t)__builtin_clzl(x) : 64ul; }
static inline uint32_t ctz(uint32_t x) { return x ? (uint32_t)__builtin_ctz(x) : 32u; }
static inline uint64_t ctz(uint64_t x) { return x ? (uint64_t)__builtin_ctzl(x) : 64ul; }
static inline uint32_t popcount(uint32_t x) { return (uint32_t)__builtin_popcount(x); }
static inline uint64_t popcount(uint64_t x) { return (uint64_t)__builtin_popcountl(x); }
static inline uint32_t mulhi(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); }

/* ---- a SIMD-group -------------------------------------------------------------------------------- */

static inline uint32_t tl_lane_here()
{
    return (tl_self->thread.x + tl_self->nthread.x * (tl_self->thread.y + tl_self->nthread.y * tl_self->thread.z)) % 32u;
}

/* Lanes run one after the other here; on a GPU those that are active come by together. */
static inline const unsigned long long *tl_simd(unsigned long long mine, unsigned long long *came)
{
    return tl_host->lanes(tl_host->alive(), mine, came);
}

template <class T> static inline T simd_shuffle(T x, ushort lane)
{
    static_assert(sizeof(T) <= 4, "simd_shuffle takes 32 bits at most");
    unsigned long long word = 0;
    __builtin_memcpy(&word, &x, sizeof x);
    word = tl_simd(word, 0)[lane & 31];
    __builtin_memcpy(&x, &word, sizeof x);
    return x;
}

struct simd_vote {
    typedef ulong vote_t;
    vote_t bits;
    explicit operator vote_t() const { return bits; }
};

static inline simd_vote simd_ballot(bool yes)
{
    unsigned long long came;
    const unsigned long long *all = tl_simd(yes, &came);
    simd_vote v = {0};
    for (int l = 0; l < 32; l++)
        v.bits |= (came >> l & 1 && all[l]) ? 1ul << l : 0ul;
    return v;
}

static inline simd_vote simd_active_threads_mask()
{
    unsigned long long came;
    tl_simd(0, &came);
    return simd_vote{(ulong)came};
}

static inline bool simd_any(bool yes) { return simd_ballot(yes).bits != 0; }
static inline bool simd_all(bool yes)
{
    unsigned long long came;
    const unsigned long long *all = tl_simd(yes, &came);
    for (int l = 0; l < 32; l++)
        if ((came >> l & 1) && !all[l])
            return false;
    return true;
}

/* ---- barriers and fences ------------------------------------------------------------------------- */

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
static inline mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags)((int)a | (int)b); }
enum memory_order { memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };

static inline void threadgroup_barrier(mem_flags) { tl_host->meet(0, 0); }
static inline void simdgroup_barrier(mem_flags) { tl_simd(0, 0); }
static inline void atomic_thread_fence(mem_flags, memory_order order, thread_scope = thread_scope_device)
{
    if (order != memory_order_relaxed)
        tl_self->fenced = 1, tl_self->looked = 0;
}

/* ---- atomics: 32 bits, relaxed --------------------------------------------------------------------- */

template <class T> struct tl_atomic { T value; };
typedef tl_atomic<int> atomic_int;
typedef tl_atomic<uint> atomic_uint;
typedef tl_atomic<float> atomic_float; /* in device memory: load, store, exchange, compare and exchange, add, sub */

/* Threads give way only where they wait: what happens between two waits is one step. */
#define TL_ATOMIC(space, T, name, next)                                                            \
    static inline T atomic_##name##_explicit(volatile space tl_atomic<T> *p, T x, memory_order order) \
    {                                                                                              \
        if (order != memory_order_relaxed)                                                         \
            tl_host->fail();                                                                       \
        tl_self->hasty = !tl_self->fenced, tl_self->acted = 1;                                     \
        const T was = p->value;                                                                    \
        p->value = next;                                                                           \
        return was;                                                                                \
    }
#define TL_ATOMIC_MOVES(space, T)                                                                  \
    TL_ATOMIC(space, T, exchange, x)                                                               \
    static inline T atomic_load_explicit(volatile space tl_atomic<T> *p, memory_order) { return p->value; } \
    static inline void atomic_store_explicit(volatile space tl_atomic<T> *p, T x, memory_order)    \
    {                                                                                              \
        tl_self->hasty = !tl_self->fenced, tl_self->acted = 1;                                     \
        p->value = x;                                                                              \
    }                                                                                              \
    static inline bool atomic_compare_exchange_weak_explicit(volatile space tl_atomic<T> *p, T *was, T next, memory_order, memory_order) \
    {                                                                                              \
        const T old = p->value;                                                                    \
        const bool same = old == *was;                                                             \
        if (same)                                                                                  \
            p->value = next, tl_self->acted = 1;                                                   \
        *was = old;                                                                                \
        return same;                                                                               \
    }
#define TL_ATOMIC_INTS(space, T)                                                                   \
    TL_ATOMIC_MOVES(space, T)                                                                      \
    TL_ATOMIC(space, T, fetch_add, (T)((uint)was + (uint)x))                                       \
    TL_ATOMIC(space, T, fetch_sub, (T)((uint)was - (uint)x))                                       \
    TL_ATOMIC(space, T, fetch_max, was > x ? was : x)                                              \
    TL_ATOMIC(space, T, fetch_min, was < x ? was : x)                                              \
    TL_ATOMIC(space, T, fetch_or, was | x)                                                         \
    TL_ATOMIC(space, T, fetch_and, was & x)                                                        \
    TL_ATOMIC(space, T, fetch_xor, was ^ x)
TL_ATOMIC_INTS(device, int)
TL_ATOMIC_INTS(device, uint)
TL_ATOMIC_MOVES(device, float)
TL_ATOMIC(device, float, fetch_add, was + x)
TL_ATOMIC(device, float, fetch_sub, was - x)
#if defined(TL_SPACES)
TL_ATOMIC_INTS(threadgroup, int)
TL_ATOMIC_INTS(threadgroup, uint)
#endif

#define TL_FLAG(i)
#define TL_FAIL(number) tl_host->fail()

/* ---- matrices of a SIMD-group ------------------------------------------------------------------------ */

/* Two neighbours of a row in each lane; Apple's specification leaves open which, its MLX knows. */
static inline uint32_t tl_matrix_row(uint32_t lane) { return (lane >> 4 & 1u) * 4u + (lane >> 1 & 3u); }
static inline uint32_t tl_matrix_column(uint32_t lane) { return (lane >> 3 & 1u) * 4u + (lane & 1u) * 2u; }

template <class T> struct tl_pair {
    T at[2];
    T &operator[](int i) { return at[i]; }
};
static inline float tl_number(float x) { return x; }
static inline void tl_give(float x, float &to) { to = x; }
static inline void tl_give(float x, half &to) { to = half(x); }
static inline void tl_give(float x, bfloat &to) { to = bfloat(x); }

template <class T, int Cols, int Rows> struct simdgroup_matrix {
    static_assert(Cols == 8 && Rows == 8, "matrices are 8 x 8");
    tl_pair<T> own;
    simdgroup_matrix() = default;
    explicit simdgroup_matrix(T x) { own[0] = own[1] = x; } /* on the diagonal alone it is another constructor */
    tl_pair<T> &thread_elements() { return own; }
};
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;

/* All 64 elements, row by row. */
template <class T> static inline void tl_gather(simdgroup_matrix<T, 8, 8> &m, float *all)
{
    const float mine[2] = {(float)m.own[0], (float)m.own[1]};
    unsigned long long word;
    __builtin_memcpy(&word, mine, sizeof word);
    const unsigned long long *words = tl_simd(word, 0);
    for (uint32_t lane = 0; lane < 32; lane++)
        __builtin_memcpy(&all[tl_matrix_row(lane) * 8 + tl_matrix_column(lane)], &words[lane], sizeof word);
}

/* D = A B + C */
template <class D, class A, class B, class C>
static inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> &a, simdgroup_matrix<B, 8, 8> &b, simdgroup_matrix<C, 8, 8> &c)
{
    float left[64], right[64];
    tl_gather(a, left);
    tl_gather(b, right);
    const uint32_t row = tl_matrix_row(tl_lane_here()), column = tl_matrix_column(tl_lane_here());
    for (uint32_t i = 0; i < 2; i++) {
        float sum = (float)c.own[i];
        for (uint32_t k = 0; k < 8; k++)
            sum = __builtin_fmaf(left[row * 8 + k], right[k * 8 + column + i], sum);
        tl_give(sum, d.own[i]);
    }
}

/* Rows of so many elements each in memory; both for any memory. */
template <class T, class P> static inline void simdgroup_load(simdgroup_matrix<T, 8, 8> &m, P from, ulong elements_per_row = 8)
{
    const uint32_t lane = tl_lane_here();
    tl_simd(0, 0);
    for (uint32_t i = 0; i < 2; i++)
        m.own[i] = from[tl_matrix_row(lane) * elements_per_row + tl_matrix_column(lane) + i];
}

template <class T, class P> static inline void simdgroup_store(simdgroup_matrix<T, 8, 8> &m, P to, ulong elements_per_row = 8)
{
    const uint32_t lane = tl_lane_here();
    for (uint32_t i = 0; i < 2; i++)
        to[tl_matrix_row(lane) * elements_per_row + tl_matrix_column(lane) + i] = m.own[i];
    tl_simd(0, 0);
}

/* ---- what parameters of a kernel get, by their attribute ---------------------------------------------- */

static inline uint3 tl_thread_position_in_threadgroup() { return uint3{tl_self->thread.x, tl_self->thread.y, tl_self->thread.z}; }
static inline uint3 tl_threadgroup_position_in_grid() { return uint3{tl_self->block.x, tl_self->block.y, tl_self->block.z}; }
static inline uint3 tl_threadgroups_per_grid() { return uint3{tl_self->nblock.x, tl_self->nblock.y, tl_self->nblock.z}; }
static inline uint3 tl_threads_per_threadgroup() { return uint3{tl_self->nthread.x, tl_self->nthread.y, tl_self->nthread.z}; }
static inline uint tl_thread_index_in_simdgroup() { return tl_lane_here(); }

}

using metal::tl_thread_position_in_threadgroup;
using metal::tl_threadgroup_position_in_grid;
using metal::tl_threadgroups_per_grid;
using metal::tl_threads_per_threadgroup;
using metal::tl_thread_index_in_simdgroup;

#define thread
#define kernel

/* Words of C++ that MSL does not have. */
#define double tl_MSL_has_no_double
#define goto tl_MSL_has_no_goto
#define asm tl_MSL_has_no_asm
