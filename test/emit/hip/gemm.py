# run: M=64 N=64 --target="hip -mcpu=gfx942"
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm(M=64, N=64, dtype="bfloat16"):
    K = T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32), threads=128) as (bx, by):
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
# TL_DEVICE void tl_mfma_f32_16x16x16bf16_1k(float *c, const uint32_t *a, const uint32_t *b)
# {
#     typedef float acc __attribute__((ext_vector_type(4), aligned(4)));
#     typedef short arg __attribute__((ext_vector_type(4), aligned(4)));
#     tl_mfma(f32_16x16x16bf16_1k);
# }
#
# extern "C" __global__ void __launch_bounds__(128, 5) main_kernel(
#     const uint16_t *__restrict__ A,
#     const uint16_t *__restrict__ B,
#     float *__restrict__ C,
#     const int32_t K)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const A_s = (uint16_t *)(tl_shared + 0);
#     uint16_t *const B_s = (uint16_t *)(tl_shared + 2048);
#     float C_l[8];
#     __align__(16) uint16_t A_s_next[8];
#     __align__(16) uint16_t B_s_next[8];
#     __align__(16) uint16_t a_reg[4];
#     __align__(16) uint16_t b_reg[4];
#     const TlTile tl_tile = tl_raster_rows(16);
#     const int32_t bx = tl_tile.x;
#     const int32_t by = tl_tile.y;
#     const int32_t tx = threadIdx.x;
#
#     // T.clear(C_l)  gemm.py:16
#     #pragma unroll
#     for (int32_t s = 0; s < 8; s++) {
#         C_l[s] = 0.0f;
#     }
#     if (K >= 1) {
#         // T.copy(A[by * 32, k * 32], A_s)  gemm.py:18
#         #pragma unroll
#         for (int32_t s_1 = 0; s_1 < 8; s_1++) {
#             A_s[tx / 32 * 32 + tx % 8 + ((tx / 64 + s_1 % 2 * 2) ^ (tx / 8 % 4)) * 8 + s_1 * 128] = tx % 32 < K ? A[(int64_t)K * by * 32 + (int64_t)K * (tx / 32) + (int64_t)K * s_1 * 4 + tx % 32] : (uint16_t)0;
#         }
#         // T.copy(B[bx * 32, k * 32], B_s)  gemm.py:19
#         #pragma unroll
#         for (int32_t s_2 = 0; s_2 < 8; s_2++) {
#             B_s[tx / 32 * 32 + tx % 8 + ((tx / 64 + s_2 % 2 * 2) ^ (tx / 8 % 4)) * 8 + s_2 * 128] = tx % 32 < K ? B[(int64_t)K * bx * 32 + (int64_t)K * (tx / 32) + (int64_t)K * s_2 * 4 + tx % 32] : (uint16_t)0;
#         }
#     }
#     #pragma unroll 1
#     for (int32_t k = 0, k_end = (K + 31) / 32; k < k_end; k++) {
#         if (k + 1 < (K + 31) / 32) {
#             // T.copy(A[by * 32, k * 32], A_s)  gemm.py:18
#             if (k * 32 + 63 < K) {
#                 #pragma unroll
#                 for (int32_t s_3 = 0; s_3 < 8; s_3++) {
#                     A_s_next[s_3] = A[(int64_t)K * by * 32 + (int64_t)K * (tx / 4) + (int64_t)(tx % 4) * 8 + (int64_t)k * 32 + s_3 + 32];
#                 }
#             } else {
#                 #pragma unroll
#                 for (int32_t s_4 = 0; s_4 < 8; s_4++) {
#                     A_s_next[s_4] = tx % 4 * 8 + k * 32 + s_4 + 32 < K ? A[(int64_t)K * by * 32 + (int64_t)K * (tx / 4) + (int64_t)(tx % 4) * 8 + (int64_t)k * 32 + s_4 + 32] : (uint16_t)0;
#                 }
#             }
#             // T.copy(B[bx * 32, k * 32], B_s)  gemm.py:19
#             if (k * 32 + 63 < K) {
#                 #pragma unroll
#                 for (int32_t s_5 = 0; s_5 < 8; s_5++) {
#                     B_s_next[s_5] = B[(int64_t)K * bx * 32 + (int64_t)K * (tx / 4) + (int64_t)(tx % 4) * 8 + (int64_t)k * 32 + s_5 + 32];
#                 }
#             } else {
#                 #pragma unroll
#                 for (int32_t s_6 = 0; s_6 < 8; s_6++) {
#                     B_s_next[s_6] = tx % 4 * 8 + k * 32 + s_6 + 32 < K ? B[(int64_t)K * bx * 32 + (int64_t)K * (tx / 4) + (int64_t)(tx % 4) * 8 + (int64_t)k * 32 + s_6 + 32] : (uint16_t)0;
#                 }
#             }
#         }
#         // T.gemm(A_s, B_s, C_l, transpose_B=True)  gemm.py:20
#         __syncthreads();
#         #pragma unroll
#         for (int32_t kk = 0; kk < 2; kk++) {
#             b_reg[0] = B_s[tx / 64 * 512 + tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8];
#             b_reg[1] = B_s[tx / 64 * 512 + tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 1];
#             b_reg[2] = B_s[tx / 64 * 512 + tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 2];
#             b_reg[3] = B_s[tx / 64 * 512 + tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 3];
#             a_reg[0] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8];
#             a_reg[1] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 1];
#             a_reg[2] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 2];
#             a_reg[3] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 3];
#             tl_mfma_f32_16x16x16bf16_1k(&C_l[0], (uint32_t *)&a_reg[0], (uint32_t *)&b_reg[0]);
#             a_reg[0] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 512];
#             a_reg[1] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 513];
#             a_reg[2] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 514];
#             a_reg[3] = A_s[tx % 16 * 32 + tx / 16 % 2 * 4 + ((tx / 32 % 2 + kk * 2) ^ (tx / 2 % 4)) * 8 + 515];
#             tl_mfma_f32_16x16x16bf16_1k(&C_l[4], (uint32_t *)&a_reg[0], (uint32_t *)&b_reg[0]);
#         }
#         __syncthreads();
#         if (k + 1 < (K + 31) / 32) {
#             // T.copy(A[by * 32, k * 32], A_s)  gemm.py:18
#             __align__(16) uint16_t v[8];
#             v[0] = A_s_next[0];
#             v[1] = A_s_next[1];
#             v[2] = A_s_next[2];
#             v[3] = A_s_next[3];
#             v[4] = A_s_next[4];
#             v[5] = A_s_next[5];
#             v[6] = A_s_next[6];
#             v[7] = A_s_next[7];
#             *(uint4 *)&A_s[tx / 4 * 32 + ((tx % 4) ^ (tx / 8 % 4)) * 8] = *(const uint4 *)v;
#             // T.copy(B[bx * 32, k * 32], B_s)  gemm.py:19
#             __align__(16) uint16_t v_1[8];
#             v_1[0] = B_s_next[0];
#             v_1[1] = B_s_next[1];
#             v_1[2] = B_s_next[2];
#             v_1[3] = B_s_next[3];
#             v_1[4] = B_s_next[4];
#             v_1[5] = B_s_next[5];
#             v_1[6] = B_s_next[6];
#             v_1[7] = B_s_next[7];
#             *(uint4 *)&B_s[tx / 4 * 32 + ((tx % 4) ^ (tx / 8 % 4)) * 8] = *(const uint4 *)v_1;
#         }
#     }
#     // T.copy(C_l, C[by * 32, bx * 32])  gemm.py:21
#     #pragma unroll
#     for (int32_t s_7 = 0; s_7 < 8; s_7++) {
#         C[bx * 32 + by * 2048 + tx / 64 * 16 + tx % 16 + tx / 16 % 4 * 256 + s_7 / 4 * 1024 + s_7 % 4 * 64] = C_l[s_7];
#     }
# }
#
# <<<
