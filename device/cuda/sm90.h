/* sm90.h -- what came with sm_90: waits that sleep, bytes announced to barriers, clusters. */

TL_DEVICE void tl_mbar_wait(uint64_t *bar, int32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t"
                     "}" : "=r"(done) : "r"(tl_shared_address(bar)), "r"(parity) : "memory");
}

TL_DEVICE void tl_mbar_expect(uint64_t *bar, int32_t nbytes)
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                 : : "r"(tl_shared_address(bar)), "r"(nbytes) : "memory");
}

TL_DEVICE void tl_mbar_arrive_expect(uint64_t *bar, int32_t nbytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 : : "r"(tl_shared_address(bar)), "r"(nbytes) : "memory");
}

/* The barrier at the same place in another block of the cluster. */
TL_DEVICE void tl_mbar_arrive_at(uint64_t *bar, int32_t block)
{
    asm volatile("{\n\t"
                 ".reg .b32 there;\n\t"
                 "mapa.shared::cluster.u32 there, %0, %1;\n\t"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t"
                 "}" : : "r"(tl_shared_address(bar)), "r"(block) : "memory");
}

TL_DEVICE void tl_fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); }
TL_DEVICE void tl_fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }
TL_DEVICE void tl_bulk_commit() { asm volatile("cp.async.bulk.commit_group;" : : : "memory"); }

template <int N> TL_DEVICE void tl_bulk_wait()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}

TL_DEVICE void tl_cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory"); }
TL_DEVICE void tl_cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory"); }

TL_DEVICE int32_t tl_cluster_rank()
{
    uint32_t r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return (int32_t)r;
}

/* ---- the kernel before and the kernel after ---------------------------------------------------------- */

TL_DEVICE void tl_grid_trigger() { asm volatile("griddepcontrol.launch_dependents;" : : : "memory"); }
TL_DEVICE void tl_grid_wait() { asm volatile("griddepcontrol.wait;" : : : "memory"); }
