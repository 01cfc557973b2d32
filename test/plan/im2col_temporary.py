# The image of a convolution comes in bulk where it is a temporary of the kernel before.
# run: --target="cuda -arch=sm_90a"
# expect: im2col twice, x (line 22): tma, im2col boxes of the image, by the producer into pipeline 1
import tilelang
import tilelang.language as T


@tilelang.jit
def staged(N=2, H=12, W=10, C=32, F=64):
    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), "float16"), B: T.Tensor((9 * C, F), "float16"), Y: T.Tensor((N * H * W, F), "float32")):
        twice = T.alloc_global((N, H, W, C), "float16")
        with T.Kernel(N * H, threads=64) as b:
            for i, j in T.Parallel(W, C):
                twice[b // H, b % H, i, j] = X[b // H, b % H, i, j] * 2
        with T.Kernel(4, threads=128) as by:
            x = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, F), "float16")
            y = T.alloc_fragment((64, F), "float32")
            T.clear(y)
            for k in T.Pipelined(9 * C // 32, num_stages=3):
                T.im2col(twice, x, by, k, 3, 1, 1, 1)
                T.copy(B[k * 32, 0], b)
                T.gemm(x, b, y)
            T.copy(y, Y[by * 64, 0])

    return main
