/* sm90a.h -- what only sm_90a has. */

template <int N> TL_DEVICE void tl_wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}

template <int N> TL_DEVICE void tl_raise_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(N));
}

template <int N> TL_DEVICE void tl_lower_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(N));
}
