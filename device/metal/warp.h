/* warp.h -- values that go from lane to lane of a SIMD-group of 32, and its matrices.
 *
 * `lane` is the lane that asks, width a power of two: lanes hand values on within parts of so many. */

template <class T> TL_DEVICE T tl_take(T x, int32_t from)
{
    return simd_shuffle(x, ushort(from & 31));
}

/* 64 bits in two halves. */
TL_DEVICE uint64_t tl_take(uint64_t x, int32_t from)
{
    const uint32_t low = simd_shuffle(uint32_t(x), ushort(from & 31));
    const uint32_t high = simd_shuffle(uint32_t(x >> 32), ushort(from & 31));
    return uint64_t(low) | uint64_t(high) << 32;
}

TL_DEVICE int64_t tl_take(int64_t x, int32_t from)
{
    const uint32_t low = simd_shuffle(uint32_t(x), ushort(from & 31));
    const uint32_t high = simd_shuffle(uint32_t(x >> 32), ushort(from & 31));
    return int64_t(uint64_t(low) | uint64_t(high) << 32);
}

template <class T> TL_DEVICE T tl_lane_of(T x, int32_t lane, int32_t from, int32_t width)
{
    return tl_take(x, (lane & ~(width - 1)) | (from & (width - 1)));
}

/* Past the end of its part a lane keeps its own. */
template <class T> TL_DEVICE T tl_lane_xor(T x, int32_t lane, int32_t by, int32_t width)
{
    const int32_t from = lane ^ by;
    const T got = tl_take(x, from);
    return from >= (lane & ~(width - 1)) + width ? x : got;
}

template <class T> TL_DEVICE T tl_lane_down(T x, int32_t lane, int32_t by, int32_t width)
{
    const int32_t from = lane + by;
    const T got = tl_take(x, from);
    return from >= (lane & ~(width - 1)) + width ? x : got;
}

template <class T> TL_DEVICE T tl_lane_up(T x, int32_t lane, int32_t by, int32_t width)
{
    const int32_t from = lane - by;
    const T got = tl_take(x, from);
    return from < (lane & ~(width - 1)) ? x : got;
}

TL_DEVICE uint64_t tl_ballot(bool yes) { return uint64_t(simd_vote::vote_t(simd_ballot(yes))); }
TL_DEVICE uint64_t tl_active() { return uint64_t(simd_vote::vote_t(simd_active_threads_mask())); }

/* Lanes that come by with the same number; all of them if all have it. */
TL_DEVICE uint32_t tl_match_any(int64_t x)
{
    const uint32_t here = uint32_t(tl_active());
    uint32_t r = 0;
    for (int32_t i = 0; i < 32; i++)
        r |= uint32_t(tl_take(x, i) == x) << i;
    return r & here;
}

TL_DEVICE uint32_t tl_match_all(int64_t x)
{
    const uint32_t r = tl_match_any(x);
    return r == uint32_t(tl_active()) ? r : 0u;
}

/* Of the lanes that there are, the last of a block may be fewer: the first joins all and tells them. */
TL_DEVICE bool tl_is_there(int32_t lane) { return (tl_active() >> lane & 1u) != 0; }

template <class T> TL_DEVICE T tl_warp_sum(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = tl_take(x, lane ^ by);
        x = tl_is_there(lane ^ by) ? (x + y) : x;
    }
    return tl_take(x, 0);
}

template <class T> TL_DEVICE T tl_warp_max(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = tl_take(x, lane ^ by);
        x = tl_is_there(lane ^ by) ? (x > y || y != y ? x : y) : x;
    }
    return tl_take(x, 0);
}

template <class T> TL_DEVICE T tl_warp_min(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = tl_take(x, lane ^ by);
        x = tl_is_there(lane ^ by) ? (x < y || y != y ? x : y) : x;
    }
    return tl_take(x, 0);
}

template <class T> TL_DEVICE T tl_warp_and(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = tl_take(x, lane ^ by);
        x = tl_is_there(lane ^ by) ? (x & y) : x;
    }
    return tl_take(x, 0);
}

template <class T> TL_DEVICE T tl_warp_or(T x, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) {
        const T y = tl_take(x, lane ^ by);
        x = tl_is_there(lane ^ by) ? (x | y) : x;
    }
    return tl_take(x, 0);
}

/* ---- C += A B of 8 x 8 matrices, of which a lane holds two elements each ---------------------------- */

TL_DEVICE void tl_mma_f32_f16(thread float *c, thread const uint16_t *a, thread const uint16_t *b)
{
    simdgroup_half8x8 ma, mb;
    simdgroup_float8x8 mc;
    for (int32_t i = 0; i < 2; i++) {
        ma.thread_elements()[i] = as_type<half>(a[i]);
        mb.thread_elements()[i] = as_type<half>(b[i]);
        mc.thread_elements()[i] = c[i];
    }
    simdgroup_multiply_accumulate(mc, ma, mb, mc);
    c[0] = mc.thread_elements()[0];
    c[1] = mc.thread_elements()[1];
}

TL_DEVICE void tl_mma_f16_f16(thread uint16_t *c, thread const uint16_t *a, thread const uint16_t *b)
{
    simdgroup_half8x8 ma, mb, mc;
    for (int32_t i = 0; i < 2; i++) {
        ma.thread_elements()[i] = as_type<half>(a[i]);
        mb.thread_elements()[i] = as_type<half>(b[i]);
        mc.thread_elements()[i] = as_type<half>(c[i]);
    }
    simdgroup_multiply_accumulate(mc, ma, mb, mc);
    c[0] = as_type<uint16_t>(half(mc.thread_elements()[0]));
    c[1] = as_type<uint16_t>(half(mc.thread_elements()[1]));
}

/* bfloat is of MSL 3.1. */
TL_DEVICE void tl_mma_f32_bf16(thread float *c, thread const uint16_t *a, thread const uint16_t *b)
{
    simdgroup_bfloat8x8 ma, mb;
    simdgroup_float8x8 mc;
    for (int32_t i = 0; i < 2; i++) {
        ma.thread_elements()[i] = as_type<bfloat>(a[i]);
        mb.thread_elements()[i] = as_type<bfloat>(b[i]);
        mc.thread_elements()[i] = c[i];
    }
    simdgroup_multiply_accumulate(mc, ma, mb, mc);
    c[0] = mc.thread_elements()[0];
    c[1] = mc.thread_elements()[1];
}

TL_DEVICE void tl_mma_f32_f32(thread float *c, thread const float *a, thread const float *b)
{
    simdgroup_float8x8 ma, mb, mc;
    for (int32_t i = 0; i < 2; i++) {
        ma.thread_elements()[i] = a[i];
        mb.thread_elements()[i] = b[i];
        mc.thread_elements()[i] = c[i];
    }
    simdgroup_multiply_accumulate(mc, ma, mb, mc);
    c[0] = mc.thread_elements()[0];
    c[1] = mc.thread_elements()[1];
}
