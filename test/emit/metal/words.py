# run: --target=metal
# Atomics of 32 bits as MSL has them, others by compare and exchange; shuffles, votes, wide accesses, long numbers.
import tilelang
import tilelang.language as T


@tilelang.jit
def words(N=256):
    @T.prim_func
    def main(kernel: T.Tensor((N,), "float32"), H: T.Tensor((8,), "float16"), I: T.Tensor((8,), "int32"), F: T.Tensor((8,), "float32"), L: T.Tensor((N,), "int64")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_fragment((N,), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(kernel, s)
            T.reduce_max(s, total, dim=0)
            for i in T.Parallel(N):
                T.atomic_add(H[i % 8], s[i])
                T.atomic_max(I[i % 8], T.cast(s[i], "int32"))
                T.atomic_add(F[i % 8], T.exp(total[0]))
                L[i] = L[i] // 3 + 4000000000

    return main
# >>> source
# TL_DEVICE float tl_atomic_add_float16_device(device uint16_t *base, int64_t at, float x)
# {
#     device atomic_uint *const word = (device atomic_uint *)base + at / 2;
#     const uint32_t shift = uint32_t(at % 2) * 16u, mask = 0xffffu;
#     uint32_t was = atomic_load_explicit(word, memory_order_relaxed), next;
#     do {
#         const float a = tl_f16_to_f32(uint16_t(was >> shift & mask));
#         next = (was & ~(mask << shift)) | (uint32_t(tl_f32_to_f16(a + x)) & mask) << shift;
#     } while (!atomic_compare_exchange_weak_explicit(word, &was, next, memory_order_relaxed, memory_order_relaxed));
#     return tl_f16_to_f32(uint16_t(was >> shift & mask));
# }
#
# [[kernel, max_total_threads_per_threadgroup(64)]] void main_kernel(
#     device const float *kernel_1 [[buffer(0)]],
#     device uint16_t *H [[buffer(1)]],
#     device int32_t *I [[buffer(2)]],
#     device float *F [[buffer(3)]],
#     device int64_t *L [[buffer(4)]],
#     threadgroup uchar *tl_shared [[threadgroup(0)]],
#     uint3 tl_block [[threadgroup_position_in_grid]],
#     uint3 tl_grid [[threadgroups_per_grid]],
#     uint3 tl_thread [[thread_position_in_threadgroup]])
# {
#     const int32_t tx = int32_t(tl_thread.x);
#     float s[4];
#     float total[1];
#     float acc[1];
#     threadgroup float *const total_parts = (threadgroup float *)(tl_shared + 0);
#
#     // T.copy(kernel, s)  words.py:14
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 2; s_1++) {
#         __align__(16) float v[2];
#         *(thread float2 *)v = *(device const float2 *)&kernel_1[tx * 2 + s_1 * 128];
#         s[s_1 * 2] = v[0];
#         s[s_1 * 2 + 1] = v[1];
#     }
#     // T.reduce_max(s, total, dim=0)  words.py:15
#     acc[0] = (-INFINITY);
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 4; s_2++) {
#         acc[0] = tl_max_f32(acc[0], s[s_2]);
#     }
#     const float other = tl_lane_xor((float)acc[0], tx % 32, 1, 32);
#     acc[0] = tl_max_f32(acc[0], other);
#     const float other_1 = tl_lane_xor((float)acc[0], tx % 32, 2, 32);
#     acc[0] = tl_max_f32(acc[0], other_1);
#     const float other_2 = tl_lane_xor((float)acc[0], tx % 32, 4, 32);
#     acc[0] = tl_max_f32(acc[0], other_2);
#     const float other_3 = tl_lane_xor((float)acc[0], tx % 32, 8, 32);
#     acc[0] = tl_max_f32(acc[0], other_3);
#     const float other_4 = tl_lane_xor((float)acc[0], tx % 32, 16, 32);
#     acc[0] = tl_max_f32(acc[0], other_4);
#     if (tx % 32 == 0) {
#         total_parts[tx / 32] = acc[0];
#     }
#     threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
#     total[0] = tl_max_f32(total_parts[0], total_parts[1]);
#     // for i in T.Parallel(N)  words.py:16
#     #pragma unroll
#     for (int32_t s_3 = 0; s_3 < 4; s_3++) {
#         tl_atomic_add_float16_device(H, tx % 4 * 2 + s_3 % 2, tl_round_f16(s[s_3]));
#         atomic_fetch_max_explicit((device atomic_int *)&I[tx % 4 * 2 + s_3 % 2], (int32_t)tl_f32_to_int32(s[s_3]), memory_order_relaxed);
#         atomic_fetch_add_explicit((device atomic_float *)&F[tx % 4 * 2 + s_3 % 2], exp(total[0]), memory_order_relaxed);
#         L[tx * 2 + s_3 / 2 * 128 + s_3 % 2] = (int64_t)((uint64_t)tl_floordiv_i64(L[tx * 2 + s_3 / 2 * 128 + s_3 % 2], 3L) + 4000000000UL);
#     }
# }
#
# <<<
