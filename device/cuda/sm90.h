/* sm90.h -- what came with sm_90: waits that sleep, bytes announced to barriers, clusters. */

/* What a tensor core sees of a float32, ties to even. */
TL_DEVICE float tl_f32_to_tf32(float x)
{
    uint32_t r;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return __uint_as_float(r);
}

/* Two bfloat16 in one register. */
TL_DEVICE uint32_t tl_add_bf16x2(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

TL_DEVICE uint32_t tl_sub_bf16x2(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

TL_DEVICE uint32_t tl_mul_bf16x2(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

/* One thread of the warp, all of which comes by. */
TL_DEVICE bool tl_elect()
{
    uint32_t yes;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "elect.sync _|p, 0xffffffff;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}" : "=r"(yes));
    return yes;
}

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

/* The same where blocks write into each other's shared memory: what they wrote is seen, too. */
TL_DEVICE void tl_mbar_wait_cluster(uint64_t *bar, int32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t"
                     "}" : "=r"(done) : "r"(tl_shared_address(bar)), "r"(parity) : "memory");
}

/* To the same place in the shared memory of another block of the cluster. */
template <typename T>
TL_DEVICE void tl_copy_to_block(T *to, const T *from, int32_t block)
{
    uint64_t there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(to), "r"(block));
    *(T *)there = *from;
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

/* The same from threads that wrote nothing for that block: reads are over when they say so, and no
 * fence of the whole device is needed. */
TL_DEVICE void tl_mbar_release_at(uint64_t *bar, int32_t block)
{
    asm volatile("{\n\t"
                 ".reg .b32 there;\n\t"
                 "mapa.shared::cluster.u32 there, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t"
                 "}" : : "r"(tl_shared_address(bar)), "r"(block) : "memory");
}

struct __align__(64) TlTensorMap {
    uint64_t word[16];
};

/* A box of a tensor to shared memory; coordinates from the contiguous dimension on. */
TL_DEVICE void tl_tma_load_1d(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x)
{
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3}], [%2];"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(x)
                 : "memory");
}

TL_DEVICE void tl_tma_load_2d(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4}], [%2];"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(x), "r"(y)
                 : "memory");
}

TL_DEVICE void tl_tma_load_3d(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y,
                              int32_t z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5}], [%2];"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(x), "r"(y),
                     "r"(z)
                 : "memory");
}

TL_DEVICE void tl_tma_load_4d(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y,
                              int32_t z, int32_t u)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6}], [%2];"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(x), "r"(y),
                     "r"(z), "r"(u)
                 : "memory");
}

TL_DEVICE void tl_tma_load_5d(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y,
                              int32_t z, int32_t u, int32_t v)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(x), "r"(y),
                     "r"(z), "r"(u), "r"(v)
                 : "memory");
}

/* The same to each block of the cluster that has a bit in the mask, at the same place; the bytes
 * complete at the barrier of each. */
TL_DEVICE void tl_tma_load_1d_many(void *to, const TlTensorMap *map, uint64_t *bar, int32_t mask,
                                   int32_t x)
{
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)),
                     "h"((uint16_t)mask), "r"(x)
                 : "memory");
}

TL_DEVICE void tl_tma_load_2d_many(void *to, const TlTensorMap *map, uint64_t *bar, int32_t mask,
                                   int32_t x, int32_t y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)),
                     "h"((uint16_t)mask), "r"(x), "r"(y)
                 : "memory");
}

TL_DEVICE void tl_tma_load_3d_many(void *to, const TlTensorMap *map, uint64_t *bar, int32_t mask,
                                   int32_t x, int32_t y, int32_t z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)),
                     "h"((uint16_t)mask), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

TL_DEVICE void tl_tma_load_4d_many(void *to, const TlTensorMap *map, uint64_t *bar, int32_t mask,
                                   int32_t x, int32_t y, int32_t z, int32_t u)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4, %5, %6, %7}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)),
                     "h"((uint16_t)mask), "r"(x), "r"(y), "r"(z), "r"(u)
                 : "memory");
}

