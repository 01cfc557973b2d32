# run: --target="cuda -arch=sm_90a"
"""A choice that each lane makes for itself between numbers that are loaded anyway does not keep a loop from touching many elements at a time, nor does
T.reinterpret."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "uint32"), C: T.Tensor((1024,), "float32"), D: T.Tensor((1024,), "float32"),
         E: T.Tensor((1024,), "float32")):
    with T.Kernel(2, threads=128) as bx:
        for i in T.Parallel(512):
            C[bx * 512 + i] = T.if_then_else(A[bx * 512 + i] > 0, A[bx * 512 + i], A[bx * 512 + i] * 0.5)
        for i in T.Parallel(512):
            x = A[bx * 512 + i]
            D[bx * 512 + i] = T.if_then_else(i % 3 == 0, x, 1.0)
        for i in T.Parallel(512):
            E[bx * 512 + i] = T.reinterpret(B[bx * 512 + i], "float32")
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) main_kernel(
#     const float *__restrict__ A,
#     const uint32_t *__restrict__ B,
#     float *__restrict__ C,
#     float *__restrict__ D,
#     float *__restrict__ E)
# {
#     const int32_t bx = blockIdx.x;
#     const int32_t tx = threadIdx.x;
#
#     __align__(16) float v[4];
#     *(float4 *)v = *(const float4 *)&A[bx * 512 + tx * 4];
#     __align__(16) float v_1[4];
#     v_1[0] = (v[0] > 0.0f ? v[0] : v[0] * 0.5f);
#     v_1[1] = (v[1] > 0.0f ? v[1] : v[1] * 0.5f);
#     v_1[2] = (v[2] > 0.0f ? v[2] : v[2] * 0.5f);
#     v_1[3] = (v[3] > 0.0f ? v[3] : v[3] * 0.5f);
#     *(float4 *)&C[bx * 512 + tx * 4] = *(const float4 *)v_1;
#     __align__(16) float v_2[4];
#     *(float4 *)v_2 = *(const float4 *)&A[bx * 512 + tx * 4];
#     __align__(16) float v_3[4];
#     v_3[0] = (tx % 3 == 0 ? v_2[0] : 1.0f);
#     v_3[1] = ((tx + 1) % 3 == 0 ? v_2[1] : 1.0f);
#     v_3[2] = ((tx + 2) % 3 == 0 ? v_2[2] : 1.0f);
#     v_3[3] = ((tx + 3) % 3 == 0 ? v_2[3] : 1.0f);
#     *(float4 *)&D[bx * 512 + tx * 4] = *(const float4 *)v_3;
#     __align__(16) uint32_t v_4[4];
#     *(uint4 *)v_4 = *(const uint4 *)&B[bx * 512 + tx * 4];
#     __align__(16) float v_5[4];
#     v_5[0] = tl_bits_to_f32((uint32_t)v_4[0]);
#     v_5[1] = tl_bits_to_f32((uint32_t)v_4[1]);
#     v_5[2] = tl_bits_to_f32((uint32_t)v_4[2]);
#     v_5[3] = tl_bits_to_f32((uint32_t)v_4[3]);
#     *(float4 *)&E[bx * 512 + tx * 4] = *(const float4 *)v_5;
# }
#
# <<<
