/* hip.h -- what clang's builtins for AMD's GPUs mean on the host.  Macros of device/hip that are here
 * too are taken from here: see skip_macro in text.c.  A wave has 64 lanes. */

#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __bf16 short
enum { TL_LANES = 64 };

typedef unsigned tl_u32;
typedef unsigned long long tl_u64;
extern "C" int printf(const char *, ...);

/* ---- who is where ---------------------------------------------------------------------------- */

#define __builtin_amdgcn_workitem_id_x() (tl_self->thread.x)
#define __builtin_amdgcn_workitem_id_y() (tl_self->thread.y)
#define __builtin_amdgcn_workitem_id_z() (tl_self->thread.z)
#define __builtin_amdgcn_workgroup_id_x() (tl_self->block.x)
#define __builtin_amdgcn_workgroup_id_y() (tl_self->block.y)
#define __builtin_amdgcn_workgroup_id_z() (tl_self->block.z)
#define __builtin_amdgcn_workgroup_size_x() (tl_self->nthread.x)
#define __builtin_amdgcn_workgroup_size_y() (tl_self->nthread.y)
#define __builtin_amdgcn_workgroup_size_z() (tl_self->nthread.z)

/* The packet of a launch: words 3 to 5 count threads. */
static inline const void *__builtin_amdgcn_dispatch_ptr()
{
    static tl_u32 packet[16];
    packet[3] = tl_self->nthread.x * tl_self->nblock.x;
    packet[4] = tl_self->nthread.y * tl_self->nblock.y;
    packet[5] = tl_self->nthread.z * tl_self->nblock.z;
    return packet;
}

static inline tl_u32 tl_wave_lane()
{
    return (tl_self->thread.x + tl_self->nthread.x * (tl_self->thread.y + tl_self->nthread.y * tl_self->thread.z)) % TL_LANES;
}

/* Lanes before this one whose bit of a half of the wave is set. */
static inline tl_u32 tl_before(tl_u64 mask, tl_u32 sum)
{
    return sum + (tl_u32)__builtin_popcountll(mask & ((1ull << tl_wave_lane()) - 1));
}
#define __builtin_amdgcn_mbcnt_lo(mask, sum) tl_before((tl_u32)(mask), sum)
#define __builtin_amdgcn_mbcnt_hi(mask, sum) tl_before((tl_u64)(tl_u32)(mask) << 32, sum)

/* ---- a wave ---------------------------------------------------------------------------------- */

/* Lanes run one after the other here; on a GPU those that are alive come by together, or those that a
 * branch lets pass: where nobody else can go on, the machine takes those that came. */
static inline const tl_u64 *tl_wave(tl_u64 mine, tl_u64 *came)
{
    return tl_host->lanes(tl_host->alive(), mine, came);
}
#define __builtin_amdgcn_wave_barrier() tl_wave(0, 0)

static inline int __builtin_amdgcn_ds_bpermute(int address, int x)
{
    return (int)tl_wave((tl_u32)x, 0)[address / 4 & (TL_LANES - 1)];
}

static inline tl_u64 __builtin_amdgcn_ballot_w64(bool yes)
{
    tl_u64 came, r = 0;
    const tl_u64 *all = tl_wave(yes, &came);
    for (int l = 0; l < TL_LANES; l++)
        r |= (came >> l & 1 && all[l]) ? 1ull << l : 0;
    return r;
}

#define tl_mfma(name) tl_product(#name, (void *)a, (void *)b, c)
static inline void tl_product(const char *name, void *a, void *b, void *c)
{
    void *const at[] = {a, b, c};
    tl_host->op(0, name, at, 3);
}
#define tl_mfma_f8f6f4(name, x, y, wa, wb) tl_product(#name ", " #x ", " #y, (void *)a, (void *)b, c)
#define tl_mfma_scale(name, x, y, wa, wb) tl_scaled(#name ", " #x ", " #y, (void *)a, (void *)b, c, &scale_a, &scale_b)
static inline void tl_scaled(const char *name, void *a, void *b, void *c, void *scale_a, void *scale_b)
{
    void *const at[] = {a, b, c, scale_a, scale_b};
    tl_host->op(0, name, at, 5);
}

/* Of n elements that each lane of 16 reads, 16 / n lanes a row: lane l gets element l % n of those that lane l / n of
 * every row has read. */
