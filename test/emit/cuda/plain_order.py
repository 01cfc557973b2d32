# run: --target="cuda -arch=sm_90a"
# Blocks without loops are all equally long: they run in the order of the grid, neighbours in memory side by side.
import tilelang.language as T


@T.prim_func
def back(A: T.Tensor((4, 8, 64, 64), "float32"), B: T.Tensor((4, 8, 64, 64), "float16")):
    with T.Kernel(4, 8, 4, threads=128) as (bx, by, bz):
        T.copy(A[bz, by, bx * 16:bx * 16 + 16, :], B[bz, by, bx * 16:bx * 16 + 16, :])
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) back_kernel(
#     const float *__restrict__ A,
#     uint16_t *__restrict__ B)
# {
#     const int32_t bx = blockIdx.x;
#     const int32_t by = blockIdx.y;
#     const int32_t bz = blockIdx.z;
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(A[bz, by, bx * 16:bx * 16 + 16, :], B[bz, by, bx * 16:bx * 16 + 16...  plain_order.py:9
#     #pragma unroll
#     for (int32_t s = 0; s < 2; s++) {
#         __align__(16) float v[4];
#         *(float4 *)v = *(const float4 *)&A[bx * 1024 + by * 4096 + bz * 32768 + tx * 4 + s * 512];
#         __align__(16) uint16_t v_1[4];
#         *(uint32_t *)&v_1[0] = tl_pack_f16(v[0], v[1]);
#         *(uint32_t *)&v_1[2] = tl_pack_f16(v[2], v[3]);
#         *(uint2 *)&B[bx * 1024 + by * 4096 + bz * 32768 + tx * 4 + s * 512] = *(const uint2 *)v_1;
#     }
# }
#
# <<<
