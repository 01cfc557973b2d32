# run: --target="cuda -arch=sm_90a"
# An array of a thread that a name of the loop indexes stays in registers: the loop is unrolled, though threads
# synchronise in it.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128, 8), "float32"), B: T.Tensor((128, 8), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_local((8,), "float32")
        s = T.alloc_shared((128, 4), "float32")
        t = T.get_thread_binding()
        for i in T.vectorized(8):
            x[i] = A[t, i]
        for i in T.serial(2):
            base = i * 4
            for j in T.vectorized(4):
                s[t, j] = x[base + j]
            for j in T.vectorized(4):
                x[base + j] = s[127 - t, j]
        for i in T.vectorized(8):
            B[t, i] = x[i]
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) main_kernel(
#     const float *__restrict__ A,
#     float *__restrict__ B)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     float x[8];
#     float *const s = (float *)(tl_shared + 0);
#     const int32_t tx = threadIdx.x;
#
#     #pragma unroll
#     for (int32_t i = 0; i < 2; i++) {
#         __align__(16) float v[4];
#         *(float4 *)v = *(const float4 *)&A[tx * 8 + i * 4];
#         x[i * 4] = v[0];
#         x[i * 4 + 1] = v[1];
#         x[i * 4 + 2] = v[2];
#         x[i * 4 + 3] = v[3];
#     }
#     #pragma unroll
#     for (int32_t i_1 = 0; i_1 < 2; i_1++) {
#         const int32_t base = (int32_t)((uint32_t)i_1 * 4u);
#         __syncthreads();
#         __align__(16) float v_1[4];
#         v_1[0] = x[base];
#         v_1[1] = x[base + 1];
#         v_1[2] = x[base + 2];
#         v_1[3] = x[base + 3];
#         *(float4 *)&s[tx * 4] = *(const float4 *)v_1;
#         __syncthreads();
#         __align__(16) float v_2[4];
#         *(float4 *)v_2 = *(const float4 *)&s[508 - tx * 4];
#         x[base] = v_2[0];
#         x[base + 1] = v_2[1];
#         x[base + 2] = v_2[2];
#         x[base + 3] = v_2[3];
#     }
#     #pragma unroll
#     for (int32_t i_2 = 0; i_2 < 2; i_2++) {
#         __align__(16) float v_3[4];
#         v_3[0] = x[i_2 * 4];
#         v_3[1] = x[i_2 * 4 + 1];
#         v_3[2] = x[i_2 * 4 + 2];
#         v_3[3] = x[i_2 * 4 + 3];
#         *(float4 *)&B[tx * 8 + i_2 * 4] = *(const float4 *)v_3;
#     }
# }
#
# <<<
