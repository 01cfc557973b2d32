/* sm80.h -- what came with sm_80. */

TL_DEVICE uint16_t tl_f32_to_bf16(float x)
{
    uint16_t h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

/* Two narrow floats in one register, the first in the low half. */
TL_DEVICE uint32_t tl_pack_bf16(float low, float high)
{
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

/* A bfloat16 in the upper half of a register is the float. */
TL_DEVICE float tl_round_bf16(float x) { return __uint_as_float(tl_pack_bf16(0.0f, x)); }

TL_DEVICE uint32_t tl_pack_f16(float low, float high)
{
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

/* NaN wins. */
TL_DEVICE float tl_min_nan_f32(float a, float b)
{
    float r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}

TL_DEVICE float tl_max_nan_f32(float a, float b)
{
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}

/* ---- barriers in shared memory -------------------------------------------------------------------- */

TL_DEVICE void tl_mbar_init(uint64_t *bar, int32_t count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(tl_shared_address(bar)), "r"(count) : "memory");
}

TL_DEVICE void tl_mbar_arrive(uint64_t *bar)
{
    asm volatile("{\n\t"
                 ".reg .b64 state;\n\t"
                 "mbarrier.arrive.shared.b64 state, [%0];\n\t"
                 "}" : : "r"(tl_shared_address(bar)) : "memory");
}

TL_DEVICE void tl_mbar_wait(uint64_t *bar, int32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t"
                     "}" : "=r"(done) : "r"(tl_shared_address(bar)), "r"(parity) : "memory");
}

/* ---- asynchronous copies ---------------------------------------------------------------------------- */

/* N bytes, 4, 8 or 16, both addresses multiples of it; zeros where not `there`. */
template <int N> TL_DEVICE void tl_cp_async(uint32_t to, const void *from)
{
    if (N == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
                     : : "r"(to), "l"(from));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     : : "r"(to), "l"(from), "n"(N));
}

template <int N> TL_DEVICE void tl_cp_async_or_zero(uint32_t to, const void *from, bool there)
{
    int32_t n = there ? N : 0;
    if (N == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                     : : "r"(to), "l"(from), "r"(n));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     : : "r"(to), "l"(from), "n"(N), "r"(n));
}

/* The same where `doit`, nothing elsewhere. */
template <int N> TL_DEVICE void tl_cp_async_where(uint32_t to, const void *from, bool doit)
{
    if (N == 16)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.s32 p, %2, 0;\n\t"
                     "@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n\t"
                     "}" : : "r"(to), "l"(from), "r"((int32_t)doit));
    else
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.s32 p, %3, 0;\n\t"
                     "@p cp.async.ca.shared.global [%0], [%1], %2;\n\t"
                     "}" : : "r"(to), "l"(from), "n"(N), "r"((int32_t)doit));
}

template <int N>
TL_DEVICE void tl_cp_async_or_zero_where(uint32_t to, const void *from, bool there, bool doit)
{
    int32_t n = there ? N : 0;
    if (N == 16)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.s32 p, %3, 0;\n\t"
                     "@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n\t"
                     "}" : : "r"(to), "l"(from), "r"(n), "r"((int32_t)doit));
    else
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.s32 p, %4, 0;\n\t"
                     "@p cp.async.ca.shared.global [%0], [%1], %2, %3;\n\t"
                     "}" : : "r"(to), "l"(from), "n"(N), "r"(n),
                             "r"((int32_t)doit));
}

TL_DEVICE void tl_cp_async_commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }

template <int N> TL_DEVICE void tl_cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}

TL_DEVICE void tl_cp_async_barrier(uint64_t *bar)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(tl_shared_address(bar)) : "memory");
}
