# run: --target="hip -mcpu=gfx942"
import tilelang
import tilelang.language as T


@tilelang.jit
def pr(N=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_fragment((N,), "float32")
            T.copy(X, x)
            T.print(x)
            T.copy(x, Y)

    return main
# >>> source
# extern "C" __global__ void __launch_bounds__(64) main_kernel(
#     const float *__restrict__ X,
#     float *__restrict__ Y)
# {
#     extern __shared__ __align__(1024) unsigned char tl_shared[];
#     float x[1];
#     float *const x_1 = (float *)(tl_shared + 0);
#     const int32_t tx = threadIdx.x;
#
#     // T.copy(X, x)  print.py:12
#     x[0] = X[tx];
#     // T.print(x)  print.py:13
#     x_1[tx] = x[0];
#     __syncthreads();
#     if (tx < 1) {
#         for (int32_t i = 0; i < 64; i++) {
#             printf("msg='%s' BlockIdx=(%lld, %lld, %lld): buffer=x, index=%lld, dtype=float32 value=%g\012", "", 0LL, 0LL, 0LL, (int64_t)i, (double)x_1[i]);
#         }
#     }
#     // T.copy(x, Y)  print.py:14
#     Y[tx] = x[0];
# }
#
# <<<
