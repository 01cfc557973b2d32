/* copy.h -- copies from global memory straight to the local data share: gfx942 by 4, gfx950 by 4 or 16
 * bytes a lane.
 *
 * What lane l brings goes to m0 + l * n: lower_counts has proved that the lanes want it there.  By
 * assembly, and not by clang's builtin, behind which clang waits for all that is in flight wherever
 * shared memory is read.  Of these loads clang's own waits know nothing, so that they wait for more. */

#define tl_in_lds(p) ((uint32_t)(__attribute__((address_space(3))) void *)(p))
#define tl_lane() __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))
#define tl_same(x) ((uint32_t)__builtin_amdgcn_readfirstlane((int)(x)))
#define tl_load_lds_4(to, from) asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_lds_dword %1, off" : : "s"(tl_same(tl_in_lds(to) - tl_lane() * 4)), "v"(from) : "memory")
#define tl_load_lds_16(to, from) asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_lds_dwordx4 %1, off" : : "s"(tl_same(tl_in_lds(to) - tl_lane() * 16)), "v"(from) : "memory")
#define tl_vmcnt(n) asm volatile("s_waitcnt vmcnt(%0)" : : "n"(n) : "memory")

/* ---- loads past the end of a tensor: zeros, by the bound in the descriptor --------------------- */

#define tl_buffer(p, bytes) __builtin_amdgcn_make_buffer_rsrc((void *)(p), 0, bytes, 0x27000)
#define tl_buffer_load_2(r, at) __builtin_amdgcn_raw_buffer_load_b16(r, at, 0, 0)
#define tl_buffer_load_4(r, at) __builtin_amdgcn_raw_buffer_load_b32(r, at, 0, 0)
#define tl_buffer_load_8(r, at) __builtin_amdgcn_raw_buffer_load_b64(r, at, 0, 0)
#define tl_buffer_load_16(r, at) __builtin_amdgcn_raw_buffer_load_b128(r, at, 0, 0)

/* ok: else zeros too. */
template <class T> TL_DEVICE T tl_load_or_zero(const void *at, const void *tensor, int32_t bytes, bool ok)
{
    const uint32_t from = ok ? (uint32_t)((const char *)at - (const char *)tensor) : 0x80000000u;
    T r;
    if constexpr (sizeof(T) == 16) {
        const auto v = tl_buffer_load_16(tl_buffer(tensor, bytes), from);
        __builtin_memcpy(&r, &v, sizeof r);
    } else if constexpr (sizeof(T) == 8) {
        const auto v = tl_buffer_load_8(tl_buffer(tensor, bytes), from);
        __builtin_memcpy(&r, &v, sizeof r);
    } else if constexpr (sizeof(T) == 4) {
        const auto v = tl_buffer_load_4(tl_buffer(tensor, bytes), from);
        __builtin_memcpy(&r, &v, sizeof r);
    } else {
        const auto v = tl_buffer_load_2(tl_buffer(tensor, bytes), from);
        __builtin_memcpy(&r, &v, sizeof r);
    }
    return r;
}

/* ok: else zeros. */
TL_DEVICE const void *tl_zeros()
{
    static const uint32_t zeros[4] = {0, 0, 0, 0};
    return zeros;
}

TL_DEVICE void tl_lds_from_4(void *to, const void *from, bool ok)
{
    tl_load_lds_4(to, ok ? from : tl_zeros());
}

TL_DEVICE void tl_lds_from_16(void *to, const void *from, bool ok)
{
    tl_load_lds_16(to, ok ? from : tl_zeros());
}

/* Until at most so many loads are in flight. */
template <int n> TL_DEVICE void tl_wait_loads() { tl_vmcnt(n); }
