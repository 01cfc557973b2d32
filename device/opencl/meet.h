/* meet.h -- threads of a block hand values to each other through local memory, where there are no
 * subgroups: a warp is 32 threads.  All threads of the block come by.  tl_words has a word of each of
 * the tl_all threads, of which this one is tl_me. */

#define tl_lane_of(x, from, width) tl_take(tl_words, tl_me, tl_all, x, (tl_me & ~((width) - 1)) | ((from) & ((width) - 1)))
#define tl_lane_xor(x, by, width) tl_take(tl_words, tl_me, tl_all, x, tl_within(tl_me, tl_me ^ (by), width))
#define tl_lane_down(x, by, width) tl_take(tl_words, tl_me, tl_all, x, tl_within(tl_me, tl_me + (by), width))
#define tl_lane_up(x, by, width) tl_take(tl_words, tl_me, tl_all, x, tl_within(tl_me, tl_me - (by), width))
#define tl_any(yes) (tl_vote(tl_words, tl_me, tl_all, yes, 0) != 0)
#define tl_every(yes) (tl_vote(tl_words, tl_me, tl_all, !(yes), 0) == 0)
#define tl_ballot(yes) tl_vote(tl_words, tl_me, tl_all, yes, 0)
#define tl_match_any(x) ((uint32_t)tl_vote(tl_words, tl_me, tl_all, x, 1))
#define tl_match_all(x) ((uint32_t)tl_vote(tl_words, tl_me, tl_all, x, 2))
#define tl_warp_f32(x, op) tl_fold_f32(tl_words, tl_me, tl_all, x, op)
#define tl_warp_f64(x, op) tl_fold_f64(tl_words, tl_me, tl_all, x, op)
#define tl_warp_i64(x, op) tl_fold_i64(tl_words, tl_me, tl_all, x, op)
#define tl_warp_u64(x, op) tl_fold_u64(tl_words, tl_me, tl_all, x, op)

/* Its own past the end of its part of `width` lanes. */
TL_DEVICE int32_t tl_within(int32_t me, int32_t from, int32_t width)
{
    const int32_t part = me & ~(width - 1);
    return from < part || from >= part + width ? me : from;
}

TL_DEVICE uint64_t tl_take(__local uint64_t *words, int32_t me, int32_t all, uint64_t x, int32_t from)
{
    words[me] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint64_t got = words[from < all ? from : me];
    barrier(CLK_LOCAL_MEM_FENCE);
    return got;
}

/* The lanes of the warp whose word is not 0; or is this one's; or all of them if they have one word. */
TL_DEVICE uint64_t tl_vote(__local uint64_t *words, int32_t me, int32_t all, uint64_t x, int32_t how)
{
    const int32_t first = me & ~31, n = all - first < 32 ? all - first : 32;
    uint64_t r = 0;
    words[me] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int32_t i = 0; i < n; i++)
        r |= (uint64_t)(how ? words[first + i] == x : words[first + i] != 0) << i;
    barrier(CLK_LOCAL_MEM_FENCE);
    return how < 2 || r == (uint64_t)-1 >> (64 - n) ? r : 0;
}

/* Sums (op 0), maxima (1) and minima (2) over a warp, in the order of lanes. */
TL_DEVICE float tl_fold_f32(__local uint64_t *words, int32_t me, int32_t all, float x, int32_t op)
{
    const int32_t first = me & ~31, last = first + 32 < all ? first + 32 : all;
    words[me] = as_uint(x);
    barrier(CLK_LOCAL_MEM_FENCE);
    float r = as_float((uint32_t)words[first]);
    for (int32_t i = first + 1; i < last; i++)
        r = tl_join_f32(r, as_float((uint32_t)words[i]), op);
    barrier(CLK_LOCAL_MEM_FENCE);
    return r;
}

TL_DEVICE double tl_fold_f64(__local uint64_t *words, int32_t me, int32_t all, double x, int32_t op)
{
    const int32_t first = me & ~31, last = first + 32 < all ? first + 32 : all;
    words[me] = as_ulong(x);
    barrier(CLK_LOCAL_MEM_FENCE);
    double r = as_double(words[first]);
    for (int32_t i = first + 1; i < last; i++)
        r = tl_join_f64(r, as_double(words[i]), op);
    barrier(CLK_LOCAL_MEM_FENCE);
    return r;
}

/* Of integers bits that all have (3) and that any has (4) too. */
TL_DEVICE int64_t tl_fold_i64(__local uint64_t *words, int32_t me, int32_t all, int64_t x, int32_t op)
{
    const int32_t first = me & ~31, last = first + 32 < all ? first + 32 : all;
    words[me] = (uint64_t)x;
    barrier(CLK_LOCAL_MEM_FENCE);
    int64_t r = (int64_t)words[first];
    for (int32_t i = first + 1; i < last; i++)
        r = tl_join_i64(r, (int64_t)words[i], op);
    barrier(CLK_LOCAL_MEM_FENCE);
    return r;
}

TL_DEVICE uint64_t tl_fold_u64(__local uint64_t *words, int32_t me, int32_t all, uint64_t x, int32_t op)
{
    const int32_t first = me & ~31, last = first + 32 < all ? first + 32 : all;
    words[me] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint64_t r = words[first];
    for (int32_t i = first + 1; i < last; i++)
        r = tl_join_u64(r, words[i], op);
    barrier(CLK_LOCAL_MEM_FENCE);
    return r;
}
