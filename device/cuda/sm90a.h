/* sm90a.h -- what only sm_90a has. */

/* Registers that products read and write are settled. */
TL_DEVICE void tl_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
TL_DEVICE void tl_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }

/* A tile in shared memory as products read it: offsets between its panels and groups of rows, and
 * steps of 16 bytes into it.  It takes a few instructions of the warp; made once ahead of a loop, as
 * a compiler would that knows the address, each would keep two registers of every thread. */
TL_DEVICE uint64_t tl_matrix(const void *at, uint32_t leading, uint32_t stride, uint32_t swizzle, uint32_t steps = 0)
{
    uint32_t address;
    asm volatile("mov.b32 %0, %1;" : "=r"(address) : "r"(tl_shared_address(at)));
    uint32_t low = ((leading >> 4) << 16 | ((address & 0x3ffff) >> 4)) + steps;
    return (uint64_t)(stride >> 4 | swizzle << 30) << 32 | low;
}

template <int N> TL_DEVICE void tl_wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}

/* Keeps the compiler from reading results of products before they are waited for. */
template <int N> TL_DEVICE void tl_settled(float *c)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(c[i]) : : "memory");
}

template <int N> TL_DEVICE void tl_settled(uint32_t *c)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(c[i]) : : "memory");
}

template <int N> TL_DEVICE void tl_settled(int32_t *c)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(c[i]) : : "memory");
}

template <int N> TL_DEVICE void tl_raise_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(N));
}

template <int N> TL_DEVICE void tl_lower_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(N));
}
