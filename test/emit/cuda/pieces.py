# run: --target="cuda -arch=sm_80"
# A tile kept in pieces of 16 by 16 goes to its tensor 16 bytes at a time: the quotient of a column is one for eight
# of them, its remainder counts on.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((2, 4, 16, 16), "float16"), C: T.Tensor((32, 64), "float16")):
    with T.Kernel(1, threads=64):
        s = T.alloc_shared((2, 4, 16, 16), "float16")
        T.copy(A, s)
        for i, j in T.Parallel(32, 64):
            C[i, j] = s[i // 16, j // 16, i % 16, j % 16]
# >>> source
# extern "C" __global__ void __launch_bounds__(64, 8) main_kernel(
#     const uint16_t *__restrict__ A,
#     uint16_t *__restrict__ C)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const s = (uint16_t *)(tl_shared + 0);
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(A, s)  pieces.py:11
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 4; s_1++) {
#         *(uint4 *)&s[tx * 8 + s_1 * 512] = *(const uint4 *)&A[tx * 8 + s_1 * 512];
#     }
#     // for i, j in T.Parallel(32, 64)  pieces.py:12
#     __syncthreads();
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 4; s_2++) {
#         *(uint4 *)&C[tx * 8 + s_2 * 512] = *(const uint4 *)&s[tx / 8 * 16 + tx % 2 * 8 + tx / 2 % 4 * 256 + s_2 / 2 * 1024 + s_2 % 2 * 128];
#     }
# }
#
# <<<
