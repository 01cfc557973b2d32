/* barrier.h -- barriers in memory and barriers of some threads, which the hardware has not: 64 bits
 * of shared memory each, by compare and swap.  Waves that wait turn in a loop.  The lanes of a wave
 * go together: a lane must not wait for what another lane of its own wave does later.
 *
 * bits 0 to 15: arrivals that are missing, 16 to 31: those of a phase, above: phases that ended */

TL_DEVICE uint64_t tl_bar_see(uint64_t *bar)
{
    return __hip_atomic_load(bar, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

TL_DEVICE void tl_mbar_init(uint64_t *bar, int32_t count) { *bar = (uint64_t)(uint32_t)(count << 16 | count); }

TL_DEVICE void tl_mbar_arrive(uint64_t *bar)
{
    uint64_t was = tl_bar_see(bar), next;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    do {
        const uint64_t count = was >> 16 & 0xffff;
        next = (was & 0xffff) == 1 ? ((was >> 32) + 1) << 32 | count << 16 | count : was - 1;
    } while (!__hip_atomic_compare_exchange_strong(bar, &was, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                   __HIP_MEMORY_SCOPE_WORKGROUP));
}

TL_DEVICE void tl_mbar_wait(uint64_t *bar, int32_t parity)
{
    while ((int32_t)(tl_bar_see(bar) >> 32 & 1) == (parity & 1))
        __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* Copies are done when the thread goes on: there is nothing to wait for. */
TL_DEVICE void tl_cp_async_commit() {}
template <int N> TL_DEVICE void tl_cp_async_wait() {}
TL_DEVICE void tl_cp_async_barrier(uint64_t *bar) { tl_mbar_arrive(bar); }

/* ---- by number --------------------------------------------------------------------------------- */

TL_DEVICE uint64_t *tl_named_barriers()
{
    tl_of_workgroup(uint64_t, bars, 16);
    return bars;
}

TL_DEVICE void tl_named_start()
{
    const uint32_t at = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workitem_id_y() +
                        __builtin_amdgcn_workitem_id_z();
    for (uint32_t i = 0; at == 0 && i < 16; i++)
        tl_named_barriers()[i] = 0;
    tl_syncthreads();
}

/* The number of the phase that this arrival is of. */
TL_DEVICE uint64_t tl_named_arrive(int32_t id, int32_t threads)
{
    uint64_t *const bar = tl_named_barriers() + id;
    uint64_t was = tl_bar_see(bar), next;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    do {
        next = (was & 0xffffffff) + 1 == (uint64_t)threads ? ((was >> 32) + 1) << 32 : was + 1;
    } while (!__hip_atomic_compare_exchange_strong(bar, &was, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                   __HIP_MEMORY_SCOPE_WORKGROUP));
    return was >> 32;
}

namespace tl { TL_DEVICE void __named_barrier_arrive(int32_t id, int32_t threads)
{
    tl_named_arrive(id, threads);
}}

namespace tl { TL_DEVICE void __sync_thread_partial(int32_t id, int32_t threads)
{
    const uint64_t phase = tl_named_arrive(id, threads);
    while (tl_bar_see(tl_named_barriers() + id) >> 32 == phase)
        __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}}
