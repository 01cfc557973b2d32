# run: --target="opencl -arch=local32k"
# A rectangle of the result for each thread, copies of 16 bytes, loops over registers unrolled, a run-time dimension.
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=32, N=32):
    K = T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 16), T.ceildiv(M, 16), threads=64) as (bx, by):
            A_s = T.alloc_shared((16, 8), "float32")
            B_s = T.alloc_shared((8, 16), "float32")
            C_l = T.alloc_fragment((16, 16), "float32")
            T.clear(C_l)
            for k in T.serial(T.ceildiv(K, 8)):
                T.copy(A[by * 16, k * 8], A_s)
                T.copy(B[k * 8, bx * 16], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * 16, bx * 16])

    return main
# >>> source
# #pragma OPENCL FP_CONTRACT ON
#
# typedef float tl_any_float __attribute__((may_alias));
# __attribute__((reqd_work_group_size(64, 1, 1)))
# __kernel void main_kernel(__global const float *restrict A, __global const float *restrict B, __global float *restrict C, const int32_t K)
# {
#     TL_LOCAL(tl_shared, 1024);
#     __local tl_any_float *const A_s = (__local tl_any_float *)(tl_shared + 0);
#     __local tl_any_float *const B_s = (__local tl_any_float *)(tl_shared + 512);
#     float C_l[4] __attribute__((aligned(16)));
#     float a[2] __attribute__((aligned(16)));
#     float b[2] __attribute__((aligned(16)));
#     const int32_t bx = (int32_t)get_group_id(0);
#     const int32_t by = (int32_t)get_group_id(1);
#     const int32_t tx = (int32_t)get_local_id(0);
#     // T.clear(C_l)  gemm.py:17
#     #pragma unroll
#     for (int32_t s = 0; s < 4; s++) {
#         C_l[s] = 0.0f;
#     }
#     for (int32_t k = 0, k_end = (K + 7) / 8; k < k_end; k++) {
#         // T.copy(A[by * 16, k * 8], A_s)  gemm.py:19
#         barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#         for (int32_t s_1 = 0; s_1 < 2; s_1++) {
#             A_s[tx + s_1 * 64] = (tx % 8 + k * 8 < K ? A[(int64_t)K * by * 16 + (int64_t)K * (tx / 8) + (int64_t)K * s_1 * 8 + tx % 8 + (int64_t)k * 8] : 0.0f);
#         }
#         // T.copy(B[k * 8, bx * 16], B_s)  gemm.py:20
#         *(__local uint2 *)&B_s[tx * 2] = tx / 8 + k * 8 < K ? *(const __global uint2 *)&B[(int64_t)bx * 16 + (int64_t)(tx / 8) * 32 + (int64_t)(tx % 8) * 2 + (int64_t)k * 256] : (uint2)(0u);
#         // T.gemm(A_s, B_s, C_l)  gemm.py:21
#         barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#         for (int32_t l = 0; l < 8; l++) {
#             #pragma unroll
#             for (int32_t r = 0; r < 2; r++) {
#                 a[r] = A_s[tx / 8 * 16 + l + r * 8];
#             }
#             #pragma unroll
#             for (int32_t c = 0; c < 2; c++) {
#                 b[c] = B_s[tx % 8 * 2 + l * 16 + c];
#             }
#             #pragma unroll
#             for (int32_t s_2 = 0; s_2 < 4; s_2++) {
#                 C_l[s_2] = fma(a[s_2 / 2], b[s_2 % 2], C_l[s_2]);
#             }
#         }
#     }
#     // T.copy(C_l, C[by * 16, bx * 16])  gemm.py:22
#     #pragma unroll
#     for (int32_t s_3 = 0; s_3 < 2; s_3++) {
#         *(__global uint2 *)&C[bx * 16 + by * 512 + tx / 8 * 64 + tx % 8 * 2 + s_3 * 32] = *(const __private uint2 *)&C_l[s_3 * 2];
#     }
# }
#
# <<<