static inline tl_u64 tl_read_tr(const void *p, tl_u32 n)
{
    tl_u64 mine, r = 0;
    __builtin_memcpy(&mine, p, sizeof mine);
    const tl_u64 *all = tl_wave(mine, 0);
    const tl_u32 lane = tl_wave_lane(), in = lane % 16;
    for (tl_u32 i = 0; i < n; i++)
        r |= (all[lane - in + i * (16 / n) + in / n] >> in % n * (64 / n) & (1ull << 64 / n) - 1) << i * (64 / n);
    return r;
}
#define tl_ds_read_tr(p) tl_read_tr(p, 4)
#define tl_ds_read_tr8(p) tl_read_tr(p, 8)

/* A tensor and its bytes: what is past them reads as zeros. */
struct tl_descriptor { const char *p; tl_u32 n; };
template <int n> struct tl_bytes { unsigned char at[n]; };
template <int n> static inline tl_bytes<n> tl_buffer_read(tl_descriptor d, tl_u32 at)
{
    tl_bytes<n> r = {};
    if ((tl_u64)at + n <= d.n)
        __builtin_memcpy(r.at, d.p + at, n);
    return r;
}
#define tl_buffer(p, bytes) tl_descriptor{(const char *)(p), (tl_u32)(bytes)}
#define tl_buffer_load_2(r, at) tl_buffer_read<2>(r, at)
#define tl_buffer_load_4(r, at) tl_buffer_read<4>(r, at)
#define tl_buffer_load_8(r, at) tl_buffer_read<8>(r, at)
#define tl_buffer_load_16(r, at) tl_buffer_read<16>(r, at)

/* Copies straight to shared memory: the machine lands them when the thread waits, no sooner. */
#define tl_load_lds_4(to, from) tl_load_straight(4, to, from)
#define tl_load_lds_16(to, from) tl_load_straight(16, to, from)
#define tl_vmcnt(n) tl_wait_straight(n)
static inline void tl_load_straight(int n, void *to, const void *from)
{
    void *const at[] = {to, (void *)from, &n};
    tl_host->op(0, "load_lds", at, 3);
}
static inline void tl_wait_straight(int n)
{
    void *const at[] = {&n};
    tl_host->op(0, "vmcnt", at, 1);
}

/* ---- a workgroup ----------------------------------------------------------------------------- */

#define __builtin_amdgcn_s_barrier() tl_host->meet(0, 0)
#define __builtin_amdgcn_s_sleep(n) tl_host->look_again()
#define __trap() tl_host->fail()

/* Of the workgroups that run together each has its own. */
#define tl_of_workgroup(T, name, n)                                                                \
    static T tl_all_##name[4096][n];                                                               \
    T *const name = tl_all_##name[(tl_self->block.x + tl_self->nblock.x * (tl_self->block.y + tl_self->nblock.y * tl_self->block.z)) % 4096]

static inline void __builtin_amdgcn_fence(int, const char *scope)
{
    if (scope[1] != 'a') /* not of a wave */
        tl_self->fenced = 1, tl_self->looked = 0;
}

/* ---- memory of others ------------------------------------------------------------------------ */

enum { __HIP_MEMORY_SCOPE_WORKGROUP = 3, __HIP_MEMORY_SCOPE_AGENT = 4 };

/* Threads give way only where they wait: what happens between two waits is one step. */
#define TL_ATOMIC(name, next)                                                                      \
    template <class T> static inline T __hip_atomic_##name(T *p, T x, int, int)                    \
    {                                                                                              \
        tl_self->hasty = !tl_self->fenced, tl_self->acted = 1;                                     \
        const T was = *p;                                                                          \
        *p = next;                                                                                 \
        return was;                                                                                \
    }
TL_ATOMIC(fetch_add, was + x)
TL_ATOMIC(fetch_max, was > x ? was : x)
TL_ATOMIC(fetch_min, was < x ? was : x)
TL_ATOMIC(fetch_or, was | x)
TL_ATOMIC(fetch_and, was & x)
TL_ATOMIC(fetch_xor, was ^ x)
TL_ATOMIC(exchange, x)

template <class T> static inline T __hip_atomic_load(T *p, int, int) { return *p; }
template <class T> static inline bool __hip_atomic_compare_exchange_strong(T *p, T *was, T next, int, int, int)
{
    const T old = *p;
    const bool same = old == *was;
    if (same)
        *p = next, tl_self->acted = 1;
    *was = old;
    return same;
}

