/* cuda.h -- what CUDA C has without a header, for the host: the names that emitted text counts on.
 * Instructions in assembly are not here: src/target/cuda/twin/ptx.def. */

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define threadIdx (tl_self->thread)
#define blockIdx (tl_self->block)
#define blockDim (tl_self->nthread)
#define gridDim (tl_self->nblock)
#define warpSize 32

typedef unsigned tl_u32;
typedef unsigned long long tl_u64;
typedef long long tl_i64;

/* ---- vectors --------------------------------------------------------------------------------- */

#define TL_VECTOR(T, name)                                                                         \
    struct __align__(2 * sizeof(T)) name##2 { T x, y; };                                           \
    struct name##3 { T x, y, z; };                                                                 \
    struct __align__(sizeof(T) > 4 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };                \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                              \
    static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                      \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TL_VECTOR(signed char, char)
TL_VECTOR(unsigned char, uchar)
TL_VECTOR(short, short)
TL_VECTOR(unsigned short, ushort)
TL_VECTOR(int, int)
TL_VECTOR(unsigned, uint)
TL_VECTOR(long long, longlong)
TL_VECTOR(unsigned long long, ulonglong)
TL_VECTOR(float, float)
TL_VECTOR(double, double)

/* ---- bits ------------------------------------------------------------------------------------ */

template <class To, class From> static inline To tl_same_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To r;
    __builtin_memcpy(&r, &x, sizeof r);
    return r;
}

