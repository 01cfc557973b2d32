# run: --target="cuda -arch=sm_90a"
# Divisions as the GPU's compiler makes them when it may be fast (nvrtc.sh: it knows the flag).
import tilelang
import tilelang.language as T


@tilelang.jit(pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def divide(N=256):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                Z[i] = X[i] / Y[i]

    return main
# >>> source
# extern "C" __global__ void __launch_bounds__(128, 4) main_kernel(
#     const float *__restrict__ X,
#     const float *__restrict__ Y,
#     float *__restrict__ Z)
# {
#     const int32_t tx = threadIdx.x;
#
#     __align__(16) float v[2];
#     *(float2 *)v = *(const float2 *)&X[tx * 2];
#     __align__(16) float v_1[2];
#     *(float2 *)v_1 = *(const float2 *)&Y[tx * 2];
#     __align__(16) float v_2[2];
#     v_2[0] = v[0] / v_1[0];
#     v_2[1] = v[1] / v_1[1];
#     *(float2 *)&Z[tx * 2] = *(const float2 *)v_2;
# }
#
# <<<
