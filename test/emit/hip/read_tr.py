# run: --target="hip -mcpu=gfx950"
# A B that is stored K x N: rows and columns change places on the way from shared memory.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 32), "float16"), B: T.Tensor((32, 16), "float16"), C: T.Tensor((16, 16), "float32")):
    with T.Kernel(1, threads=64):
        a = T.alloc_shared((16, 32), "float16")
        b = T.alloc_shared((32, 16), "float16")
        c = T.alloc_fragment((16, 16), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c)
        T.gemm(a, b, c)
        T.copy(c, C)
# >>> source
# TL_DEVICE void tl_mfma_f32_16x16x32_f16(float *c, const uint32_t *a, const uint32_t *b)
# {
#     typedef float acc __attribute__((ext_vector_type(4), aligned(4)));
#     typedef _Float16 arg __attribute__((ext_vector_type(8), aligned(4)));
#     tl_mfma(f32_16x16x32_f16);
# }
#
# extern "C" __global__ void __launch_bounds__(64, 11) main_kernel(
#     const uint16_t *__restrict__ A,
#     const uint16_t *__restrict__ B,
#     float *__restrict__ C)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     uint16_t *const a = (uint16_t *)(tl_shared + 0);
#     uint16_t *const b = (uint16_t *)(tl_shared + 1024);
#     float c[4];
#     __align__(16) uint16_t a_reg[8];
#     uint32_t b_reg[4];
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(A, a)  read_tr.py:12
#     *(uint4 *)&a[tx / 4 * 32 + ((tx % 4) ^ (tx / 8 % 4)) * 8] = *(const uint4 *)&A[tx * 8];
#     // T.copy(B, b)  read_tr.py:13
#     *(uint4 *)&b[tx / 2 * 16 + ((tx % 2) ^ (tx / 8 % 2)) * 8] = *(const uint4 *)&B[tx * 8];
#     // T.clear(c)  read_tr.py:14
#     #pragma unroll
#     for (int32_t s = 0; s < 4; s++) {
#         c[s] = 0.0f;
#     }
#     // T.gemm(a, b, c)  read_tr.py:15
#     __syncthreads();
#     #pragma unroll
#     for (int32_t kk = 0; kk < 1; kk++) {
#         tl_read_tr_b16(b_reg, &b[tx / 16 * 128 + tx % 16 * 4]);
#         tl_read_tr_b16(b_reg + 2, &b[tx / 16 * 128 + tx % 2 * 4 + tx / 4 % 4 * 16 + ((tx / 2 % 2) ^ 1) * 8 + 64]);
#         a_reg[0] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8];
#         a_reg[1] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8 + 1];
#         a_reg[2] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8 + 2];
#         a_reg[3] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8 + 3];
#         a_reg[4] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8 + 4];
#         a_reg[5] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8 + 5];
#         a_reg[6] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8 + 6];
#         a_reg[7] = a[tx % 16 * 32 + ((tx / 16) ^ (tx / 2 % 4)) * 8 + 7];
#         tl_mfma_f32_16x16x32_f16(&c[0], (uint32_t *)&a_reg[0], b_reg);
#     }
#     // T.copy(c, C)  read_tr.py:16
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 4; s_1++) {
#         C[tx / 16 * 64 + tx % 16 + s_1 * 16] = c[s_1];
#     }
# }
#
# <<<