TL_DEVICE void tl_tma_load_5d_many(void *to, const TlTensorMap *map, uint64_t *bar, int32_t mask,
                                   int32_t x, int32_t y, int32_t z, int32_t u, int32_t v)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)),
                     "h"((uint16_t)mask), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
                 : "memory");
}

/* Pixels of an NHWC image from (w, h, n) on, channels from c on, of the tap at (right, down). */
TL_DEVICE void tl_tma_load_4d_im2col(void *to, const TlTensorMap *map, uint64_t *bar, int32_t c, int32_t w,
                                     int32_t h, int32_t n, int32_t right, int32_t down)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(c), "r"(w),
                     "r"(h), "r"(n), "h"((uint16_t)right), "h"((uint16_t)down)
                 : "memory");
}

/* Shared memory to a box of a tensor. */
TL_DEVICE void tl_tma_store_1d(const void *from, const TlTensorMap *map, int32_t x)
{
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];"
                 : : "l"(map), "r"(tl_shared_address(from)), "r"(x) : "memory");
}

TL_DEVICE void tl_tma_store_2d(const void *from, const TlTensorMap *map, int32_t x, int32_t y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
                 : : "l"(map), "r"(tl_shared_address(from)), "r"(x), "r"(y) : "memory");
}

TL_DEVICE void tl_tma_store_3d(const void *from, const TlTensorMap *map, int32_t x, int32_t y, int32_t z)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];"
        : : "l"(map), "r"(tl_shared_address(from)), "r"(x), "r"(y), "r"(z) : "memory");
}

TL_DEVICE void tl_tma_store_4d(const void *from, const TlTensorMap *map, int32_t x, int32_t y, int32_t z,
                               int32_t u)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];"
        : : "l"(map), "r"(tl_shared_address(from)), "r"(x), "r"(y), "r"(z), "r"(u) : "memory");
}

TL_DEVICE void tl_tma_store_5d(const void *from, const TlTensorMap *map, int32_t x, int32_t y, int32_t z,
                               int32_t u, int32_t v)
{
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];"
        : : "l"(map), "r"(tl_shared_address(from)), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v) : "memory");
}

TL_DEVICE void tl_prefetch_map(const TlTensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" : : "l"(map) : "memory");
}

/* Consecutive bytes: whole units of 16 at multiples of 16. */
TL_DEVICE void tl_bulk_load(void *to, const void *from, uint32_t nbytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(tl_shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(nbytes),
                     "r"(tl_shared_address(bar))
                 : "memory");
}

TL_DEVICE void tl_bulk_store(const void *from, void *to, uint32_t nbytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 : : "l"(__cvta_generic_to_global(to)), "r"(tl_shared_address(from)), "r"(nbytes) : "memory");
}

/* ---- the same with a word for the second level cache ----------------------------------------------- */

TL_DEVICE uint64_t tl_evict_first()
{
    uint64_t p;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p));
    return p;
}

TL_DEVICE uint64_t tl_evict_last()
{
    uint64_t p;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
    return p;
}

TL_DEVICE void tl_tma_load_1d_hint(void *to, const TlTensorMap *map, uint64_t *bar, uint64_t policy,
                                    int32_t x)
{
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "l"(policy),
                     "r"(x)
                 : "memory");
}

TL_DEVICE void tl_tma_load_2d_hint(void *to, const TlTensorMap *map, uint64_t *bar, uint64_t policy,
                                    int32_t x, int32_t y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "l"(policy),
                     "r"(x), "r"(y)
                 : "memory");
}

TL_DEVICE void tl_tma_load_3d_hint(void *to, const TlTensorMap *map, uint64_t *bar, uint64_t policy,
                                    int32_t x, int32_t y, int32_t z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "l"(policy),
                     "r"(x), "r"(y), "r"(z)
                 : "memory");
}

TL_DEVICE void tl_tma_load_4d_hint(void *to, const TlTensorMap *map, uint64_t *bar, uint64_t policy,
                                    int32_t x, int32_t y, int32_t z, int32_t u)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "l"(policy),
                     "r"(x), "r"(y), "r"(z), "r"(u)
                 : "memory");
}

