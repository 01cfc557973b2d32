# run: M=64 N=64 --target="cuda -arch=sm_90a"
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=64, N=64, dtype="bfloat16"):
    K = T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32), threads=64) as (bx, by):
            A_s = T.alloc_shared((32, 32), dtype)
            B_s = T.alloc_shared((32, 32), dtype)
            C_l = T.alloc_fragment((32, 32), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                T.copy(A[by * 32, k * 32], A_s)
                T.copy(B[bx * 32, k * 32], B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=True)
            T.copy(C_l, C[by * 32, bx * 32])

    return main
# >>> source
# TL_DEVICE void tl_mma_m16n8k16_f32_bf16_bf16(float *c, const uint32_t *a, const uint32_t *b)
# {
#     asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
#         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
# }
#
# extern "C" __global__ void __launch_bounds__(64, 9) main_kernel(
#     const uint16_t *__restrict__ A,
#     const uint16_t *__restrict__ B,
#     float *__restrict__ C,
#     const int32_t K)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const A_s = (uint16_t *)(tl_shared + 0);
#     uint16_t *const B_s = (uint16_t *)(tl_shared + 4096);
#     float C_l[16];
#     uint32_t a_reg[4];
#     uint32_t b_reg[4];
#     const TlTile tl_tile = tl_raster_rows(16);
#     const int32_t bx = tl_tile.x;
#     const int32_t by = tl_tile.y;
#     const int32_t tx = threadIdx.x;
#
#     // T.clear(C_l)  gemm.py:16
#     #pragma unroll
#     for (int32_t s = 0; s < 16; s++) {
#         C_l[s] = 0.0f;
#     }
#     const bool more = K >= 8;
#     // T.copy(A[by * 32, k * 32], A_s)  gemm.py:18
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 2; s_1++) {
#         tl_cp_async_or_zero_where<16>(tl_shared_at(A_s, tx / 4 * 64 + ((tx % 4) ^ (tx / 8 % 4)) * 16 + s_1 * 1024), &A[(int64_t)K * by * 32 + (int64_t)K * (tx / 4) + (int64_t)K * s_1 * 16 + (int64_t)(tx % 4) * 8], tx % 4 * 8 < K, more);
#     }
#     // T.copy(B[bx * 32, k * 32], B_s)  gemm.py:19
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 2; s_2++) {
#         tl_cp_async_or_zero_where<16>(tl_shared_at(B_s, tx / 4 * 64 + ((tx % 4) ^ (tx / 8 % 4)) * 16 + s_2 * 1024), &B[(int64_t)K * bx * 32 + (int64_t)K * (tx / 4) + (int64_t)K * s_2 * 16 + (int64_t)(tx % 4) * 8], tx % 4 * 8 < K, more);
#     }
#     tl_cp_async_commit();
#     #pragma unroll 1
#     for (int32_t k = 0, k_end = (K + 24) / 32; k < k_end; k++) {
#         tl_cp_async_wait<0>();
#         __syncthreads();
#         const bool more_1 = k + 1 < (K + 24) / 32;
#         // T.copy(A[by * 32, k * 32], A_s)  gemm.py:18
#         #pragma unroll
#         for (int32_t s_3 = 0; s_3 < 2; s_3++) {
#             tl_cp_async_or_zero_where<16>(tl_shared_at(A_s, tx / 4 * 64 + ((tx % 4) ^ (tx / 8 % 4)) * 16 + (k + 1) % 2 * 2048 + s_3 * 1024), &A[(int64_t)K * by * 32 + (int64_t)K * (tx / 4) + (int64_t)K * s_3 * 16 + (int64_t)(tx % 4) * 8 + (int64_t)k * 32 + 32], tx % 4 * 8 + k * 32 + 32 < K, more_1);
#         }
#         // T.copy(B[bx * 32, k * 32], B_s)  gemm.py:19
#         #pragma unroll
#         for (int32_t s_4 = 0; s_4 < 2; s_4++) {
#             tl_cp_async_or_zero_where<16>(tl_shared_at(B_s, tx / 4 * 64 + ((tx % 4) ^ (tx / 8 % 4)) * 16 + (k + 1) % 2 * 2048 + s_4 * 1024), &B[(int64_t)K * bx * 32 + (int64_t)K * (tx / 4) + (int64_t)K * s_4 * 16 + (int64_t)(tx % 4) * 8 + (int64_t)k * 32 + 32], tx % 4 * 8 + k * 32 + 32 < K, more_1);
#         }
#         tl_cp_async_commit();
#         // T.gemm(A_s, B_s, C_l, transpose_B=True)  gemm.py:20
#         #pragma unroll
#         for (int32_t kk = 0; kk < 2; kk++) {
#             tl_ldmatrix_x4(b_reg, tl_shared_at(B_s, tx / 16 * 512 + tx % 8 * 64 + ((tx / 8 % 2 + kk * 2) ^ (tx / 2 % 4)) * 16 + k % 2 * 2048));
#             tl_ldmatrix_x4(a_reg, tl_shared_at(A_s, tx % 16 * 64 + ((tx / 16 % 2 + kk * 2) ^ (tx / 2 % 4)) * 16 + k % 2 * 2048));
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[0], a_reg, b_reg);
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[4], a_reg, b_reg + 2);
#             tl_ldmatrix_x4(a_reg, tl_shared_at(A_s, tx % 16 * 64 + ((tx / 16 % 2 + kk * 2) ^ (tx / 2 % 4)) * 16 + k % 2 * 2048 + 1024));
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[8], a_reg, b_reg);
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[12], a_reg, b_reg + 2);
#         }
#     }
#     // T.copy(C_l, C[by * 32, bx * 32])  gemm.py:21
#     #pragma unroll
#     for (int32_t s_5 = 0; s_5 < 8; s_5++) {
#         __align__(16) float v[2];
#         v[0] = C_l[s_5 * 2];
#         v[1] = C_l[s_5 * 2 + 1];
#         *(float2 *)&C[bx * 32 + by * 2048 + tx / 32 * 16 + tx % 4 * 2 + tx / 4 % 8 * 64 + s_5 / 4 * 1024 + s_5 % 2 * 512 + s_5 / 2 % 2 * 8] = *(const float2 *)v;
#     }
# }
#
# extern "C" __global__ void __launch_bounds__(64, 9) main_kernel_any(
#     const uint16_t *__restrict__ A,
#     const uint16_t *__restrict__ B,
#     float *__restrict__ C,
#     const int32_t K)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const A_s_1 = (uint16_t *)(tl_shared + 0);
#     uint16_t *const B_s_1 = (uint16_t *)(tl_shared + 2048);
#     float C_l[16];
#     uint32_t a_reg_1[4];
#     uint32_t b_reg_1[4];
#     const TlTile tl_tile = tl_raster_rows(16);
#     const int32_t bx = tl_tile.x;
#     const int32_t by = tl_tile.y;
#     const int32_t tx = threadIdx.x;
#
#     // T.clear(C_l)  gemm.py:16
#     #pragma unroll
#     for (int32_t s_6 = 0; s_6 < 16; s_6++) {
#         C_l[s_6] = 0.0f;
#     }
#     #pragma unroll 1
#     for (int32_t k = 0, k_end_1 = (K + 31) / 32; k < k_end_1; k++) {
#         // T.copy(A[by * 32, k * 32], A_s)  gemm.py:18
#         __syncthreads();
#         #pragma unroll
#         for (int32_t s_7 = 0; s_7 < 16; s_7++) {
#             A_s_1[tx / 32 * 32 + tx % 8 + ((tx / 8 % 4) ^ (s_7 % 4)) * 8 + s_7 * 64] = tx % 32 + k * 32 < K ? A[(int64_t)K * by * 32 + (int64_t)K * (tx / 32) + (int64_t)K * s_7 * 2 + tx % 32 + (int64_t)k * 32] : (uint16_t)0;
#         }
#         // T.copy(B[bx * 32, k * 32], B_s)  gemm.py:19
#         #pragma unroll
#         for (int32_t s_8 = 0; s_8 < 16; s_8++) {
#             B_s_1[tx / 32 * 32 + tx % 8 + ((tx / 8 % 4) ^ (s_8 % 4)) * 8 + s_8 * 64] = tx % 32 + k * 32 < K ? B[(int64_t)K * bx * 32 + (int64_t)K * (tx / 32) + (int64_t)K * s_8 * 2 + tx % 32 + (int64_t)k * 32] : (uint16_t)0;
#         }
#         // T.gemm(A_s, B_s, C_l, transpose_B=True)  gemm.py:20
#         __syncthreads();
#         #pragma unroll
#         for (int32_t kk_1 = 0; kk_1 < 2; kk_1++) {
#             tl_ldmatrix_x4(b_reg_1, tl_shared_at(B_s_1, tx / 16 * 512 + tx % 8 * 64 + ((tx / 8 % 2 + kk_1 * 2) ^ (tx / 2 % 4)) * 16));
#             tl_ldmatrix_x4(a_reg_1, tl_shared_at(A_s_1, tx % 16 * 64 + ((tx / 16 % 2 + kk_1 * 2) ^ (tx / 2 % 4)) * 16));
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[0], a_reg_1, b_reg_1);
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[4], a_reg_1, b_reg_1 + 2);
#             tl_ldmatrix_x4(a_reg_1, tl_shared_at(A_s_1, tx % 16 * 64 + ((tx / 16 % 2 + kk_1 * 2) ^ (tx / 2 % 4)) * 16 + 1024));
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[8], a_reg_1, b_reg_1);
#             tl_mma_m16n8k16_f32_bf16_bf16(&C_l[12], a_reg_1, b_reg_1 + 2);
#         }
#     }
#     // T.copy(C_l, C[by * 32, bx * 32])  gemm.py:21
#     #pragma unroll
#     for (int32_t s_9 = 0; s_9 < 8; s_9++) {
#         __align__(16) float v_1[2];
#         v_1[0] = C_l[s_9 * 2];
#         v_1[1] = C_l[s_9 * 2 + 1];
#         *(float2 *)&C[bx * 32 + by * 2048 + tx / 32 * 16 + tx % 4 * 2 + tx / 4 % 8 * 64 + s_9 / 4 * 1024 + s_9 % 2 * 512 + s_9 / 2 % 2 * 8] = *(const float2 *)v_1;
#     }
# }
#
# <<<
