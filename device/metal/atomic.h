/* atomic.h -- 4-bit elements in memory that others write too: the rest of the word stays.  Atomics of
 * kernels are made by the emitter (src/target/metal/atomic.c). */

TL_DEVICE void tl_share_nibble_device(device void *base, int64_t i, int32_t v)
{
    device atomic_uint *const word = (device atomic_uint *)base + (i >> 3);
    const uint32_t shift = uint32_t(i & 7) * 4u;
    uint32_t was = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        next = (was & ~(15u << shift)) | (uint32_t(v) & 15u) << shift;
    } while (!atomic_compare_exchange_weak_explicit(word, &was, next, memory_order_relaxed, memory_order_relaxed));
}

TL_DEVICE void tl_share_nibble_threadgroup(threadgroup void *base, int64_t i, int32_t v)
{
    threadgroup atomic_uint *const word = (threadgroup atomic_uint *)base + (i >> 3);
    const uint32_t shift = uint32_t(i & 7) * 4u;
    uint32_t was = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        next = (was & ~(15u << shift)) | (uint32_t(v) & 15u) << shift;
    } while (!atomic_compare_exchange_weak_explicit(word, &was, next, memory_order_relaxed, memory_order_relaxed));
}

/* The number of an assertion that does not hold. */
#define TL_FLAG(i) device atomic_int *tl_failed [[buffer(i)]],
#define TL_FAIL(number) atomic_store_explicit(tl_failed, number, memory_order_relaxed)
