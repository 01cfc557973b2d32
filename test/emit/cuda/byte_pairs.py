# run: --target="cuda -arch=sm_90a"
import tilelang
import tilelang.language as T


@tilelang.jit
def byte_pairs(N=512):
    @T.prim_func
    def main(X: T.Tensor((N,), "float8_e4m3fn"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((N,), "float8_e4m3fn")
            T.copy(X, x)
            for i in T.Parallel(N):
                x[i] = T.cast(T.cast(x[i], "float32") * 3, "float8_e4m3fn")
            for i in T.Parallel(N):
                Y[i] = T.cast(x[i], "float32")

    return main
# >>> source
# extern "C" __global__ void __launch_bounds__(64, 8) main_kernel(
#     const uint8_t *__restrict__ X,
#     float *__restrict__ Y)
# {
#     __align__(16) uint8_t x[8];
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(X, x)  byte_pairs.py:12
#     #pragma unroll
#     for (int32_t s = 0; s < 2; s++) {
#         __align__(16) uint8_t v[4];
#         *(uint32_t *)v = *(const uint32_t *)&X[tx * 4 + s * 256];
#         x[s * 4] = v[0];
#         x[s * 4 + 1] = v[1];
#         x[s * 4 + 2] = v[2];
#         x[s * 4 + 3] = v[3];
#     }
#     // for i in T.Parallel(N)  byte_pairs.py:13
#     #pragma unroll
#     for (int32_t s_1 = 0; s_1 < 4; s_1++) {
#         *(uint16_t *)&x[s_1 * 2] = tl_pack_e4m3fn(tl_e4m3fn_at(x, s_1 * 2) * 3.0f, tl_e4m3fn_at(x, s_1 * 2 + 1) * 3.0f);
#     }
#     // for i in T.Parallel(N)  byte_pairs.py:15
#     #pragma unroll
#     for (int32_t s_2 = 0; s_2 < 2; s_2++) {
#         __align__(16) float v_1[4];
#         v_1[0] = tl_e4m3fn_at(x, s_2 * 4);
#         v_1[1] = tl_e4m3fn_at(x, s_2 * 4 + 1);
#         v_1[2] = tl_e4m3fn_at(x, s_2 * 4 + 2);
#         v_1[3] = tl_e4m3fn_at(x, s_2 * 4 + 3);
#         *(float4 *)&Y[tx * 4 + s_2 * 256] = *(const float4 *)v_1;
#     }
# }
#
# <<<
