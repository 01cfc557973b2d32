# run: --target="hip -mcpu=gfx950"
# Products with scales: four groups of lanes hold the scales of four blocks along k.
import tilelang.language as T


@T.prim_func
def main(
    A: T.Tensor((16, 128), "float8_e4m3fn"),
    B: T.Tensor((16, 128), "float4_e2m1fn"),
    SA: T.Tensor((16, 1), "uint32"),
    SB: T.Tensor((16, 1), "uint32"),
    C: T.Tensor((16, 16), "float32"),
):
    with T.Kernel(1, threads=64):
        a = T.alloc_shared((16, 128), "float8_e4m3fn")
        b = T.alloc_shared((16, 128), "float4_e2m1fn")
        sa = T.alloc_shared((16, 1), "uint32")
        sb = T.alloc_shared((16, 1), "uint32")
        c = T.alloc_fragment((16, 16), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.copy(SA, sa)
        T.copy(SB, sb)
        T.clear(c)
        T.gemm_blockscaled(a, b, c, sa, sb, transpose_B=True, k_start=0, sf_a_granularity_k=32, sf_b_granularity_k=32)
        T.copy(c, C)
# >>> source
# TL_DEVICE void tl_mfma_scale_16x16x128_e4m3_e2m1(float *c, const uint32_t *a, const uint32_t *b, uint32_t scale_a, uint32_t scale_b)
# {
#     typedef float acc __attribute__((ext_vector_type(4), aligned(4)));
#     typedef int words __attribute__((ext_vector_type(8)));
#     tl_mfma_scale(f32_16x16x128_f8f6f4, 0, 4, tl_words_8(a), tl_words_4(b));
# }
#
# extern "C" __global__ void __launch_bounds__(64, 10) main_kernel(
#     const uint8_t *__restrict__ A,
#     const uint8_t *__restrict__ B,
#     const uint32_t *__restrict__ SA,
#     const uint32_t *__restrict__ SB,
#     float *__restrict__ C)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint8_t *const a = (uint8_t *)(tl_shared + 0);
#     uint8_t *const b = (uint8_t *)(tl_shared + 2048);
#     uint32_t *const sa = (uint32_t *)(tl_shared + 3072);
#     uint32_t *const sb = (uint32_t *)(tl_shared + 3136);
#     float c[4];
#     __align__(16) uint8_t a_reg[32];
#     __align__(16) uint8_t b_reg[16];
#     uint32_t a_scale[1];
#     uint32_t b_scale[1];
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(A, a)  scaled.py:20
#     #pragma unroll
#     for (int32_t s = 0; s < 2; s++) {
#         *(uint4 *)&a[tx / 8 * 128 + ((tx / 8) ^ (tx % 8)) * 16 + s * 1024] = *(const uint4 *)&A[tx * 16 + s * 1024];
#     }
#     // T.copy(B, b)  scaled.py:21
#     *(uint4 *)&b[tx / 4 * 64 + ((tx % 4) ^ (tx / 8 % 4)) * 16] = *(const uint4 *)&B[tx * 16];
#     // T.copy(SA, sa)  scaled.py:22
#     if (tx < 16) {
#         sa[tx] = SA[tx];
#     }
#     // T.copy(SB, sb)  scaled.py:23
#     if (tx < 16) {
#         sb[tx] = SB[tx];
#     }
#     // T.clear(c)  scaled.py:24
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 4; s_1++) {
#         c[s_1] = 0.0f;
#     }
#     // T.gemm_blockscaled(a, b, c, sa, sb, transpose_B=True, k_start=0, sf_a_gra...  scaled.py:25
#     __syncthreads();
#     #pragma unroll
#     for (int32_t kk = 0; kk < 1; kk++) {
#         tl_store_nibble(b_reg, 0, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32));
#         tl_store_nibble(b_reg, 1, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 1));
#         tl_store_nibble(b_reg, 2, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 2));
#         tl_store_nibble(b_reg, 3, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 3));
#         tl_store_nibble(b_reg, 4, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 4));
#         tl_store_nibble(b_reg, 5, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 5));
#         tl_store_nibble(b_reg, 6, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 6));
#         tl_store_nibble(b_reg, 7, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 7));
#         tl_store_nibble(b_reg, 8, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 8));
#         tl_store_nibble(b_reg, 9, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 9));
#         tl_store_nibble(b_reg, 10, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 10));
#         tl_store_nibble(b_reg, 11, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 11));
#         tl_store_nibble(b_reg, 12, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 12));
#         tl_store_nibble(b_reg, 13, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 13));
#         tl_store_nibble(b_reg, 14, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 14));
#         tl_store_nibble(b_reg, 15, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 15));
#         tl_store_nibble(b_reg, 16, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 16));
#         tl_store_nibble(b_reg, 17, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 17));
#         tl_store_nibble(b_reg, 18, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 18));
#         tl_store_nibble(b_reg, 19, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 19));
#         tl_store_nibble(b_reg, 20, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 20));
#         tl_store_nibble(b_reg, 21, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 21));
#         tl_store_nibble(b_reg, 22, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 22));
#         tl_store_nibble(b_reg, 23, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 23));
#         tl_store_nibble(b_reg, 24, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 24));
#         tl_store_nibble(b_reg, 25, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 25));
#         tl_store_nibble(b_reg, 26, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 26));
#         tl_store_nibble(b_reg, 27, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 27));
#         tl_store_nibble(b_reg, 28, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 28));
#         tl_store_nibble(b_reg, 29, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 29));
#         tl_store_nibble(b_reg, 30, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 30));
#         tl_store_nibble(b_reg, 31, tl_load_uint4(b, tx % 16 * 128 + ((tx / 16) ^ (tx / 2 % 4)) * 32 + 31));
#         b_scale[0] = sb[tx % 16] >> (uint32_t)(int32_t)((uint32_t)(tx / 16) * 8u);
#         a_reg[0] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16];
#         a_reg[1] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 1];
#         a_reg[2] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 2];
#         a_reg[3] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 3];
#         a_reg[4] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 4];
#         a_reg[5] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 5];
#         a_reg[6] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 6];
#         a_reg[7] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 7];
#         a_reg[8] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 8];
#         a_reg[9] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 9];
#         a_reg[10] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 10];
#         a_reg[11] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 11];
#         a_reg[12] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 12];
#         a_reg[13] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 13];
#         a_reg[14] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 14];
#         a_reg[15] = a[tx % 16 * 128 + ((tx / 16) ^ (tx % 8)) * 16 + 15];
#         a_reg[16] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16];
#         a_reg[17] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 1];
#         a_reg[18] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 2];
#         a_reg[19] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 3];
#         a_reg[20] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 4];
#         a_reg[21] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 5];
#         a_reg[22] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 6];
#         a_reg[23] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 7];
#         a_reg[24] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 8];
#         a_reg[25] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 9];
#         a_reg[26] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 10];
#         a_reg[27] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 11];
#         a_reg[28] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 12];
#         a_reg[29] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 13];
#         a_reg[30] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 14];
#         a_reg[31] = a[tx % 16 * 128 + ((tx / 16 + 4) ^ (tx % 8)) * 16 + 15];
#         a_scale[0] = sa[tx % 16] >> (uint32_t)(int32_t)((uint32_t)(tx / 16) * 8u);
#         tl_mfma_scale_16x16x128_e4m3_e2m1(&c[0], (uint32_t *)&a_reg[0], (uint32_t *)&b_reg[0], a_scale[0], b_scale[0]);
#     }
#     // T.copy(c, C)  scaled.py:26
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 4; s_2++) {
#         C[tx / 16 * 64 + tx % 16 + s_2 * 16] = c[s_2];
#     }
# }
#
# <<<
