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
