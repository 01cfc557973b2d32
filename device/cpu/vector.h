/* vector.h -- whole vectors of f32, for loops that are not left to the C compiler.
 *
 * Those are loops with an exponential, which AVX-512 has instructions for that no C expression
 * becomes; loops that fold, which want more than one accumulator; and loops whose results go past
 * the caches.  Inline assembly, since compilers differ in the names of builtins. */
#ifndef TL_VECTOR_H
#define TL_VECTOR_H

#if TL_VECTOR_BYTES >= 32 || defined(__aarch64__)

typedef float tl_v __attribute__((vector_size(TL_VECTOR_BYTES), may_alias));
typedef float tl_vu __attribute__((vector_size(TL_VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t tl_vi __attribute__((vector_size(TL_VECTOR_BYTES), may_alias));
typedef uint32_t tl_vw __attribute__((vector_size(TL_VECTOR_BYTES), may_alias));
enum { TL_LANES = TL_VECTOR_BYTES / 4 };

TL_INLINE tl_v tl_vsplat(float x) { return x - (tl_v){0}; }
TL_INLINE tl_v tl_vload(const float *p) { return *(const tl_vu *)p; }
TL_INLINE void tl_vstore(float *p, tl_v x) { *(tl_vu *)p = x; }

/* The first n lanes, 0 < n < TL_LANES; the others are 0, and not read or written. */
#if defined(__AVX512F__) && TL_VECTOR_BYTES == 64
TL_INLINE tl_v tl_vload_few(const float *p, int64_t n)
{
    tl_v r;
    const uint16_t m = (uint16_t)((1u << n) - 1);
    __asm__("vmovups %1, %0 %{%2%}%{z%}" : "=v"(r) : "m"(*(const tl_vu *)p), "Yk"(m));
    return r;
}
TL_INLINE void tl_vstore_few(float *p, tl_v x, int64_t n)
{
    const uint16_t m = (uint16_t)((1u << n) - 1);
    __asm__("vmovups %1, %0 %{%2%}" : "+m"(*(tl_vu *)p) : "v"(x), "Yk"(m));
}
#else
TL_INLINE tl_v tl_vload_few(const float *p, int64_t n)
{
    tl_v r = {0};
    for (int64_t i = 0; i < n; i++)
        r[i] = p[i];
    return r;
}
TL_INLINE void tl_vstore_few(float *p, tl_v x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = x[i];
}
#endif

/* m is all ones or all zeros in each lane */
TL_INLINE tl_v tl_vchoose(tl_vi m, tl_v a, tl_v b)
{
    return (tl_v)(((tl_vi)a & m) | ((tl_vi)b & ~m));
}

/* p is aligned to the vector.  Other threads see it after tl_vfence. */
#if defined(__aarch64__)
TL_INLINE void tl_vstream(float *p, tl_v x) { *(tl_v *)p = x; } /* past the caches only in pairs */
TL_INLINE void tl_vfence(void) {}

/* b when one is NaN */
TL_INLINE tl_v tl_vabove(tl_v a, tl_v b) { return tl_vchoose((tl_vi)(a > b), a, b); }
TL_INLINE tl_v tl_vbelow(tl_v a, tl_v b) { return tl_vchoose((tl_vi)(a < b), a, b); }
TL_INLINE tl_v tl_vsqrt(tl_v x)
{
    tl_v r;
#if TL_VECTOR_BYTES == 16
    __asm__("fsqrt %0.4s, %1.4s" : "=w"(r) : "w"(x));
#else
    for (int i = 0; i < TL_LANES; i++)
        r[i] = __builtin_sqrtf(x[i]);
#endif
    return r;
}
#else
TL_INLINE void tl_vstream(float *p, tl_v x)
{
    __asm__ volatile("vmovntps %1, %0" : "=m"(*(tl_v *)p) : "v"(x));
}
TL_INLINE void tl_vfence(void) { __asm__ volatile("sfence" ::: "memory"); }

/* b when one is NaN */
TL_INLINE tl_v tl_vabove(tl_v a, tl_v b)
{
    tl_v r;
    __asm__("vmaxps %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
    return r;
}
TL_INLINE tl_v tl_vbelow(tl_v a, tl_v b)
{
    tl_v r;
    __asm__("vminps %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
    return r;
}

TL_INLINE tl_v tl_vsqrt(tl_v x)
{
    tl_v r;
    __asm__("vsqrtps %1, %0" : "=v"(r) : "v"(x));
    return r;
}
#endif

/* Past the caches where p happens to be aligned. */
TL_INLINE void tl_vstream_any(float *p, tl_v x)
{
    if ((uintptr_t)p & (TL_VECTOR_BYTES - 1))
        tl_vstore(p, x);
    else
        tl_vstream(p, x);
}

/* n elements past the caches, but for those of lines that are not whole; `from` is aligned. */
TL_INLINE void tl_stream(float *to, const float *from, int32_t n)
{
    int32_t i = (int32_t)(-(uintptr_t)to & (TL_VECTOR_BYTES - 1)) / 4;
    i = i < n ? i : n;
    __builtin_memcpy(to, from, (uint32_t)i * 4);
    for (; i <= n - TL_LANES; i += TL_LANES)
        tl_vstream(to + i, tl_vload(from + i));
    if (i < n)
        __builtin_memcpy(to + i, from + i, (uint32_t)(n - i) * 4);
}

/* The other operand when one is NaN. */
TL_INLINE tl_v tl_vmax(tl_v a, tl_v b) { return tl_vchoose((tl_vi)(b != b), a, tl_vabove(a, b)); }
TL_INLINE tl_v tl_vmin(tl_v a, tl_v b) { return tl_vchoose((tl_vi)(b != b), a, tl_vbelow(a, b)); }

/* NaN when one is. */
TL_INLINE tl_v tl_vabove_nan(tl_v a, tl_v b)
{
    return tl_vchoose((tl_vi)(b != b), b, tl_vabove(b, a));
}
TL_INLINE tl_v tl_vbelow_nan(tl_v a, tl_v b)
{
    return tl_vchoose((tl_vi)(b != b), b, tl_vbelow(b, a));
}

/* as in scalar.h: the second of two that are equal */
TL_INLINE tl_v tl_vmax_nan(tl_v a, tl_v b) { return tl_vabove_nan(b, a); }
TL_INLINE tl_v tl_vmin_nan(tl_v a, tl_v b) { return tl_vbelow_nan(b, a); }

TL_INLINE tl_v tl_vabs(tl_v x) { return (tl_v)((tl_vi)x & 0x7fffffff); }
TL_INLINE tl_v tl_vrsqrt(tl_v x) { return 1.0f / tl_vsqrt(x); }
TL_INLINE tl_v tl_vrcp(tl_v x) { return 1.0f / x; }

/* --- across a vector: halves of it are joined, again and again --- */

typedef float tl_v8 __attribute__((vector_size(32), may_alias));
typedef float tl_v4 __attribute__((vector_size(16), may_alias));
typedef int32_t tl_vi8 __attribute__((vector_size(32), may_alias));
typedef int32_t tl_vi4 __attribute__((vector_size(16), may_alias));

#define TL_EITHER(V, I, m, a, b) ((V)(((I)(a) & (m)) | ((I)(b) & ~(m))))
#define TL_SUM(V, I, a, b) ((a) + (b))
#define TL_HIGHER(V, I, a, b) TL_EITHER(V, I, (I)((a) > (b)), a, b)
#define TL_LOWER(V, I, a, b) TL_EITHER(V, I, (I)((a) < (b)), a, b)
#define TL_HIGHER_NAN(V, I, a, b) TL_EITHER(V, I, (I)((a) > (b)) | (I)((a) != (a)), a, b)
#define TL_LOWER_NAN(V, I, a, b) TL_EITHER(V, I, (I)((a) < (b)) | (I)((a) != (a)), a, b)

#if TL_VECTOR_BYTES == 64
#define TL_TO_EIGHT(JOIN)                                                                          \
    const union { tl_v v; tl_v8 half[2]; } sixteen = {x};                                          \
    const tl_v8 of_sixteen = JOIN(tl_v8, tl_vi8, sixteen.half[0], sixteen.half[1]);
#else
#define TL_TO_EIGHT(JOIN) const tl_v of_sixteen = x;
#endif
#if TL_VECTOR_BYTES >= 32
#define TL_TO_FOUR(JOIN)                                                                           \
    TL_TO_EIGHT(JOIN)                                                                              \
    const union { tl_v8 v; tl_v4 half[2]; } eight = {of_sixteen};                                  \
    const tl_v4 four = JOIN(tl_v4, tl_vi4, eight.half[0], eight.half[1]);
#else
#define TL_TO_FOUR(JOIN) const tl_v4 four = x;
#endif
#define TL_ACROSS(name, JOIN)                                                                      \
TL_INLINE float name(tl_v x)                                                                       \
{                                                                                                  \
    TL_TO_FOUR(JOIN)                                                                               \
    const tl_v4 next = {four[2], four[3], four[2], four[3]};                                       \
    const tl_v4 two = JOIN(tl_v4, tl_vi4, four, next), last = {two[1], two[1], two[1], two[1]};    \
    return JOIN(tl_v4, tl_vi4, two, last)[0];                                                      \
}
TL_ACROSS(tl_vsum, TL_SUM)
TL_ACROSS(tl_vhighest, TL_HIGHER)
TL_ACROSS(tl_vlowest, TL_LOWER)
TL_ACROSS(tl_vhighest_nan, TL_HIGHER_NAN)
TL_ACROSS(tl_vlowest_nan, TL_LOWER_NAN)

/* --- exponentials, as in math.h --- */

#define TL_V2POLY(p, f, one)                                                                       \
    p = p * f + 9.671762953878366e-3f * one;                                                       \
    p = p * f + 5.550891438819218e-2f * one;                                                       \
    p = p * f + 2.4022237035983857e-1f * one;                                                      \
    p = p * f + 6.931468292474326e-1f * one;                                                       \
    p = p * f + one;

#define TL_VEPOLY(p, r)                                                                            \
    p = p * r + 1.3933647862928863e-3f;                                                            \
    p = p * r + 8.333310927615311e-3f;                                                             \
    p = p * r + 4.1666464944505696e-2f;                                                            \
    p = p * r + 1.6666666681621095e-1f;                                                            \
    p = p * r + 0.5f;                                                                              \
    p = p * (r * r) + r;

#if defined(__AVX512DQ__) && TL_VECTOR_BYTES == 64

/* p * 2^n, rounded once; 2^n of an infinity is an infinity or 0 */
TL_INLINE tl_v tl_vscale(tl_v p, tl_v n)
{
    tl_v r;
    __asm__("vscalefps %2, %1, %0" : "=v"(r) : "v"(p), "v"(n));
    return r;
}

TL_INLINE tl_v tl_vexp2(tl_v x)
{
    tl_v f; /* x less the nearest integer; 0 for an infinity */
    __asm__("vreduceps $0, %1, %0" : "=v"(f) : "v"(x));
    tl_v p = tl_vsplat(1.3225707496213347e-3f);
    TL_V2POLY(p, f, 1.0f)
    return tl_vscale(p, x - f);
}

TL_INLINE tl_v tl_vexp(tl_v x)
{
    const tl_v c = tl_vbelow(tl_vsplat(89.0f), tl_vabove(tl_vsplat(-104.5f), x)); /* NaN stays */
    tl_v n;
    __asm__("vrndscaleps $8, %1, %0" : "=v"(n) : "v"(c * 1.44269504f));
    const tl_v r = (c - n * 0.693359375f) - n * -2.12194440e-4f;
    tl_v p = tl_vsplat(1.9890988455544567e-4f);
    TL_VEPOLY(p, r)
    return tl_vscale(p + 1.0f, n);
}

#else

TL_INLINE tl_v tl_vscale(tl_v p, tl_v z)
{
    const tl_vw n = (tl_vw)z, h = n >> 1;
    return (tl_v)((tl_vw)p + (h << 23)) * (tl_v)((n - h) << 23);
}

TL_INLINE tl_v tl_vexp2(tl_v x)
{
    const tl_v c = tl_vbelow(tl_vsplat(129.0f), tl_vabove(tl_vsplat(-151.0f), x));
    const tl_v z = c + TL_ROUND_F32, f = c - (z - TL_ROUND_F32);
    tl_v p = tl_vsplat(1.3225707496213347e-3f * TL_SMALL_F32);
    TL_V2POLY(p, f, TL_SMALL_F32)
    return tl_vchoose((tl_vi)(x != x), x, tl_vscale(p, z));
}

TL_INLINE tl_v tl_vexp(tl_v x)
{
    const tl_v c = tl_vbelow(tl_vsplat(89.0f), tl_vabove(tl_vsplat(-104.5f), x));
    const tl_v z = c * 1.44269504f + TL_ROUND_F32, n = z - TL_ROUND_F32;
    const tl_v r = (c - n * 0.693359375f) - n * -2.12194440e-4f;
    tl_v p = tl_vsplat(1.9890988455544567e-4f);
    TL_VEPOLY(p, r)
    return tl_vchoose((tl_vi)(x != x), x, tl_vscale(p * TL_SMALL_F32 + TL_SMALL_F32, z));
}

#endif

/* as in math.h */
TL_INLINE tl_v tl_vsigmoid(tl_v x)
{
    const tl_v e = tl_vexp(-tl_vabs(x)), s = 1.0f + e;
    const tl_v q = tl_vchoose((tl_vi)(x < 0.0f), e, tl_vsplat(1.0f)) / s;
    const tl_v lost = (e - (s - 1.0f)) * (1.41176471f - 0.470588235f * s);
    return q - q * lost;
}

TL_INLINE tl_v tl_vsigned(tl_v a, tl_v x) /* a is not negative */
{
    return (tl_v)((tl_vi)a | ((tl_vi)x & (int32_t)0x80000000));
}

TL_INLINE tl_v tl_vtanh(tl_v x)
{
    const tl_v a = tl_vabs(x), t = a * a;
    const tl_v big = 1.0f - 2.0f / (tl_vexp(2.0f * a) + 1.0f);
    tl_v p = tl_vsplat(2.2927448161781422e-3f);
    p = p * t - 8.3439455158391528e-3f;
    p = p * t + 2.1768918651028209e-2f;
    p = p * t - 5.3959259577204544e-2f;
    p = p * t + 1.333330355691574e-1f;
    p = p * t - 3.3333333174140361e-1f;
    return tl_vsigned(tl_vchoose((tl_vi)(a < 0.625f), a + a * (t * p), big), x);
}

TL_INLINE tl_v tl_verf(tl_v x)
{
    const tl_v a = tl_vabs(x), t = a * a, m = tl_vchoose((tl_vi)(a > 4.0f), tl_vsplat(4.0f), a);
    tl_v q = tl_vsplat(2.361910227018601e-6f), p = tl_vsplat(-9.6670445714869965e-6f);
    q = q * m - 6.6447709780746272e-5f;
    q = q * m + 8.6100851651544198e-4f;
    q = q * m - 6.8666459689287326e-3f;
    q = q * m + 3.8117641890024138e-2f;
    q = q * m - 1.5881198977090871e-1f;
    q = q * m - 9.1153231128885903e-1f;
    q = q * m - 1.6305821714934441f;
    q = q * m + 4.6186157666988073e-4f;
    p = p * t + 1.1265959025606609e-4f;
    p = p * t - 8.4840804055351068e-4f;
    p = p * t + 5.2210318078580228e-3f;
    p = p * t - 2.6865430727670243e-2f;
    p = p * t + 1.1283782495236845e-1f;
    p = p * t - 3.7612638468028708e-1f;
    p = p * t + 1.283791670615435e-1f;
    return tl_vsigned(tl_vchoose((tl_vi)(a < 1.0f), a + a * p, 1.0f - tl_vexp2(q)), x);
}

/* --- sine and cosine: quarters of a turn are taken away in f32, in parts whose products are exact
   up to TL_TURNS; what is larger goes one by one, as in math.h --- */

#define TL_TURNS 5000.0f

/* x less k quarters, and what rounding took of that; *k in the low bits. */
TL_INLINE tl_v tl_vquarter(tl_v x, tl_vi *k, tl_v *low)
{
    const tl_v z = x * 0.636619772f + 12582912.0f, n = z - 12582912.0f;
    *k = (tl_vi)z;
    tl_v r = x - n * 1.5703125f;             /* 8 bits */
    r = r - n * 4.8351287841796875e-4f;      /* 12 bits */
    const tl_v high = r - n * 3.13855707645416259765625e-7f;
    *low = ((r - high) - n * 3.13855707645416259765625e-7f) - n * 6.077100506506192601475e-11f;
    return high;
}

TL_INLINE tl_v tl_vsine(tl_v x, int32_t turn)
{
    tl_vi k;
    tl_v low;
    const tl_v r = tl_vquarter(x, &k, &low), t = r * r;
    tl_v s = tl_vsplat(2.7183114939898219064e-6f), c = tl_vsplat(2.44331571e-5f);
    s = s * t - 1.9839334836096632e-4f;
    s = s * t + 8.3333293858894632e-3f;
    s = s * t - 1.6666666641626524e-1f;
    s = r + (r * (s * t) + low);
    c = c * t - 1.38873162e-3f;
    c = c * t + 4.16666456e-2f;
    c = c * t - 0.5f;
    c = 1.0f + (c * t - r * low);
    k += turn;
    const tl_v y = tl_vchoose((k & 1) != 0, c, s);
    return (tl_v)((tl_vi)y ^ ((k & 2) << 30));
}
TL_INLINE int tl_vany(tl_vi m)
{
    int any = 0;
    for (int i = 0; i < TL_LANES; i++)
        any |= m[i];
    return any != 0;
}
TL_INLINE tl_v tl_vsin(tl_v x)
{
    tl_v y = tl_vsine(x, 0);
    y = tl_vchoose(tl_vabs(x) < 2.44140625e-4f, x, y);
    if (__builtin_expect(tl_vany(~(tl_vabs(x) <= TL_TURNS)), 0))
        for (int i = 0; i < TL_LANES; i++)
            y[i] = tl_sinf(x[i]);
    return y;
}
TL_INLINE tl_v tl_vcos(tl_v x)
{
    tl_v y = tl_vsine(x, 1);
    if (__builtin_expect(tl_vany(~(tl_vabs(x) <= TL_TURNS)), 0))
        for (int i = 0; i < TL_LANES; i++)
            y[i] = tl_cosf(x[i]);
    return y;
}

/* --- logarithms --- */

/* log(x) + low for x of 2^-126 and more */
TL_INLINE tl_v tl_vlog_core(tl_v x, tl_v low, tl_v more)
{
    const tl_vi k = ((tl_vi)x - 0x3f3504f3) >> 23; /* from the square root of 1/2 on */
    const tl_v e = __builtin_convertvector(k, tl_v) + more;
    const tl_v f = (tl_v)((tl_vi)x - (k << 23)) - 1.0f, z = f * f;
    tl_v y = tl_vsplat(7.0376836292e-2f);
    y = y * f - 1.1514610310e-1f;
    y = y * f + 1.1676998740e-1f;
    y = y * f - 1.2420140846e-1f;
    y = y * f + 1.4249322787e-1f;
    y = y * f - 1.6668057665e-1f;
    y = y * f + 2.0000714765e-1f;
    y = y * f - 2.4999993993e-1f;
    y = y * f + 3.3333331174e-1f;
    y = y * (f * z) + (e * -2.12194440e-4f + low);
    return (f + (y - 0.5f * z)) + e * 0.693359375f;
}

/* Of 0 minus infinity, of less NaN, of infinity and NaN themselves. */
TL_INLINE tl_v tl_vlog_ends(tl_v x, tl_v r)
{
    r = tl_vchoose((tl_vi)(x < __builtin_inff()), r, x);
    r = tl_vchoose((tl_vi)(x < 0.0f), tl_vsplat(__builtin_nanf("")), r);
    return tl_vchoose((tl_vi)(x == 0.0f), tl_vsplat(-__builtin_inff()), r);
}

TL_INLINE tl_v tl_vlog(tl_v x)
{
    const tl_vi tiny = (tl_vi)(x < 0x1p-126f);
    const tl_v y = tl_vchoose(tiny, x * 8388608.0f, x);
    return tl_vlog_ends(x, tl_vlog_core(y, (tl_v){0}, tl_vchoose(tiny, tl_vsplat(-23.0f), (tl_v){0})));
}

TL_INLINE tl_v tl_vlog1p(tl_v x)
{
    const tl_v u = 1.0f + x, v = u - 1.0f, lost = (x - v) + (1.0f - (u - v));
    const tl_v r = tl_vlog_ends(u, tl_vlog_core(u, lost / u, (tl_v){0}));
    return tl_vchoose((tl_vi)(tl_vabs(x) < 0x1p-24f), x, r);
}

#endif
#endif