TL_DEVICE void tl_tma_load_5d_hint(void *to, const TlTensorMap *map, uint64_t *bar, uint64_t policy,
                                    int32_t x, int32_t y, int32_t z, int32_t u, int32_t v)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "l"(policy),
                     "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
                 : "memory");
}

TL_DEVICE void tl_tma_store_1d_hint(const void *from, const TlTensorMap *map, uint64_t policy,
                                     int32_t x)
{
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.L2::cache_hint"
                 " [%0, {%3}], [%1], %2;"
                 : : "l"(map), "r"(tl_shared_address(from)), "l"(policy), "r"(x)
                 : "memory");
}

TL_DEVICE void tl_tma_store_2d_hint(const void *from, const TlTensorMap *map, uint64_t policy,
                                     int32_t x, int32_t y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint"
                 " [%0, {%3, %4}], [%1], %2;"
                 : : "l"(map), "r"(tl_shared_address(from)), "l"(policy), "r"(x), "r"(y)
                 : "memory");
}

TL_DEVICE void tl_tma_store_3d_hint(const void *from, const TlTensorMap *map, uint64_t policy,
                                     int32_t x, int32_t y, int32_t z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint"
                 " [%0, {%3, %4, %5}], [%1], %2;"
                 : : "l"(map), "r"(tl_shared_address(from)), "l"(policy), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

TL_DEVICE void tl_tma_store_4d_hint(const void *from, const TlTensorMap *map, uint64_t policy,
                                     int32_t x, int32_t y, int32_t z, int32_t u)
{
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint"
                 " [%0, {%3, %4, %5, %6}], [%1], %2;"
                 : : "l"(map), "r"(tl_shared_address(from)), "l"(policy), "r"(x), "r"(y), "r"(z), "r"(u)
                 : "memory");
}

TL_DEVICE void tl_tma_store_5d_hint(const void *from, const TlTensorMap *map, uint64_t policy,
                                     int32_t x, int32_t y, int32_t z, int32_t u, int32_t v)
{
    asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint"
                 " [%0, {%3, %4, %5, %6, %7}], [%1], %2;"
                 : : "l"(map), "r"(tl_shared_address(from)), "l"(policy), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
                 : "memory");
}

TL_DEVICE void tl_bulk_load_hint(void *to, const void *from, uint32_t nbytes, uint64_t *bar, uint64_t policy)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1], %2, [%3], %4;"
                 : : "r"(tl_shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(nbytes),
                     "r"(tl_shared_address(bar)), "l"(policy)
                 : "memory");
}

TL_DEVICE void tl_bulk_store_hint(const void *from, void *to, uint32_t nbytes, uint64_t policy)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;"
                 : : "l"(__cvta_generic_to_global(to)), "r"(tl_shared_address(from)), "r"(nbytes), "l"(policy)
                 : "memory");
}

TL_DEVICE void tl_fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); }
TL_DEVICE void tl_fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }
TL_DEVICE void tl_fence_proxy_all() { asm volatile("fence.proxy.async;" : : : "memory"); }
TL_DEVICE void tl_bulk_commit() { asm volatile("cp.async.bulk.commit_group;" : : : "memory"); }

template <int N> TL_DEVICE void tl_bulk_wait()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}

/* Threads of a warp may come by apart: the producer works alone. */
template <int N> TL_DEVICE void tl_bulk_wait_written()
{
    asm volatile("cp.async.bulk.wait_group %0;" : : "n"(N) : "memory");
}

TL_DEVICE void tl_cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" : : : "memory"); }
TL_DEVICE void tl_cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" : : : "memory"); }
TL_DEVICE void tl_cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" : : : "memory"); }

TL_DEVICE int32_t tl_cluster_rank()
{
    uint32_t r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return (int32_t)r;
}

/* ---- the kernel before and the kernel after ---------------------------------------------------------- */

TL_DEVICE void tl_cudaTriggerProgrammaticLaunchCompletion()
{
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}
TL_DEVICE void tl_cudaGridDependencySynchronize()
{
    asm volatile("griddepcontrol.wait;" : : : "memory");
}

/* ---- sums into neighbours of global memory --------------------------------------------------------------- */

