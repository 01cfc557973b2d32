/* text.h -- what every text needs on the host, whatever its language: who runs it, and a way into each
 * kernel. */

static const TlHost *tl_host;
static TlThread *tl_self;

extern "C" __attribute__((visibility("default"))) TlThread **tl_entry(const TlHost *host)
{
    tl_host = host;
    return &tl_self;
}

/* Where x is, if it has a place and the copy's size; else the copy. */
template <class T> struct tl_has_place { enum { value = 0 }; };
template <class T> struct tl_has_place<T &> { enum { value = 1 }; };

template <class T, class U> static inline void *tl_place(T &&x, U *copy)
{
    return tl_has_place<T>::value && sizeof x == sizeof *copy ? (void *)&x : (void *)copy;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* C's functions of numbers, each for float and double under one name too: what a language writes that has them.
 * <math.h> of C++ gives the same and takes the compiler four times as long as all the rest. */
#define TL_BOTH1(name)                                                                             \
    extern "C" double name(double);                                                                \
    extern "C" float name##f(float);                                                               \
    static inline float name(float x) { return name##f(x); }
#define TL_BOTH2(name)                                                                             \
    extern "C" double name(double, double);                                                        \
    extern "C" float name##f(float, float);                                                        \
    static inline float name(float x, float y) { return name##f(x, y); }
#define TL_BOTH_WITH(name, R, T)                                                                   \
    extern "C" R name(double, T);                                                                  \
    extern "C" float name##f(float, T);                                                            \
    static inline float name(float x, T y) { return name##f(x, y); }
#define TL_BOTH_TO(name, R)                                                                        \
    extern "C" R name(double);                                                                     \
    extern "C" R name##f(float);                                                                   \
    static inline R name(float x) { return name##f(x); }
#define TL_CLASS(name)                                                                             \
    template <class T> static inline int name(T x) { return __builtin_##name(x); }
#define TL_C_MATH                                                                                  \
    TL_BOTH1(acos) TL_BOTH1(acosh) TL_BOTH1(asin) TL_BOTH1(asinh) TL_BOTH1(atan) TL_BOTH1(atanh)   \
    TL_BOTH1(cbrt) TL_BOTH1(ceil) TL_BOTH1(cos) TL_BOTH1(cosh) TL_BOTH1(erf) TL_BOTH1(erfc)        \
    TL_BOTH1(exp) TL_BOTH1(exp2) TL_BOTH1(exp10) TL_BOTH1(expm1) TL_BOTH1(fabs) TL_BOTH1(floor)    \
    TL_BOTH1(lgamma) TL_BOTH1(log) TL_BOTH1(log10) TL_BOTH1(log1p) TL_BOTH1(log2) TL_BOTH1(logb)   \
    TL_BOTH1(nearbyint) TL_BOTH1(rint) TL_BOTH1(round) TL_BOTH1(sin) TL_BOTH1(sinh) TL_BOTH1(sqrt) \
    TL_BOTH1(tan) TL_BOTH1(tanh) TL_BOTH1(tgamma) TL_BOTH1(trunc)                                  \
    TL_BOTH2(atan2) TL_BOTH2(copysign) TL_BOTH2(fdim) TL_BOTH2(fmax) TL_BOTH2(fmin)                \
    TL_BOTH2(fmod) TL_BOTH2(hypot) TL_BOTH2(nextafter) TL_BOTH2(pow) TL_BOTH2(remainder)           \
    TL_BOTH_WITH(ldexp, double, int) TL_BOTH_WITH(frexp, double, int *)                            \
    TL_BOTH_TO(lrint, long) TL_BOTH_TO(lround, long) TL_BOTH_TO(ilogb, int)                        \
    extern "C" double fma(double, double, double);                                                 \
    extern "C" float fmaf(float, float, float);                                                    \
    static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }                   \
    static inline float abs(float x) { return fabsf(x); }                                          \
    static inline double abs(double x) { return fabs(x); }                                         \
    static inline long abs(long x) { return __builtin_labs(x); }                                   \
    extern "C" int abs(int);                                                                       \
    TL_CLASS(isfinite) TL_CLASS(isinf) TL_CLASS(isnan) TL_CLASS(isnormal) TL_CLASS(signbit)

/* ---- the way in ------------------------------------------------------------------------------ */

template <int... I> struct tl_numbers {};
#if defined(__clang__)
template <class T, T... I> using tl_made = tl_numbers<I...>;
template <int N> using tl_count = __make_integer_seq<tl_made, int, N>;
#else
template <int N> using tl_count = tl_numbers<__integer_pack(N)...>;
#endif

template <class T> struct tl_plain { typedef T type; };
template <class T> struct tl_plain<const T> { typedef T type; };

template <class... A, int... I> static inline void tl_call_with(void (*f)(A...), void **p, tl_numbers<I...>)
{
    f(*(typename tl_plain<A>::type *)p[I]...);
}

template <class... A> static inline void tl_call(void (*f)(A...), void **p)
{
    tl_call_with(f, p, tl_count<sizeof...(A)>());
}

#define TL_KERNEL(name, x, y, z, most, says)                                                       \
    static void tl_run_##name(void **p) { tl_call(name, p); }                                      \
    extern "C" __attribute__((visibility("default"))) const TlKernel tl_kernel_##name = {tl_run_##name, {x, y, z}, most, says};
