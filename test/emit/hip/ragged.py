# run: --target="hip -mcpu=gfx942"
# Copies of tiles past the edges of a tensor: rows past the last are zeros by the bound in a descriptor, columns by a condition.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((100, 72), "float16"), B: T.Tensor((128, 128), "float16")):
    with T.Kernel(2, 2, threads=64) as (bx, by):
        a = T.alloc_shared((64, 64), "float16")
        T.copy(A[by * 64, bx * 64], a)
        T.copy(a, B[by * 64, bx * 64])
# >>> source
# extern "C" __global__ void __launch_bounds__(64) main_kernel(
#     const uint16_t *__restrict__ A,
#     uint16_t *__restrict__ B)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const a = (uint16_t *)(tl_shared + 0);
#     const int32_t bx = blockIdx.x;
#     const int32_t by = blockIdx.y;
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(A[by * 64, bx * 64], a)  ragged.py:10
#     if (by < 1) {
#         #pragma unroll
#         for (int32_t s = 0; s < 8; s++) {
#             *(uint4 *)&a[tx * 8 + s * 512] = tl_load_or_zero<uint4>(&A[bx * 64 + tx / 8 * 72 + tx % 8 * 8 + s * 576], A, 14400, bx * 8 + tx % 8 < 9);
#         }
#     } else {
#         #pragma unroll
#         for (int32_t s_1 = 0; s_1 < 8; s_1++) {
#             *(uint4 *)&a[tx * 8 + s_1 * 512] = tl_load_or_zero<uint4>(&A[bx * 64 + tx / 8 * 72 + tx % 8 * 8 + s_1 * 576 + 4608], A, 14400, bx * 8 + tx % 8 < 9);
#         }
#     }
#     // T.copy(a, B[by * 64, bx * 64])  ragged.py:11
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 8; s_2++) {
#         *(uint4 *)&B[bx * 64 + by * 8192 + tx / 8 * 128 + tx % 8 * 8 + s_2 * 1024] = *(const uint4 *)&a[tx * 8 + s_2 * 512];
#     }
# }
#
# <<<
