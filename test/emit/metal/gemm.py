# run: --target=metal
# 8 x 8 matrices of SIMD-groups, tiles in threadgroup memory, a run-time dimension as a constant.
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=32, N=32):
    K = T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 16), T.ceildiv(M, 16), threads=64) as (bx, by):
            A_s = T.alloc_shared((16, 8), "float16")
            B_s = T.alloc_shared((8, 16), "float16")
            C_l = T.alloc_fragment((16, 16), "float32")
            T.clear(C_l)
            for k in T.serial(T.ceildiv(K, 8)):
                T.copy(A[by * 16, k * 8], A_s)
                T.copy(B[k * 8, bx * 16], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * 16, bx * 16])

    return main
# >>> source
# [[kernel, max_total_threads_per_threadgroup(64)]] void main_kernel(
#     device const uint16_t *A [[buffer(0)]],
#     device const uint16_t *B [[buffer(1)]],
#     device float *C [[buffer(2)]],
#     constant int32_t &K [[buffer(3)]],
#     threadgroup uchar *tl_shared [[threadgroup(0)]],
#     uint3 tl_block [[threadgroup_position_in_grid]],
#     uint3 tl_grid [[threadgroups_per_grid]],
#     uint3 tl_thread [[thread_position_in_threadgroup]])
# {
#     const TlTile tl_tile = tl_raster_rows(tl_block, tl_grid, 16);
#     const int32_t bx = int32_t(tl_tile.x);
#     const int32_t by = int32_t(tl_tile.y);
#     const int32_t tx = int32_t(tl_thread.x);
#     threadgroup uint16_t *const A_s = (threadgroup uint16_t *)(tl_shared + 0);
#     threadgroup uint16_t *const B_s = (threadgroup uint16_t *)(tl_shared + 256);
#     float C_l[4];
#     alignas(16) uint16_t a_reg[2];
#     alignas(16) uint16_t b_reg[2];
#
#     // T.clear(C_l)  gemm.py:17
#     #pragma unroll
#     for (int32_t s = 0; s < 4; s++) {
#         C_l[s] = 0.0f;
#     }
#     #pragma unroll 1
#     for (int32_t k = 0, k_end = (K + 7) / 8; k < k_end; k++) {
#         // T.copy(A[by * 16, k * 8], A_s)  gemm.py:19
#         threadgroup_barrier(mem_flags::mem_threadgroup);
#         #pragma unroll
#         for (int32_t s_1 = 0; s_1 < 2; s_1++) {
#             A_s[tx + s_1 * 64] = tx % 8 + k * 8 < K ? A[(int64_t)K * by * 16 + (int64_t)K * (tx / 8) + (int64_t)K * s_1 * 8 + tx % 8 + (int64_t)k * 8] : (uint16_t)0;
#         }
#         // T.copy(B[k * 8, bx * 16], B_s)  gemm.py:20
#         *(threadgroup uint32_t *)&B_s[tx / 8 * 16 + tx % 4 * 2 + ((tx / 32) ^ (tx / 4 % 2)) * 8] = (tx / 8 + k * 8 < K) ? *(device const uint32_t *)&B[(int64_t)bx * 16 + (int64_t)(tx / 8) * 32 + (int64_t)(tx % 8) * 2 + (int64_t)k * 256] : uint32_t{};
#         // T.gemm(A_s, B_s, C_l)  gemm.py:21
#         threadgroup_barrier(mem_flags::mem_threadgroup);
#         #pragma unroll
#         for (int32_t kk = 0; kk < 1; kk++) {
#             b_reg[0] = B_s[tx % 2 * 2 + tx / 2 % 4 * 16 + tx / 8 % 2 * 4 + tx / 16 % 2 * 64 + ((tx / 32) ^ (tx / 16 % 2)) * 8];
#             b_reg[1] = B_s[tx % 2 * 2 + tx / 2 % 4 * 16 + tx / 8 % 2 * 4 + tx / 16 % 2 * 64 + ((tx / 32) ^ (tx / 16 % 2)) * 8 + 1];
#             a_reg[0] = A_s[tx % 2 * 2 + tx / 2 % 4 * 8 + tx / 8 % 2 * 4 + tx / 16 % 2 * 32];
#             a_reg[1] = A_s[tx % 2 * 2 + tx / 2 % 4 * 8 + tx / 8 % 2 * 4 + tx / 16 % 2 * 32 + 1];
#             tl_mma_f32_f16(&C_l[0], &a_reg[0], &b_reg[0]);
#             a_reg[0] = A_s[tx % 2 * 2 + tx / 2 % 4 * 8 + tx / 8 % 2 * 4 + tx / 16 % 2 * 32 + 64];
#             a_reg[1] = A_s[tx % 2 * 2 + tx / 2 % 4 * 8 + tx / 8 % 2 * 4 + tx / 16 % 2 * 32 + 65];
#             tl_mma_f32_f16(&C_l[2], &a_reg[0], &b_reg[0]);
#         }
#     }
#     // T.copy(C_l, C[by * 16, bx * 16])  gemm.py:22
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 2; s_2++) {
#         __align__(16) float v[2];
#         v[0] = C_l[s_2 * 2];
#         v[1] = C_l[s_2 * 2 + 1];
#         *(device float2 *)&C[bx * 16 + by * 512 + tx / 32 * 8 + tx % 2 * 2 + tx / 2 % 4 * 32 + tx / 8 % 2 * 4 + tx / 16 % 2 * 128 + s_2 * 256] = *(thread const float2 *)v;
#     }
# }
#
# <<<
