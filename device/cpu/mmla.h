/* mmla.h -- products of tiles by pairs of rows and pairs of columns, on aarch64 with bf16 and i8mm.
 *
 * bfmmla and smmla take two rows of A and two columns of B, eight bytes along k of each, and add
 * their four dot products to four sums: twice what bfdot and sdot do.  Both operands are packed
 * alike, in strips of so many rows of A or columns of B; one step of k is a strip's words of eight
 * bytes, one after the other, so that a register has those of two rows or columns:
 *
 *     (r, k)   r/R * R * K + k/G * R * G + r%R * G + k%G      G elements in eight bytes
 *
 * K is filled with zeros to a multiple of G, R to whole strips.  A microkernel has 8 rows and 12
 * columns: 24 registers of sums, 4 of A and one of B.  bfmmla rounds sums to odd on their way and
 * flushes denormals, which the accumulator of float32 hides but for its last bits. */
#ifndef TL_MMLA_H
#define TL_MMLA_H

enum { TL_PAIR_ROWS = 8, TL_PAIR_COLS = 12 };
typedef uint64_t tl_word __attribute__((may_alias));
typedef uint64_t tl_word_u __attribute__((aligned(1), may_alias));

/* A strip of R rows: element (r, k) is src[r * rs + k * ks]. */
#define TL_PACK_PAIRS(sfx, Elem)                                                                   \
static __attribute__((unused)) void tl_pack_pairs_##sfx(Elem *restrict q, long R,                  \
    const Elem *restrict src, long rs, long ks, long rows, long k)                                 \
{                                                                                                  \
    enum { G = 8 / sizeof(Elem) };                                                                 \
    for (long p = 0; p < k; p += G, q += R * G) {                                                  \
        const Elem *restrict s = src + p * ks;                                                     \
        if (ks == 1 && p + G <= k) {                                                               \
            for (long r = 0; r < R; r++)                                                           \
                ((tl_word *)q)[r] = r < rows ? *(const tl_word_u *)(s + r * rs) : 0;               \
            continue;                                                                              \
        }                                                                                          \
        for (long g = 0; g < G; g++)                                                               \
            for (long r = 0; r < R; r++)                                                           \
                q[r * G + g] = r < rows && p + g < k ? s[r * rs + g * ks] : (Elem)0;               \
    }                                                                                              \
}
TL_PACK_PAIRS(s8, int8_t)
TL_PACK_PAIRS(bf16, uint16_t)

typedef float tl_sums_bf16 __attribute__((vector_size(16)));
typedef int32_t tl_sums_s8 __attribute__((vector_size(16)));
typedef uint64_t tl_words __attribute__((vector_size(16), may_alias));
#define TL_PAIR_DO_bf16 "bfmmla %0.4s, %1.8h, %2.8h"
#define TL_PAIR_DO_s8 "smmla %0.4s, %1.16b, %2.16b"

#define TL_COLS6(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3) X(i, 4) X(i, 5)
#define TL_TILES24(X) TL_COLS6(X, 0) TL_COLS6(X, 1) TL_COLS6(X, 2) TL_COLS6(X, 3)
#define TL_PAIR_ZERO(i, j) Sums c##i##j = {0};
#define TL_PAIR_STEP(i, j) __asm__(TL_PAIR_DO : "+w"(c##i##j) : "w"(a##i), "w"(b##j));
#define TL_PAIR_COL(j) const tl_words b##j = bw[j]; TL_PAIR_STEP(0, j) TL_PAIR_STEP(1, j)          \
    TL_PAIR_STEP(2, j) TL_PAIR_STEP(3, j)
