/* sm100a.h -- tensor memory and the MMAs into it: sm_100a, sm_103a.
 *
 * An address of tensor memory has the lane in its upper half, the column in its lower. */

/* One warp asks for columns, and lets others ask too; where they are is written to shared memory. */
TL_DEVICE void tl_tensor_alloc(void *to, uint32_t columns)
{
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                 : : "r"(tl_shared_address(to)), "r"(columns) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" : : : "memory");
}

TL_DEVICE void tl_tensor_free(uint32_t at, uint32_t columns)
{
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" : : "r"(at), "r"(columns) : "memory");
}

TL_DEVICE void tl_tensor_before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" : : : "memory"); }
TL_DEVICE void tl_tensor_after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" : : : "memory"); }

/* A tile in shared memory as MMAs read it: offsets between its panels and groups of rows, steps of 16
 * bytes into it. */
TL_DEVICE uint64_t tl_tensor_matrix(const void *at, uint32_t leading, uint32_t stride, uint32_t swizzle, uint32_t steps = 0)
{
    uint32_t low = ((leading >> 4) << 16 | ((tl_shared_address(at) & 0x3ffff) >> 4)) + steps;
    return (uint64_t)(stride >> 4 | 1u << 14 | swizzle << 29) << 32 | low;
}

/* An arrival at a barrier once the MMAs that this thread issued are done. */
TL_DEVICE void tl_tcgen05_commit(uint64_t *bar)
{
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 : : "r"(tl_shared_address(bar)) : "memory");
}

/* The same at the barrier of each of two blocks. */
TL_DEVICE void tl_tcgen05_commit_each(uint64_t *bar)
{
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 : : "r"(tl_shared_address(bar)), "h"((uint16_t)3) : "memory");
}

/* C, A and B as descriptors, what they are, whether to add to C. */
TL_DEVICE void tl_tcgen05_f16(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_tf32(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::tf32 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_f8f6f4(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_i8(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::i8 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

/* A in tensor memory. */
TL_DEVICE void tl_tcgen05_f16_ts(uint32_t c, uint32_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }"
                 : : "r"(c), "r"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

/* Words of scales to four columns of each 32 lanes, before the MMAs that this thread issues next. */
TL_DEVICE void tl_tensor_spread(uint32_t to, uint64_t from)
{
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" : : "r"(to), "l"(from) : "memory");
}

/* The same with scales of A and B, words in tensor memory. */
TL_DEVICE void tl_tcgen05_mxf8f6f4(uint32_t c, uint64_t a, uint64_t b, uint32_t what, uint32_t scale_a, uint32_t scale_b, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(scale_a), "r"(scale_b), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_mxf4(uint32_t c, uint64_t a, uint64_t b, uint32_t what, uint32_t scale_a, uint32_t scale_b, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%4], [%5], p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(scale_a), "r"(scale_b), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_mxf4nvf4(uint32_t c, uint64_t a, uint64_t b, uint32_t what, uint32_t scale_a, uint32_t scale_b, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(scale_a), "r"(scale_b), "r"(add) : "memory");
}

/* ---- two blocks together ----------------------------------------------------------------------
 *
 * The first of two blocks of a cluster issues what both do, at the same places of each. */

TL_DEVICE void tl_tensor_alloc_pair(void *to, uint32_t columns)
{
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;"
                 : : "r"(tl_shared_address(to)), "r"(columns) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" : : : "memory");
}

TL_DEVICE void tl_tensor_free_pair(uint32_t at, uint32_t columns)
{
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" : : "r"(at), "r"(columns) : "memory");
}

TL_DEVICE void tl_tcgen05_commit_pair(uint64_t *bar)
{
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 : : "r"(tl_shared_address(bar)) : "memory");
}

/* The same at the barrier of each. */
TL_DEVICE void tl_tcgen05_commit_both(uint64_t *bar)
{
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 : : "r"(tl_shared_address(bar)), "h"((uint16_t)3) : "memory");
}

TL_DEVICE void tl_tcgen05_f16_pair(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_tf32_pair(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::tf32 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_f8f6f4_pair(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::f8f6f4 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_i8_pair(uint32_t c, uint64_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::i8 [%0], %1, %2, %3, p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_f16_ts_pair(uint32_t c, uint32_t a, uint64_t b, uint32_t what, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::f16 [%0], [%1], %2, %3, p; }"
                 : : "r"(c), "r"(a), "l"(b), "r"(what), "r"(add) : "memory");
}

TL_DEVICE void tl_tensor_spread_pair(uint32_t to, uint64_t from)
{
    asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" : : "r"(to), "l"(from) : "memory");
}

TL_DEVICE void tl_tcgen05_mxf8f6f4_pair(uint32_t c, uint64_t a, uint64_t b, uint32_t what, uint32_t scale_a, uint32_t scale_b, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(scale_a), "r"(scale_b), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_mxf4_pair(uint32_t c, uint64_t a, uint64_t b, uint32_t what, uint32_t scale_a, uint32_t scale_b, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%4], [%5], p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(scale_a), "r"(scale_b), "r"(add) : "memory");
}

TL_DEVICE void tl_tcgen05_mxf4nvf4_pair(uint32_t c, uint64_t a, uint64_t b, uint32_t what, uint32_t scale_a, uint32_t scale_b, int32_t add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], p; }"
                 : : "r"(c), "l"(a), "l"(b), "r"(what), "r"(scale_a), "r"(scale_b), "r"(add) : "memory");
}

/* A box to this block; the barrier of the first of the two counts its bytes. */
TL_DEVICE void tl_tma_load_1d_pair(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %2, %3;\n"
                 "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"
                 " [%0], [%1, {%4}], [there]; }"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(0), "r"(x) : "memory");
}

TL_DEVICE void tl_tma_load_2d_pair(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %2, %3;\n"
                 "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"
                 " [%0], [%1, {%4, %5}], [there]; }"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(0), "r"(x), "r"(y) : "memory");
}

TL_DEVICE void tl_tma_load_3d_pair(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y, int32_t z)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %2, %3;\n"
                 "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"
                 " [%0], [%1, {%4, %5, %6}], [there]; }"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(0), "r"(x), "r"(y), "r"(z) : "memory");
}

TL_DEVICE void tl_tma_load_4d_pair(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y, int32_t z, int32_t u)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %2, %3;\n"
                 "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"
                 " [%0], [%1, {%4, %5, %6, %7}], [there]; }"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(0), "r"(x), "r"(y), "r"(z), "r"(u) : "memory");
}

TL_DEVICE void tl_tma_load_5d_pair(void *to, const TlTensorMap *map, uint64_t *bar, int32_t x, int32_t y, int32_t z, int32_t u, int32_t v)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %2, %3;\n"
                 "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"
                 " [%0], [%1, {%4, %5, %6, %7, %8}], [there]; }"
                 : : "r"(tl_shared_address(to)), "l"(map), "r"(tl_shared_address(bar)), "r"(0), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v) : "memory");
}
