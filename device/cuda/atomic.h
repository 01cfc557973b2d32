/* atomic.h -- elements without an atomic instruction: compare and swap of their bits.
 * step(was) gives the new element; the old one comes back. */

template <class S, class Step> TL_DEVICE S tl_update_word(S *p, Step step)
{
    union { S s; uint32_t u; } was, next;
    uint32_t seen;
    was.u = *(volatile uint32_t *)p;
    do {
        seen = was.u;
        next.s = step(was.s);
        was.u = atomicCAS((uint32_t *)p, seen, next.u);
    } while (was.u != seen);
    return was.s;
}

template <class S, class Step> TL_DEVICE S tl_update_long(S *p, Step step)
{
    union { S s; uint64_t u; } was, next;
    uint64_t seen;
    was.u = *(volatile uint64_t *)p;
    do {
        seen = was.u;
        next.s = step(was.s);
        was.u = atomicCAS((uint64_t *)p, seen, next.u);
    } while (was.u != seen);
    return was.s;
}

/* One or two bytes of an aligned word. */
template <class S, class Step> TL_DEVICE S tl_update_part(S *p, Step step)
{
    const uint32_t mask = sizeof(S) == 1 ? 0xffu : 0xffffu, shift = (uint32_t)((uint64_t)p & 3) * 8;
    uint32_t *const word = (uint32_t *)((uint64_t)p & ~3ull);
    const uint32_t was = tl_update_word(word, [=](uint32_t w) {
        const S part = (S)(w >> shift & mask);
        return (w & ~(mask << shift)) | ((uint32_t)step(part) & mask) << shift;
    });
    return (S)(was >> shift & mask);
}

TL_DEVICE float tl_atomic_add_f16(uint16_t *p, float x)
{
    uint16_t was;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(was) : "l"(p), "h"(tl_f32_to_f16(x)) : "memory");
    return tl_f16_to_f32(was);
}

/* ---- neighbours in global memory: v starts at a multiple of its size ------------------------------------- */

TL_DEVICE void tl_add_run_f32_2(float *p, const float *v)
{
    atomicAdd(p, v[0]), atomicAdd(p + 1, v[1]);
}

TL_DEVICE void tl_add_run_f32_4(float *p, const float *v)
{
    tl_add_run_f32_2(p, v), tl_add_run_f32_2(p + 2, v + 2);
}

TL_DEVICE void tl_add_run_f16_2(uint16_t *p, const uint16_t *v)
{
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" : : "l"(p), "r"(*(const uint32_t *)v) : "memory");
}

TL_DEVICE void tl_add_run_f16_4(uint16_t *p, const uint16_t *v)
{
    tl_add_run_f16_2(p, v), tl_add_run_f16_2(p + 2, v + 2);
}

TL_DEVICE void tl_add_run_f16_8(uint16_t *p, const uint16_t *v)
{
    tl_add_run_f16_4(p, v), tl_add_run_f16_4(p + 4, v + 4);
}

TL_DEVICE void tl_add_run_bf16_2(uint16_t *p, const uint16_t *v)
{
    const float x = tl_bf16_to_f32(v[0]), y = tl_bf16_to_f32(v[1]);
    tl_update_word((uint32_t *)p, [=](uint32_t was) {
        const uint32_t low = tl_f32_to_bf16(tl_bf16_to_f32((uint16_t)was) + x);
        return low | (uint32_t)tl_f32_to_bf16(tl_bf16_to_f32((uint16_t)(was >> 16)) + y) << 16;
    });
}

TL_DEVICE void tl_add_run_bf16_4(uint16_t *p, const uint16_t *v)
{
    tl_add_run_bf16_2(p, v), tl_add_run_bf16_2(p + 2, v + 2);
}

TL_DEVICE void tl_add_run_bf16_8(uint16_t *p, const uint16_t *v)
{
    tl_add_run_bf16_4(p, v), tl_add_run_bf16_4(p + 4, v + 4);
}

TL_DEVICE void tl_share_nibble(void *base, int64_t i, int32_t v)
{
    const uint32_t shift = (uint32_t)(i & 1) * 4;
    tl_update_part((uint8_t *)base + (i >> 1), [=](uint8_t was) {
        return (uint8_t)((was & ~(15u << shift)) | ((uint32_t)v & 15u) << shift);
    });
}

TL_DEVICE int64_t tl_atomic_add_int64(int64_t *p, int64_t x)
{
    return (int64_t)atomicAdd((uint64_t *)p, (uint64_t)x);
}

/* ---- all blocks of the grid ------------------------------------------------------------------------------ */

/* Every block adds one, the first what is missing to the top bit; the turn of that bit lets all go. */
TL_DEVICE void tl_grid_sync(uint32_t *state)
{
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        const uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;
        const uint32_t add = blockIdx.x + blockIdx.y + blockIdx.z == 0 ? 0x80000000u - (blocks - 1) : 1u;
        __threadfence();
        const uint32_t was = atomicAdd(state, add);
        while (((*(volatile uint32_t *)state ^ was) & 0x80000000u) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
}
