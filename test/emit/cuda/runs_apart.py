# run: --target="cuda -arch=sm_90a"
# Of a tensor kept in the order of an MMA's results eight of a row are two runs: two wide loads, one wide store.
import tilelang.language as T


@T.prim_func
def back(Q: T.Tensor((64, 64), "float32"), O: T.Tensor((64, 64), "float16")):
    with T.Kernel(1, threads=128):
        T.annotate_layout({Q: T.Layout(Q.shape, lambda l, d: [l // 8, d // 8, d % 2, 4 * (l % 8) + d % 8 // 2])})
        T.copy(Q, O)
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) back_kernel(
#     const float *__restrict__ Q,
#     uint16_t *__restrict__ O)
# {
#     const float *const view = (const float *)Q;
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(Q, O)  runs_apart.py:10
#     #pragma unroll
#     for (int32_t s = 0; s < 4; s++) {
#         __align__(16) float v[4];
#         *(float4 *)v = *(const float4 *)&view[tx / 64 * 512 + tx % 8 * 64 + tx / 8 % 8 * 4 + s * 1024];
#         __align__(16) float v_1[4];
#         *(float4 *)v_1 = *(const float4 *)&view[tx / 64 * 512 + tx % 8 * 64 + tx / 8 % 8 * 4 + s * 1024 + 32];
#         __align__(16) uint16_t v_2[8];
#         *(uint32_t *)&v_2[0] = tl_pack_f16(v[0], v_1[0]);
#         *(uint32_t *)&v_2[2] = tl_pack_f16(v[1], v_1[1]);
#         *(uint32_t *)&v_2[4] = tl_pack_f16(v[2], v_1[2]);
#         *(uint32_t *)&v_2[6] = tl_pack_f16(v[3], v_1[3]);
#         *(uint4 *)&O[tx * 8 + s * 1024] = *(const uint4 *)v_2;
#     }
# }
#
# <<<
