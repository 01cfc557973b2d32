# run: --target="cuda -arch=sm_80"
"""A name for where a window starts does not keep a nest from touching many elements at a time."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 512), "float16"), B: T.Tensor((64, 512), "float16")):
    with T.Kernel(8, 2, threads=64) as (bx, by):
        col, row = bx * 64, by * 32
        for i, j in T.Parallel(8, 64):
            B[row + i, col + j] = A[row + i, col + j]
# >>> source
# extern "C" __global__ void __launch_bounds__(64, 8) main_kernel(
#     const uint16_t *__restrict__ A,
#     uint16_t *__restrict__ B)
# {
#     const int32_t bx = blockIdx.x;
#     const int32_t by = blockIdx.y;
#     const int32_t tx = threadIdx.x;
#
#     const int32_t col = (int32_t)((uint32_t)bx * 64u);
#     const int32_t row = (int32_t)((uint32_t)by * 32u);
#     *(uint4 *)&B[tx / 8 * 512 + tx % 8 * 8 + col + row * 512] = *(const uint4 *)&A[tx / 8 * 512 + tx % 8 * 8 + col + row * 512];
# }
#
# <<<
