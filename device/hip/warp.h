/* warp.h -- barriers and values that go from lane to lane, of waves of 64.
 * Votes are of 64 bits.  Lanes that agree (match) and warp reductions are of 32 neighbours, half a wave. */

#define __syncthreads() tl_syncthreads()
#define __threadfence() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
#define __syncwarp(...) tl_sync_wave()
TL_DEVICE void tl_syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
TL_DEVICE void tl_sync_wave()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
TL_DEVICE int32_t tl_lane() { return (int32_t)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }

/* From another lane, in words. */
template <class T> TL_DEVICE T tl_from_lane(T x, int32_t lane)
{
    union { T t; int32_t word[(sizeof(T) + 3) / 4]; } v = {x};
#pragma unroll
    for (uint32_t i = 0; i < (sizeof(T) + 3) / 4; i++)
        v.word[i] = __builtin_amdgcn_ds_bpermute(lane * 4, v.word[i]);
    return v.t;
}
#define __shfl_sync(mask, ...) tl_shfl(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) tl_shfl_xor(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) tl_shfl_down(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) tl_shfl_up(__VA_ARGS__)
template <class T> TL_DEVICE T tl_shfl(T x, int32_t by, int32_t width = 64)
{
    const int32_t base = tl_lane() / width * width;
    return tl_from_lane(x, base + (by & (width - 1)));
}
template <class T> TL_DEVICE T tl_shfl_xor(T x, int32_t by, int32_t width = 64)
{
    const int32_t me = tl_lane(), from = me ^ by;
    return tl_from_lane(x, from / width == me / width ? from : me);
}
template <class T> TL_DEVICE T tl_shfl_down(T x, int32_t by, int32_t width = 64)
{
    const int32_t me = tl_lane(), from = me + by;
    return tl_from_lane(x, from / width == me / width ? from : me);
}
template <class T> TL_DEVICE T tl_shfl_up(T x, int32_t by, int32_t width = 64)
{
    const int32_t me = tl_lane(), from = me - by;
    return tl_from_lane(x, from >= me / width * width ? from : me);
}

#define __ballot_sync(mask, yes) __builtin_amdgcn_ballot_w64((yes) != 0)
#define __activemask() __builtin_amdgcn_ballot_w64(true)
#define __any_sync(mask, yes) (__builtin_amdgcn_ballot_w64((yes) != 0) != 0)
#define __all_sync(mask, yes) (__builtin_amdgcn_ballot_w64((yes) == 0) == 0)
#define __match_any_sync(mask, x) tl_match_any(x)
TL_DEVICE uint32_t tl_own_half(uint64_t lanes) { return (uint32_t)(lanes >> (tl_lane() & 32)); }
template <class T> TL_DEVICE uint32_t tl_match_any(T x)
{
    uint64_t same = 0;
    for (uint64_t left = __builtin_amdgcn_ballot_w64(true); left; left &= left - 1) {
        const uint64_t one = left & (0ull - left);
        same |= tl_from_lane(x, (int32_t)__builtin_ctzll(left)) == x ? one : 0ull;
    }
    return tl_own_half(same);
}
template <class T> TL_DEVICE uint32_t tl_match_all(uint32_t, T x)
{
    const uint32_t all = tl_own_half(__builtin_amdgcn_ballot_w64(true));
    const T first = tl_from_lane(x, (tl_lane() & 32) + (int32_t)__builtin_ctz(all));
    return tl_own_half(__builtin_amdgcn_ballot_w64(first == x)) == all ? all : 0u;
}

#define tl_all_lanes(x, y, join) for (int32_t by = 16; by > 0; by /= 2) { const auto y = tl_shfl_xor(x, by); x = join; }
template <class T> TL_DEVICE T tl_warp_sum(T x) { tl_all_lanes(x, y, x + y) return x; }
template <class T> TL_DEVICE T tl_warp_max(T x) { tl_all_lanes(x, y, (x > y || y != y ? x : y)) return x; }
template <class T> TL_DEVICE T tl_warp_min(T x) { tl_all_lanes(x, y, (x < y || y != y ? x : y)) return x; }
template <class T> TL_DEVICE T tl_warp_and(T x) { tl_all_lanes(x, y, x & y) return x; }
template <class T> TL_DEVICE T tl_warp_or(T x) { tl_all_lanes(x, y, x | y) return x; }

