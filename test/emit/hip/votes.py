# run: --target="hip -mcpu=gfx90a"
import tilelang
import tilelang.language as T


@tilelang.jit
def votes(N=256):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32"), Z: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            x = T.alloc_fragment((N,), "float32")
            s = T.alloc_fragment((1,), "float32")
            T.copy(X, x)
            T.reduce_sum(x, s, dim=0)
            for i in T.Parallel(N):
                Y[i] = T.exp(x[i] - s[0])
            T.copy(s, Z)

    return main
# >>> source
# extern "C" __global__ void __launch_bounds__(256) main_kernel(
#     const float *__restrict__ X,
#     float *__restrict__ Y,
#     float *__restrict__ Z)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     float x[1];
#     float s[1];
#     float acc[1];
#     float *const s_parts = (float *)(tl_shared + 0);
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(X, x)  votes.py:13
#     x[0] = X[tx];
#     // T.reduce_sum(x, s, dim=0)  votes.py:14
#     acc[0] = 0.0f;
#     acc[0] = acc[0] + x[0];
#     const float other = __shfl_xor_sync(0xffffffffu, acc[0], 1);
#     acc[0] = acc[0] + other;
#     const float other_1 = __shfl_xor_sync(0xffffffffu, acc[0], 2);
#     acc[0] = acc[0] + other_1;
#     const float other_2 = __shfl_xor_sync(0xffffffffu, acc[0], 4);
#     acc[0] = acc[0] + other_2;
#     const float other_3 = __shfl_xor_sync(0xffffffffu, acc[0], 8);
#     acc[0] = acc[0] + other_3;
#     const float other_4 = __shfl_xor_sync(0xffffffffu, acc[0], 16);
#     acc[0] = acc[0] + other_4;
#     const float other_5 = __shfl_xor_sync(0xffffffffu, acc[0], 32);
#     acc[0] = acc[0] + other_5;
#     if (tx % 64 == 0) {
#         s_parts[tx / 64] = acc[0];
#     }
#     __syncthreads();
#     s[0] = s_parts[0] + s_parts[1] + (s_parts[2] + s_parts[3]);
#     Y[tx] = expf(x[0] - s[0]);
#     // T.copy(s, Z)  votes.py:17
#     if (tx == 0) Z[0] = s[0];
# }
#
# <<<
