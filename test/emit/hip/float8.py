# run: --target="hip -mcpu=gfx942"
import tilelang
import tilelang.language as T
import torch


def is_radeon():
    if torch.cuda.is_available():
        return "Radeon" in torch.cuda.get_device_name().strip()
    raise RuntimeError("no GPU")


@tilelang.jit
def float8(M=32, N=32, K=64):
    dtype = tilelang.determine_fp8_type()

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            A_s = T.alloc_shared((M, K), dtype)
            B_s = T.alloc_shared((N, K), dtype)
            C_l = T.alloc_fragment((M, N), "float32")
            T.clear(C_l)
            T.copy(A, A_s)
            T.copy(B, B_s)
            T.gemm(A_s, B_s, C_l, transpose_B=True, k_pack=1 if is_radeon() else 2)
            T.copy(C_l, C)

    return main
# >>> source
# TL_DEVICE void tl_mfma_f32_16x16x32_fp8_fp8(float *c, const uint32_t *a, const uint32_t *b)
# {
#     typedef float acc __attribute__((ext_vector_type(4), aligned(4)));
#     typedef long arg __attribute__((aligned(4)));
#     tl_mfma(f32_16x16x32_fp8_fp8);
# }
#
# extern "C" __global__ void __launch_bounds__(64, 9) main_kernel(
#     const uint8_t *__restrict__ A,
#     const uint8_t *__restrict__ B,
#     float *__restrict__ C)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint8_t *const A_s = (uint8_t *)(tl_shared + 0);
#     uint8_t *const B_s = (uint8_t *)(tl_shared + 2048);
#     float C_l[16];
#     __align__(16) uint8_t a_reg[16];
#     __align__(16) uint8_t b_reg[32];
#     const int32_t tx = threadIdx.x;
#
#     // T.clear(C_l)  float8.py:23
#     #pragma unroll
#     for (int32_t s = 0; s < 16; s++) {
#         C_l[s] = 0.0f;
#     }
#     // T.copy(A, A_s)  float8.py:24
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 2; s_1++) {
#         *(uint4 *)&A_s[tx / 4 * 64 + ((tx % 4) ^ (tx / 8 % 4)) * 16 + s_1 * 1024] = *(const uint4 *)&A[tx * 16 + s_1 * 1024];
#     }
#     // T.copy(B, B_s)  float8.py:25
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 2; s_2++) {
#         *(uint4 *)&B_s[tx / 4 * 64 + ((tx % 4) ^ (tx / 8 % 4)) * 16 + s_2 * 1024] = *(const uint4 *)&B[tx * 16 + s_2 * 1024];
#     }
#     // T.gemm(A_s, B_s, C_l, transpose_B=True, k_pack=1 if is_radeon() else 2)  float8.py:26
#     __syncthreads();
#     #pragma unroll
#     for (int32_t kk = 0; kk < 1; kk++) {
#         b_reg[0] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16];
#         b_reg[1] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1];
#         b_reg[2] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 2];
#         b_reg[3] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 3];
#         b_reg[4] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 4];
#         b_reg[5] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 5];
#         b_reg[6] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 6];
#         b_reg[7] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 7];
#         b_reg[8] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 8];
#         b_reg[9] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 9];
#         b_reg[10] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 10];
#         b_reg[11] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 11];
#         b_reg[12] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 12];
#         b_reg[13] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 13];
#         b_reg[14] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 14];
#         b_reg[15] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 15];
#         b_reg[16] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1024];
#         b_reg[17] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1025];
#         b_reg[18] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1026];
#         b_reg[19] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1027];
#         b_reg[20] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1028];
#         b_reg[21] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1029];
#         b_reg[22] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1030];
#         b_reg[23] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1031];
#         b_reg[24] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1032];
#         b_reg[25] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1033];
#         b_reg[26] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1034];
#         b_reg[27] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1035];
#         b_reg[28] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1036];
#         b_reg[29] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1037];
#         b_reg[30] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1038];
#         b_reg[31] = B_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1039];
#         a_reg[0] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16];
#         a_reg[1] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1];
#         a_reg[2] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 2];
#         a_reg[3] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 3];
#         a_reg[4] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 4];
#         a_reg[5] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 5];
#         a_reg[6] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 6];
#         a_reg[7] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 7];
#         a_reg[8] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 8];
#         a_reg[9] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 9];
#         a_reg[10] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 10];
#         a_reg[11] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 11];
#         a_reg[12] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 12];
#         a_reg[13] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 13];
#         a_reg[14] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 14];
#         a_reg[15] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 15];
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[0], (uint32_t *)&a_reg[0], (uint32_t *)&b_reg[0]);
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[4], (uint32_t *)&a_reg[0], (uint32_t *)&b_reg[16]);
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[0], (uint32_t *)&a_reg[8], (uint32_t *)&b_reg[8]);
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[4], (uint32_t *)&a_reg[8], (uint32_t *)&b_reg[24]);
#         a_reg[0] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1024];
#         a_reg[1] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1025];
#         a_reg[2] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1026];
#         a_reg[3] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1027];
#         a_reg[4] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1028];
#         a_reg[5] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1029];
#         a_reg[6] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1030];
#         a_reg[7] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1031];
#         a_reg[8] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1032];
#         a_reg[9] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1033];
#         a_reg[10] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1034];
#         a_reg[11] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1035];
#         a_reg[12] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1036];
#         a_reg[13] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1037];
#         a_reg[14] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1038];
#         a_reg[15] = A_s[tx % 16 * 64 + ((tx / 16) ^ (tx / 2 % 4)) * 16 + 1039];
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[8], (uint32_t *)&a_reg[0], (uint32_t *)&b_reg[0]);
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[12], (uint32_t *)&a_reg[0], (uint32_t *)&b_reg[16]);
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[8], (uint32_t *)&a_reg[8], (uint32_t *)&b_reg[8]);
#         tl_mfma_f32_16x16x32_fp8_fp8(&C_l[12], (uint32_t *)&a_reg[8], (uint32_t *)&b_reg[24]);
#     }
#     // T.copy(C_l, C)  float8.py:27
#     #pragma unroll
#     for (int32_t s_3 = 0; s_3 < 16; s_3++) {
#         C[tx / 16 * 128 + tx % 16 + s_3 / 8 * 512 + s_3 % 4 * 32 + s_3 / 4 % 2 * 16] = C_l[s_3];
#     }
# }
#
# <<<