/* Where the last half is not whole: the first lane joins what there is, and tells the others. */
#define tl_part_lanes(x, y, join) for (int32_t by = 16; by > 0; by /= 2) { const auto y = tl_shfl_xor(x, by); x = (__activemask() >> (lane ^ by) & 1u) != 0u ? (join) : x; }
template <class T> TL_DEVICE T tl_part_sum(T x, int32_t lane) { tl_part_lanes(x, y, x + y) return tl_shfl(x, 0, 32); }
template <class T> TL_DEVICE T tl_part_max(T x, int32_t lane) { tl_part_lanes(x, y, x > y || y != y ? x : y) return tl_shfl(x, 0, 32); }
template <class T> TL_DEVICE T tl_part_min(T x, int32_t lane) { tl_part_lanes(x, y, x < y || y != y ? x : y) return tl_shfl(x, 0, 32); }
template <class T> TL_DEVICE T tl_part_and(T x, int32_t lane) { tl_part_lanes(x, y, x & y) return tl_shfl(x, 0, 32); }
template <class T> TL_DEVICE T tl_part_or(T x, int32_t lane) { tl_part_lanes(x, y, x | y) return tl_shfl(x, 0, 32); }

/* Shared memory of a function's own. */
#define tl_of_workgroup(T, name, n) static __shared__ T name[n]

/* ---- votes of a workgroup ---------------------------------------------------------------------- */

#define __syncthreads_count(yes) tl_count_all((yes) != 0)
#define __syncthreads_and(yes) (tl_count_all((yes) == 0) == 0)
#define __syncthreads_or(yes) (tl_count_all((yes) != 0) != 0)
TL_DEVICE int32_t tl_count_all(bool yes)
{
    tl_of_workgroup(int32_t, votes, 1);
    const bool first = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workitem_id_y() +
                       __builtin_amdgcn_workitem_id_z() == 0;
    if (first)
        votes[0] = 0;
    tl_syncthreads();
    const int32_t wave = (int32_t)__builtin_popcountll(__builtin_amdgcn_ballot_w64(yes));
    if (tl_lane() == (int32_t)__builtin_ctzll(__builtin_amdgcn_ballot_w64(true)))
        __hip_atomic_fetch_add(&votes[0], wave, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    tl_syncthreads();
    const int32_t all = votes[0];
    tl_syncthreads();
    return all;
}

TL_DEVICE uint32_t tl_shared_address(const void *p)
{
    return (uint32_t)(uint64_t)(const __attribute__((address_space(3))) void *)p;
}

/* ---- rows and columns that change places on the way from shared memory: gfx950 ----------------- */

#define tl_ds_read_tr(p) __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) tl_int16x4 *)(p))

#define tl_ds_read_tr8(p) __builtin_amdgcn_ds_read_tr8_b64_v2i32((__attribute__((address_space(3))) tl_int32x2 *)(p))

TL_DEVICE void tl_read_tr_b8(uint32_t *to, const void *from)
{
    typedef int tl_int32x2 __attribute__((ext_vector_type(2)));
    const auto r = tl_ds_read_tr8(from);
    __builtin_memcpy(to, &r, 8);
}

TL_DEVICE void tl_read_tr_b16(uint32_t *to, const void *from)
{
    typedef short tl_int16x4 __attribute__((ext_vector_type(4)));
    const auto r = tl_ds_read_tr(from);
    __builtin_memcpy(to, &r, 8);
}

/* ---- MMAs: see matrix.def ------------------------------------------------------------------------ */

#define tl_mfma(name) *(acc *)c = __builtin_amdgcn_mfma_##name(*(const arg *)a, *(const arg *)b, *(const acc *)c, 0, 0, 0)
#define tl_words_4(p) (words){(int)p[0], (int)p[1], (int)p[2], (int)p[3], 0, 0, 0, 0}
#define tl_words_8(p) (words){(int)p[0], (int)p[1], (int)p[2], (int)p[3], (int)p[4], (int)p[5], (int)p[6], (int)p[7]}
#define tl_mfma_scale(name, x, y, wa, wb) *(acc *)c = __builtin_amdgcn_mfma_scale_##name(wa, wb, *(const acc *)c, x, y, 0, (int)scale_a, 0, (int)scale_b)
#define tl_mfma_f8f6f4(name, x, y, wa, wb) *(acc *)c = __builtin_amdgcn_mfma_scale_##name(wa, wb, *(const acc *)c, x, y, 0, 0, 0, 0)