static inline int __float_as_int(float x) { return tl_same_bits<int>(x); }
static inline tl_u32 __float_as_uint(float x) { return tl_same_bits<tl_u32>(x); }
static inline float __int_as_float(int x) { return tl_same_bits<float>(x); }
static inline float __uint_as_float(tl_u32 x) { return tl_same_bits<float>(x); }
static inline tl_i64 __double_as_longlong(double x) { return tl_same_bits<tl_i64>(x); }
static inline double __longlong_as_double(tl_i64 x) { return tl_same_bits<double>(x); }
static inline int __popc(tl_u32 x) { return __builtin_popcount(x); }
static inline int __popcll(tl_u64 x) { return __builtin_popcountll(x); }
static inline tl_u32 __umulhi(tl_u32 a, tl_u32 b) { return (tl_u32)((tl_u64)a * b >> 32); }
static inline int __clz(int x) { return x ? __builtin_clz((tl_u32)x) : 32; }
static inline int __clzll(tl_i64 x) { return x ? __builtin_clzll((tl_u64)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(tl_i64 x) { return __builtin_ffsll(x); }

static inline tl_u32 __brev(tl_u32 x)
{
    tl_u32 r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

static inline tl_u32 __byte_perm(tl_u32 a, tl_u32 b, tl_u32 s)
{
    const tl_u64 all = (tl_u64)b << 32 | a;
    tl_u32 r = 0;
    for (int i = 0; i < 4; i++)
        r |= (tl_u32)(all >> (s >> 4 * i & 7) * 8 & 255) << 8 * i;
    return r;
}

/* The n-th set bit from base on, downwards for n < 0. */
static inline tl_u32 __fns(tl_u32 mask, tl_u32 base, int n)
{
    if (n == 0)
        return mask >> base & 1 ? base : ~0u;
    for (int at = (int)base, left = n < 0 ? -n : n; at >= 0 && at < 32; at += n < 0 ? -1 : 1)
        if (mask >> at & 1 && --left == 0)
            return (tl_u32)at;
    return ~0u;
}

static inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c += (int)(signed char)(a >> 8 * i) * (int)(signed char)(b >> 8 * i);
    return c;
}

template <class T> static inline T __ldg(const T *p) { tl_host->global(p); return *p; }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }
template <class T> static inline T max(T a, T b) { return a > b ? a : b; }

/* ---- conversions: saturated; NaN is 0 of 32 bits, the top bit of 64 ------------------------- */

template <class To, class From> static inline To tl_toward_zero(From x, To least, To most, To nan)
{
    return x != x ? nan : x <= (From)least ? least : x >= (From)most ? most : (To)x;
}

#define TL_TOP ((tl_i64)(1ull << 63))
static inline int __float2int_rz(float x) { return tl_toward_zero<int>(x, -2147483647 - 1, 2147483647, 0); }
static inline tl_u32 __float2uint_rz(float x) { return tl_toward_zero<tl_u32>(x, 0, ~0u, 0); }
static inline tl_i64 __float2ll_rz(float x) { return tl_toward_zero<tl_i64>(x, TL_TOP, ~TL_TOP, TL_TOP); }
static inline tl_u64 __float2ull_rz(float x) { return tl_toward_zero<tl_u64>(x, 0, ~0ull, 1ull << 63); }
static inline int __double2int_rz(double x) { return tl_toward_zero<int>(x, -2147483647 - 1, 2147483647, -2147483647 - 1); }
static inline tl_u32 __double2uint_rz(double x) { return tl_toward_zero<tl_u32>(x, 0, ~0u, 1u << 31); }
static inline tl_i64 __double2ll_rz(double x) { return tl_toward_zero<tl_i64>(x, TL_TOP, ~TL_TOP, TL_TOP); }
static inline tl_u64 __double2ull_rz(double x) { return tl_toward_zero<tl_u64>(x, 0, ~0ull, 1ull << 63); }

/* ---- functions of numbers -------------------------------------------------------------------- */

#define TL_MATH1(name) extern "C" double name(double); extern "C" float name##f(float);
#define TL_MATH2(name) extern "C" double name(double, double); extern "C" float name##f(float, float);
TL_MATH1(acos) TL_MATH1(acosh) TL_MATH1(asin) TL_MATH1(asinh) TL_MATH1(atan) TL_MATH1(atanh) TL_MATH1(ceil)
TL_MATH1(cos) TL_MATH1(cosh) TL_MATH1(erf) TL_MATH1(exp) TL_MATH1(exp2) TL_MATH1(exp10) TL_MATH1(expm1)
TL_MATH1(fabs) TL_MATH1(floor) TL_MATH1(log) TL_MATH1(log1p) TL_MATH1(log2) TL_MATH1(log10) TL_MATH1(nearbyint)
TL_MATH1(rint) TL_MATH1(round) TL_MATH1(sin) TL_MATH1(sinh) TL_MATH1(sqrt) TL_MATH1(tan) TL_MATH1(tanh)
TL_MATH1(trunc) TL_MATH1(cbrt) TL_MATH1(tgamma) TL_MATH1(lgamma) TL_MATH1(erfc)
TL_MATH2(atan2) TL_MATH2(copysign) TL_MATH2(fmod) TL_MATH2(hypot) TL_MATH2(nextafter)
extern "C" double pow(double, double);
static inline float powf(float x, float y) { return (float)pow((double)x, (double)y); }
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
extern "C" int abs(int);
extern "C" int printf(const char *, ...);

/* The C library's make more of a signalling NaN; the instructions give the other operand. */
#define TL_EXTREMES(T, f)                                                                          \
    static inline T fmin##f(T a, T b) { return b != b || a < b || (a == b && __builtin_signbit(a)) ? a : b; } \
    static inline T fmax##f(T a, T b) { return b != b || a > b || (a == b && !__builtin_signbit(a)) ? a : b; }
TL_EXTREMES(float, f)
TL_EXTREMES(double, )

static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float rsqrtf(float x) { return (float)(1 / sqrt((double)x)); }
template <class T> static inline int isfinite(T x) { return x - x == 0; }
template <class T> static inline int isnan(T x) { return x != x; }
template <class T> static inline int isinf(T x) { return x == x && x - x != 0; }
static inline float __expf(float x) { return expf(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }

/* One operation with a rounding of its own: done by the processor in that mode.  The words of
 * fesetround(3) on every machine we run on are asked of the C library. */
extern "C" int fegetround(void);
extern "C" int fesetround(int);
#if defined(__x86_64__) || defined(__i386__)
enum { TL_RD = 0x400, TL_RU = 0x800, TL_RZ = 0xc00 };
#else
enum { TL_RU = 0x400000, TL_RD = 0x800000, TL_RZ = 0xc00000 };
#endif

/* The body of a function.  None of them is a template's or holds a lambda: those the host's compiler works out
 * for every text, called or not. */
#define TL_IN_MODE(T, mode, value)                                                                 \
    {                                                                                              \
        const int before = fegetround();                                                           \
        fesetround(mode);                                                                          \
        volatile T r = value; /* done before the mode changes back */                              \
        fesetround(before);                                                                        \
        return r;                                                                                  \
    }

#define TL_TO_FLOAT(name, T) static inline float name(volatile T x) TL_IN_MODE(float, TL_RZ, (float)x)
TL_TO_FLOAT(__double2float_rz, double)
TL_TO_FLOAT(__int2float_rz, int)
TL_TO_FLOAT(__uint2float_rz, tl_u32)
TL_TO_FLOAT(__ll2float_rz, tl_i64)
TL_TO_FLOAT(__ull2float_rz, tl_u64)

#define TL_ROUNDED(T, p, m, M, fmaf_, sqrt_)                                                       \
    static inline T __##p##add_##m(volatile T x, volatile T y) TL_IN_MODE(T, M, x + y)             \
    static inline T __##p##sub_##m(volatile T x, volatile T y) TL_IN_MODE(T, M, x - y)             \
    static inline T __##p##mul_##m(volatile T x, volatile T y) TL_IN_MODE(T, M, x * y)             \
    static inline T __##p##div_##m(volatile T x, volatile T y) TL_IN_MODE(T, M, x / y)             \
    static inline T __##p##rcp_##m(volatile T x) TL_IN_MODE(T, M, 1 / x)                           \
    static inline T __##p##sqrt_##m(volatile T x) TL_IN_MODE(T, M, sqrt_(x))                       \
    static inline T fmaf_##_##m(volatile T x, volatile T y, volatile T z)                          \
        TL_IN_MODE(T, M, tl_fma((T)x, (T)y, (T)z))
static inline float tl_fma(float a, float b, float c) { return fmaf(a, b, c); }
static inline double tl_fma(double a, double b, double c) { return fma(a, b, c); }
TL_ROUNDED(float, f, rz, TL_RZ, __fmaf, sqrtf)
TL_ROUNDED(float, f, ru, TL_RU, __fmaf, sqrtf)
TL_ROUNDED(float, f, rd, TL_RD, __fmaf, sqrtf)
TL_ROUNDED(float, f, rn, 0, __fmaf, sqrtf)
TL_ROUNDED(double, d, rz, TL_RZ, __fma, sqrt)
TL_ROUNDED(double, d, ru, TL_RU, __fma, sqrt)
TL_ROUNDED(double, d, rd, TL_RD, __fma, sqrt)
TL_ROUNDED(double, d, rn, 0, __fma, sqrt)

/* ---- memory of others ------------------------------------------------------------------------ */

/* Threads give way only where they wait: what happens between two waits is one step. */
#define TL_ATOMIC(name, T, next)                                                                   \
    static inline T name(T *p, T x)                                                                \
    {                                                                                              \
        tl_self->hasty = !tl_self->fenced;                                                         \
        const T was = *p;                                                                          \
        *p = next, tl_self->acted = 1;                                                             \
        return was;                                                                                \
    }
#define TL_ATOMICS(T)                                                                              \
    TL_ATOMIC(atomicAdd, T, was + x)                                                               \
    TL_ATOMIC(atomicExch, T, x)
#define TL_ATOMICS_INT(T)                                                                          \
    TL_ATOMICS(T)                                                                                  \
    TL_ATOMIC(atomicMax, T, was > x ? was : x)                                                     \
    TL_ATOMIC(atomicMin, T, was < x ? was : x)                                                     \
    TL_ATOMIC(atomicOr, T, was | x)                                                                \
    TL_ATOMIC(atomicAnd, T, was & x)                                                               \
    TL_ATOMIC(atomicXor, T, was ^ x)                                                               \
    static inline T atomicCAS(T *p, T compare, T x)                                                \
    {                                                                                              \
        const T was = *p;                                                                          \
        if (was == compare)                                                                        \
            *p = x;                                                                                \
        return was;                                                                                \
    }
TL_ATOMICS_INT(int)
TL_ATOMICS_INT(tl_u32)
TL_ATOMICS_INT(tl_u64)
TL_ATOMIC(atomicMax, tl_i64, was > x ? was : x)
TL_ATOMIC(atomicMin, tl_i64, was < x ? was : x)
TL_ATOMICS(float)
TL_ATOMIC(atomicAdd, double, was + x)

static inline void __threadfence() { tl_self->fenced = 1, tl_self->looked = 0; }
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(tl_u32) {}
static inline void __trap() { tl_host->fail(); }
static inline tl_i64 clock64() { return (tl_i64)tl_host->clock(); }
static inline tl_u64 __cvta_generic_to_shared(const void *p) { return tl_host->shared_address(p); }
static inline tl_u64 __cvta_generic_to_global(const void *p) { return (tl_u64)p; }

/* ---- threads that meet ----------------------------------------------------------------------- */

static inline void __syncthreads() { tl_host->meet(0, 0); }
static inline int __syncthreads_count(int yes) { return (int)tl_host->meet(yes != 0, 0); }
static inline int __syncthreads_or(int yes) { return tl_host->meet(yes != 0, 0) != 0; }
static inline int __syncthreads_and(int yes)
{
    tl_u32 came;
    return tl_host->meet(yes != 0, &came) == came;
}

static inline void __syncwarp(tl_u32 mask = ~0u) { tl_host->lanes(mask, 0, 0); }
/* Lanes run one after the other here; on a GPU those that are alive come by together. */
static inline tl_u32 __activemask()
{
    const tl_u32 all = (tl_u32)tl_host->alive();
    tl_host->lanes(all, 0, 0);
    return all;
}
static inline tl_u32 tl_lane()
{
    return (tl_self->thread.x + tl_self->nthread.x * (tl_self->thread.y + tl_self->nthread.y * tl_self->thread.z)) % 32;
}

template <class T> static inline tl_u64 tl_word(T x)
{
    tl_u64 w = 0;
    __builtin_memcpy(&w, &x, sizeof x);
    return w;
}

/* A lane takes the value of another; past the end of its part it keeps its own. */
template <class T> static inline T tl_take(tl_u32 mask, T x, int from, bool keeps)
{
    const tl_u64 word = tl_host->lanes(mask, tl_word(x), 0)[from & 31];
    T r;
    __builtin_memcpy(&r, &word, sizeof r);
    return keeps ? x : r;
}

template <class T> static inline T __shfl_sync(tl_u32 mask, T x, int lane, int width = 32)
{
    const int me = (int)tl_lane();
    return tl_take(mask, x, (me & ~(width - 1)) | (lane & (width - 1)), false);
}

template <class T> static inline T __shfl_xor_sync(tl_u32 mask, T x, int by, int width = 32)
{
    const int me = (int)tl_lane(), from = me ^ by;
    return tl_take(mask, x, from, from >= (me & ~(width - 1)) + width);
}

template <class T> static inline T __shfl_down_sync(tl_u32 mask, T x, tl_u32 by, int width = 32)
{
    const int me = (int)tl_lane(), from = me + (int)by;
    return tl_take(mask, x, from, from >= (me & ~(width - 1)) + width);
}

template <class T> static inline T __shfl_up_sync(tl_u32 mask, T x, tl_u32 by, int width = 32)
{
    const int me = (int)tl_lane(), from = me - (int)by;
    return tl_take(mask, x, from, from < (me & ~(width - 1)));
}

/* Bit l of the answer: lane l came and its word is this one. */
static inline tl_u32 tl_who(tl_u32 mask, tl_u64 word, tl_u64 wanted, tl_u64 *came)
{
    tl_u32 yes = 0;
    const tl_u64 *all = tl_host->lanes(mask, word, came);
    for (int l = 0; l < 32; l++)
        yes |= (tl_u32)(*came >> l & 1 && all[l] == wanted) << l;
    return yes;
}

static inline tl_u32 __ballot_sync(tl_u32 mask, int yes)
{
    tl_u64 came;
    return tl_who(mask, yes != 0, 1, &came);
}

static inline int __any_sync(tl_u32 mask, int yes) { return __ballot_sync(mask, yes) != 0; }
static inline int __all_sync(tl_u32 mask, int yes)
{
    tl_u64 came;
    return tl_who(mask, yes != 0, 1, &came) == came;
}

template <class T> static inline tl_u32 __match_any_sync(tl_u32 mask, T x)
{
    tl_u64 came;
    return tl_who(mask, tl_word(x), tl_word(x), &came);
}

template <class T> static inline tl_u32 __match_all_sync(tl_u32 mask, T x, int *all)
{
    tl_u64 came;
    *all = tl_who(mask, tl_word(x), tl_word(x), &came) == came;
    return *all ? (tl_u32)came : 0;
}
