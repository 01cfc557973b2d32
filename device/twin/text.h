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