/* The lower half belongs to the even row. */
#define TL_PAIR_PUT(i, j) { Acc *even = c + 2 * (i) * ldc + 2 * (j), *odd = even + ldc;            \
    if (add) { even[0] += c##i##j[0]; even[1] += c##i##j[1];                                       \
               odd[0] += c##i##j[2]; odd[1] += c##i##j[3]; }                                       \
    else { even[0] = c##i##j[0]; even[1] = c##i##j[1]; odd[0] = c##i##j[2]; odd[1] = c##i##j[3]; } }

#define TL_PAIR_MICRO(sfx, Acc_)                                                                   \
static __attribute__((noinline, unused)) void tl_pairs_##sfx(long steps, const void *restrict a,   \
    const void *restrict b, Acc_ *restrict c, long ldc, int add)                                   \
{                                                                                                  \
    typedef tl_sums_##sfx Sums;                                                                    \
    typedef Acc_ Acc;                                                                              \
    const tl_words *aw = a, *bw = b;                                                               \
    TL_TILES24(TL_PAIR_ZERO)                                                                       \
    for (; steps > 0; steps--, aw += TL_PAIR_ROWS / 2, bw += TL_PAIR_COLS / 2) {                   \
        const tl_words a0 = aw[0], a1 = aw[1], a2 = aw[2], a3 = aw[3];                             \
        TL_PAIR_COL(0) TL_PAIR_COL(1) TL_PAIR_COL(2)                                               \
        TL_PAIR_COL(3) TL_PAIR_COL(4) TL_PAIR_COL(5)                                               \
    }                                                                                              \
    TL_TILES24(TL_PAIR_PUT)                                                                        \
}
#define TL_PAIR_DO TL_PAIR_DO_bf16
TL_PAIR_MICRO(bf16, float)
#undef TL_PAIR_DO
#define TL_PAIR_DO TL_PAIR_DO_s8
TL_PAIR_MICRO(s8, int32_t)
#undef TL_PAIR_DO

/* C[0:m, 0:n] (+)= A[0:m, 0:k] * B[0:k, 0:n], as in tile.h.  Microtiles that the edge cuts are made
 * in t, and their valid part moved. */
#define TL_TILE_PAIRS(name, sfx, Elem, Acc)                                                        \
static __attribute__((unused, noinline)) void name(long m, long n, long k, const Elem *a,          \
    long ars, long aks, const Elem *b, long bks, long bns, Acc *c, long ldc, int add, int more,    \
    char *scratch)                                                                                 \
{                                                                                                  \
    enum { G = 8 / sizeof(Elem), MR = TL_PAIR_ROWS, NR = TL_PAIR_COLS };                           \
    k = k < 0 ? 0 : k;                                                                             \
    const long kt = TL_UP(k, G);                                                                   \
    Elem *as = (Elem *)scratch, *bs = as + MR * TL_UP(k, 64);                                      \
    (void)more;                                                                                    \
    for (long j = 0; j < n; j += NR)                                                               \
        tl_pack_pairs_##sfx(bs + j * kt, NR, b + j * bns, bns, bks, n - j, k);                     \
    for (long i = 0; i < m; i += MR) {                                                             \
        const long rows = m - i < MR ? m - i : MR;                                                 \
        tl_pack_pairs_##sfx(as, MR, a + i * ars, ars, aks, rows, k);                               \
        for (long j = 0; j < n; j += NR) {                                                         \
            const long cols = n - j < NR ? n - j : NR;                                             \
            Acc *cs = c + i * ldc + j, t[MR * NR];                                                 \
            if (rows == MR && cols == NR) {                                                        \
                tl_pairs_##sfx(kt / G, as, bs + j * kt, cs, ldc, add);                             \
                continue;                                                                          \
            }                                                                                      \
            tl_pairs_##sfx(kt / G, as, bs + j * kt, t, NR, 0);                                     \
            for (long x = 0; x < rows; x++)                                                        \
                for (long y = 0; y < cols; y++)                                                    \
                    cs[x * ldc + y] = t[x * NR + y] + (add ? cs[x * ldc + y] : (Acc)0);            \
        }                                                                                          \
    }                                                                                              \
}

#endif
