# run: --target="cuda -arch=sm_90a"
# A choice by elements of registers, one whose indices divide, pairs of bfloat16, and elements that change in place: all of
# them wide.  A short loop that loads is unrolled.
import tilelang.language as T


@T.prim_func
def main(x: T.Tensor((16, 32), "float32"), y: T.Tensor((16, 32), "float32"), n: T.int32,
         z: T.Tensor((8, 64), "bfloat16"), w: T.Tensor((512,), "bfloat16")):
    with T.Kernel(1, threads=64):
        a = T.alloc_fragment((16, 32), "float32")
        T.copy(x, a)
        for i, j in T.Parallel(16, 32):
            y[i, j] = T.if_then_else(a[i, j] >= 0.5, a[i, j], 0.0) + T.if_then_else(i < n, x[i // 2, j] * 2.0, 1.0)
        for i in T.Parallel(512):
            w[i] = z[i // 64, i % 64] * w[i] + z[i // 64, i % 64]
        g = T.alloc_local((8,), "bfloat16")
        for k in T.serial(4):
            for v in T.vectorized(8):
                g[v] = z[k, v]
            for v in T.vectorized(8):
                g[v] = g[v] * w[k]
            for v in T.vectorized(8):
                z[k + 4, v] = g[v]
# >>> source
# extern "C" __global__ void __launch_bounds__(64, 8) main_kernel(
#     const float *__restrict__ x,
#     float *__restrict__ y,
#     uint16_t *__restrict__ z,
#     uint16_t *__restrict__ w,
#     const int32_t n)
# {
#     float a[8];
#     __align__(16) uint16_t g[8];
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(x, a)  wide_registers.py:12
#     #pragma unroll
#     for (int32_t s = 0; s < 2; s++) {
#         __align__(16) float v[4];
#         *(float4 *)v = *(const float4 *)&x[tx * 4 + s * 256];
#         a[s * 4] = v[0];
#         a[s * 4 + 1] = v[1];
#         a[s * 4 + 2] = v[2];
#         a[s * 4 + 3] = v[3];
#     }
#     // for i, j in T.Parallel(16, 32)  wide_registers.py:13
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 2; s_1++) {
#         __align__(16) float v_1[4];
#         *(float4 *)v_1 = (tx / 8 + s_1 * 8 < n) ? *(const float4 *)&x[tx / 16 * 32 + tx % 8 * 4 + s_1 * 128] : float4{};
#         __align__(16) float v_2[4];
#         v_2[0] = (a[s_1 * 4] >= 0.5f ? a[s_1 * 4] : 0.0f) + (tx / 8 + s_1 * 8 < n ? v_1[0] * 2.0f : 1.0f);
#         v_2[1] = (a[s_1 * 4 + 1] >= 0.5f ? a[s_1 * 4 + 1] : 0.0f) + (tx / 8 + s_1 * 8 < n ? v_1[1] * 2.0f : 1.0f);
#         v_2[2] = (a[s_1 * 4 + 2] >= 0.5f ? a[s_1 * 4 + 2] : 0.0f) + (tx / 8 + s_1 * 8 < n ? v_1[2] * 2.0f : 1.0f);
#         v_2[3] = (a[s_1 * 4 + 3] >= 0.5f ? a[s_1 * 4 + 3] : 0.0f) + (tx / 8 + s_1 * 8 < n ? v_1[3] * 2.0f : 1.0f);
#         *(float4 *)&y[tx * 4 + s_1 * 256] = *(const float4 *)v_2;
#     }
#     __align__(16) uint16_t v_3[8];
#     *(uint4 *)v_3 = *(const uint4 *)&z[tx * 8];
#     __align__(16) uint16_t v_4[8];
#     *(uint4 *)v_4 = *(const uint4 *)&w[tx * 8];
#     __align__(16) uint16_t v_5[8];
#     *(uint32_t *)&v_5[0] = tl_add_bf16x2(tl_mul_bf16x2(*(const uint32_t *)(&v_3[0]), *(const uint32_t *)(&v_4[0])), *(const uint32_t *)(&v_3[0]));
#     *(uint32_t *)&v_5[2] = tl_add_bf16x2(tl_mul_bf16x2(*(const uint32_t *)(&v_3[2]), *(const uint32_t *)(&v_4[2])), *(const uint32_t *)(&v_3[2]));
#     *(uint32_t *)&v_5[4] = tl_add_bf16x2(tl_mul_bf16x2(*(const uint32_t *)(&v_3[4]), *(const uint32_t *)(&v_4[4])), *(const uint32_t *)(&v_3[4]));
#     *(uint32_t *)&v_5[6] = tl_add_bf16x2(tl_mul_bf16x2(*(const uint32_t *)(&v_3[6]), *(const uint32_t *)(&v_4[6])), *(const uint32_t *)(&v_3[6]));
#     *(uint4 *)&w[tx * 8] = *(const uint4 *)v_5;
#     __syncthreads();
#     #pragma unroll
#     for (int32_t k = 0; k < 4; k++) {
#         __align__(16) uint16_t v_6[8];
#         *(uint4 *)v_6 = *(const uint4 *)&z[k * 64];
#         g[0] = v_6[0];
#         g[1] = v_6[1];
#         g[2] = v_6[2];
#         g[3] = v_6[3];
#         g[4] = v_6[4];
#         g[5] = v_6[5];
#         g[6] = v_6[6];
#         g[7] = v_6[7];
#         #pragma unroll
#         for (int32_t v_7 = 0; v_7 < 4; v_7++) {
#             *(uint32_t *)&g[v_7 * 2] = tl_mul_bf16x2(*(const uint32_t *)(&g[v_7 * 2]), tl_join_f16(w[k], w[k]));
#         }
#         __align__(16) uint16_t v_8[8];
#         v_8[0] = g[0];
#         v_8[1] = g[1];
#         v_8[2] = g[2];
#         v_8[3] = g[3];
#         v_8[4] = g[4];
#         v_8[5] = g[5];
#         v_8[6] = g[6];
#         v_8[7] = g[7];
#         *(uint4 *)&z[k * 64 + 256] = *(const uint4 *)v_8;
#     }
# }
#
# <<<
