/* atomic.h -- atomic updates by CUDA's names; the others are made of compare and swap. */

#define tl_by_hip(fn, p, x) __hip_atomic_##fn(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
template <class T> TL_DEVICE T tl_fetch_add(T *p, T x) { return tl_by_hip(fetch_add, p, x); }
template <class T> TL_DEVICE T tl_fetch_max(T *p, T x) { return tl_by_hip(fetch_max, p, x); }
template <class T> TL_DEVICE T tl_fetch_min(T *p, T x) { return tl_by_hip(fetch_min, p, x); }
template <class T> TL_DEVICE T tl_fetch_or(T *p, T x) { return tl_by_hip(fetch_or, p, x); }
template <class T> TL_DEVICE T tl_fetch_and(T *p, T x) { return tl_by_hip(fetch_and, p, x); }
template <class T> TL_DEVICE T tl_fetch_xor(T *p, T x) { return tl_by_hip(fetch_xor, p, x); }
template <class T> TL_DEVICE T tl_exchange(T *p, T x) { return tl_by_hip(exchange, p, x); }
template <class T> TL_DEVICE T tl_compare_swap(T *p, T was, T next)
{
    __hip_atomic_compare_exchange_strong(p, &was, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return was;
}
#define atomicAdd(p, x) tl_fetch_add(p, x)
#define atomicMax(p, x) tl_fetch_max(p, x)
#define atomicMin(p, x) tl_fetch_min(p, x)
#define atomicOr(p, x) tl_fetch_or(p, x)
#define atomicAnd(p, x) tl_fetch_and(p, x)
#define atomicXor(p, x) tl_fetch_xor(p, x)
#define atomicExch(p, x) tl_exchange(p, x)
#define atomicCAS(p, was, next) tl_compare_swap(p, was, next)

TL_DEVICE float tl_atomic_add_f16(uint16_t *p, float x)
{
    return tl_f16_to_f32(tl_update_part(p, [=](uint16_t was) { return tl_f32_to_f16(tl_f16_to_f32(was) + x); }));
}
TL_DEVICE void tl_add_run_f16_2(uint16_t *p, const uint16_t *v)
{
    typedef _Float16 pair __attribute__((vector_size(4)));
    const pair x = *(const pair *)v;
    tl_update_word((uint32_t *)p, [=](uint32_t was) {
        return __builtin_bit_cast(uint32_t, __builtin_bit_cast(pair, was) + x);
    });
}