TL_DEVICE float tl_atomic_add_bf16(uint16_t *p, float x)
{
    uint16_t was;
    asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(was) : "l"(p), "h"(tl_f32_to_bf16(x)) : "memory");
    return tl_bf16_to_f32(was);
}

TL_DEVICE void tl_add_run_f32_2(float *p, const float *v)
{
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};"
                 : : "l"(p), "f"(v[0]), "f"(v[1]) : "memory");
}

TL_DEVICE void tl_add_run_f32_4(float *p, const float *v)
{
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                 : : "l"(p), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory");
}

TL_DEVICE void tl_add_run_f16_4(uint16_t *p, const uint16_t *v)
{
    const uint32_t *const u = (const uint32_t *)v;
    asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};"
                 : : "l"(p), "r"(u[0]), "r"(u[1]) : "memory");
}

TL_DEVICE void tl_add_run_f16_8(uint16_t *p, const uint16_t *v)
{
    const uint32_t *const u = (const uint32_t *)v;
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};"
                 : : "l"(p), "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]) : "memory");
}

TL_DEVICE void tl_add_run_bf16_2(uint16_t *p, const uint16_t *v)
{
    asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" : : "l"(p), "r"(*(const uint32_t *)v) : "memory");
}

TL_DEVICE void tl_add_run_bf16_4(uint16_t *p, const uint16_t *v)
{
    const uint32_t *const u = (const uint32_t *)v;
    asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1, %2};"
                 : : "l"(p), "r"(u[0]), "r"(u[1]) : "memory");
}

TL_DEVICE void tl_add_run_bf16_8(uint16_t *p, const uint16_t *v)
{
    const uint32_t *const u = (const uint32_t *)v;
    asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};"
                 : : "l"(p), "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]) : "memory");
}

/* ---- cluster launch control, since sm_100 ------------------------------------------------------
 *
 * The launch may give away a cluster that has not started. */

/* Its answer is 16 bytes, which complete at a barrier, in this block or in each of the cluster. */
TL_DEVICE void tl_clc_try(void *answer, uint64_t *bar)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
                 : : "r"(tl_shared_address(answer)), "r"(tl_shared_address(bar)) : "memory");
}

TL_DEVICE void tl_clc_try_all(void *answer, uint64_t *bar)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%0], [%1];"
                 : : "r"(tl_shared_address(answer)), "r"(tl_shared_address(bar)) : "memory");
}

/* Whether there is one, and the indices of its first block; the launch may write the next answer over
 * this one after it. */
TL_DEVICE int32_t tl_clc_is_canceled(const void *answer)
{
    const volatile uint64_t *half = (const volatile uint64_t *)answer;
    uint32_t r = 0;
    asm volatile("{ .reg .pred p; .reg .b128 h; mov.b128 h, {%1, %2};\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, h;\n"
                 "selp.u32 %0, 1, 0, p; }" : "+r"(r) : "l"(half[0]), "l"(half[1]) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    return (int32_t)r;
}

TL_DEVICE int32_t tl_clc_first_x(const void *answer)
{
    const volatile uint64_t *half = (const volatile uint64_t *)answer;
    uint32_t r = 0;
    asm volatile("{ .reg .pred p; .reg .b128 h; mov.b128 h, {%1, %2};\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, h;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, h; }"
                 : "+r"(r) : "l"(half[0]), "l"(half[1]) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    return (int32_t)r;
}

TL_DEVICE int32_t tl_clc_first_y(const void *answer)
{
    const volatile uint64_t *half = (const volatile uint64_t *)answer;
    uint32_t r = 0;
    asm volatile("{ .reg .pred p; .reg .b128 h; mov.b128 h, {%1, %2};\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, h;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %0, h; }"
                 : "+r"(r) : "l"(half[0]), "l"(half[1]) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    return (int32_t)r;
}

TL_DEVICE int32_t tl_clc_first_z(const void *answer)
{
    const volatile uint64_t *half = (const volatile uint64_t *)answer;
    uint32_t r = 0;
    asm volatile("{ .reg .pred p; .reg .b128 h; mov.b128 h, {%1, %2};\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, h;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %0, h; }"
                 : "+r"(r) : "l"(half[0]), "l"(half[1]) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    return (int32_t)r;
}