/* ---- functions of numbers: ocml's are the C library's ----------------------------------------- */

#define TL_MATH1(name)                                                                             \
    extern "C" double name(double);                                                                \
    extern "C" float name##f(float);                                                               \
    extern "C" { static inline float __ocml_##name##_f32(float x) { return name##f(x); } }         \
    extern "C" { static inline double __ocml_##name##_f64(double x) { return name(x); } }
#define TL_MATH2(name)                                                                             \
    extern "C" double name(double, double);                                                        \
    extern "C" float name##f(float, float);                                                        \
    extern "C" { static inline float __ocml_##name##_f32(float x, float y) { return name##f(x, y); } } \
    extern "C" { static inline double __ocml_##name##_f64(double x, double y) { return name(x, y); } }
TL_MATH1(acos) TL_MATH1(acosh) TL_MATH1(asin) TL_MATH1(asinh) TL_MATH1(atan) TL_MATH1(atanh) TL_MATH1(cos)
TL_MATH1(cosh) TL_MATH1(erf) TL_MATH1(exp) TL_MATH1(exp2) TL_MATH1(exp10) TL_MATH1(log) TL_MATH1(log1p)
TL_MATH1(log2) TL_MATH1(log10) TL_MATH1(sin) TL_MATH1(sinh) TL_MATH1(tan) TL_MATH1(tanh)
TL_MATH2(atan2) TL_MATH2(fmod) TL_MATH2(hypot) TL_MATH2(nextafter)
extern "C" double pow(double, double);
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
extern "C" { static inline float __ocml_pow_f32(float x, float y) { return (float)pow((double)x, (double)y); } }
extern "C" { static inline double __ocml_pow_f64(double x, double y) { return pow(x, y); } }
extern "C" { static inline float __ocml_ldexp_f32(float x, int n) { return ldexpf(x, n); } }
extern "C" { static inline double __ocml_ldexp_f64(double x, int n) { return ldexp(x, n); } }

/* Angles of these two are in turns. */
static inline float __builtin_amdgcn_sinf(float x) { return (float)sin((double)x * 6.283185307179586); }
static inline float __builtin_amdgcn_cosf(float x) { return (float)cos((double)x * 6.283185307179586); }
static inline float __builtin_amdgcn_exp2f(float x) { return exp2f(x); }
static inline float __builtin_amdgcn_logf(float x) { return log2f(x); }
static inline float __builtin_amdgcn_rcpf(float x) { return 1 / x; }

/* The instructions give the other operand for a NaN, and tell the zeros apart. */
#define fminf(x, y) tl_lesser<float>(x, y)
#define fmin(x, y) tl_lesser<double>(x, y)
#define fmaxf(x, y) tl_greater<float>(x, y)
#define fmax(x, y) tl_greater<double>(x, y)
template <class T> static inline T tl_lesser(T a, T b) { return b != b || a < b || (a == b && __builtin_signbit(a)) ? a : b; }
template <class T> static inline T tl_greater(T a, T b) { return b != b || a > b || (a == b && !__builtin_signbit(a)) ? a : b; }

/* One operation with a rounding of its own, by the instruction's name: done by the processor in that
 * mode, 1 up, 2 down, 3 toward zero. */
extern "C" int fegetround(void);
extern "C" int fesetround(int);
template <class T, class F> __attribute__((noinline)) static T tl_rounded(int how, F f)
{
#if defined(__x86_64__) || defined(__i386__)
    static const int mode[] = {0, 0x800, 0x400, 0xc00};
#else
    static const int mode[] = {0, 0x400000, 0x800000, 0xc00000};
#endif
    const int before = fegetround();
    fesetround(mode[how]);
    volatile T r = f(); /* done before the mode changes back */
    fesetround(before);
    return r;
}
static inline float tl_fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double tl_fused(double x, double y, double z) { return __builtin_fma(x, y, z); }
#define tl_mode(bit, how)
#define tl_in_mode(bit, how, op)
#define tl_rounded2(T, bit, how, op)                                                               \
    [](T a, T b) { volatile T x = a, y = b; return tl_rounded<T>(how, [&] { return op[2] == 'a' ? x + y : x * y; }); }
#define tl_rounded3(T, bit, how, op)                                                               \
    [](T a, T b, T c) { volatile T x = a, y = b, z = c; return tl_rounded<T>(how, [&] { return tl_fused((T)x, (T)y, (T)z); }); }
