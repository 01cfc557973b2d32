# T.im2col tiles with stride, dilation and padding, ragged at every edge.
# verify: :im2col N=1 H=5 W=5 C=4
# verify: :im2col N=2 H=9 W=11 C=5 pad=1
# verify: :im2col N=1 H=12 W=7 C=8 stride=2 pad=1
# verify: :im2col N=1 H=13 W=13 C=3 dilation=2 pad=2
# verify: :im2col N=3 H=4 W=4 C=1 kernel=1
# verify: :im2col N=1 H=8 W=8 C=16 kernel=5 pad=2 bc=32
# verify: :im2col N=2 H=9 W=11 C=16 pad=1 bc=16
# verify: :im2col N=2 H=9 W=11 C=64 pad=1 stride=2 bm=40 bc=32
# verify: :im2col N=1 H=13 W=9 C=32 dilation=2 pad=2 bm=64 bc=32
# verify: :im2col N=3 H=4 W=4 C=16 kernel=1 bc=8
# verify: :product
# verify: :product N=2 H=9 W=7 C=64 F=40 stride=2
# verify: :product dilation=2 pad=2 bc=64 C=64
# verify: :staged
import tilelang
import tilelang.language as T


@tilelang.jit
def im2col(N=1, H=5, W=5, C=4, kernel=3, stride=1, dilation=1, pad=0, bm=16, bc=8):
    OH = (H + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    OW = (W + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    K = kernel * kernel * C

    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), "float32"), Y: T.Tensor((N * OH * OW, K), "float32")):
        with T.Kernel(T.ceildiv(K, bc), T.ceildiv(N * OH * OW, bm), threads=64) as (bx, by):
            s = T.alloc_shared((bm, bc), "float32")
            T.im2col(X, s, by, bx, kernel, stride, dilation, pad)
            T.copy(s, Y[by * bm, bx * bc])

    return main


@tilelang.jit(out_idx=[-1])
def product(N=1, H=12, W=10, C=32, F=64, kernel=3, stride=1, dilation=1, pad=1, bm=64, bn=64, bc=32):
    """A convolution: tiles of the image in a pipeline."""
    OH = (H + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    OW = (W + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    K = kernel * kernel * C

    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), "float16"), B: T.Tensor((K, F), "float16"), Y: T.Tensor((N * OH * OW, F), "float32")):
        with T.Kernel(T.ceildiv(F, bn), T.ceildiv(N * OH * OW, bm), threads=128) as (bx, by):
            x = T.alloc_shared((bm, bc), "float16")
            b = T.alloc_shared((bc, bn), "float16")
            y = T.alloc_fragment((bm, bn), "float32")
            T.clear(y)
            for k in T.Pipelined(T.ceildiv(K, bc), num_stages=3):
                T.im2col(X, x, by, k, kernel, stride, dilation, pad)
                T.copy(B[k * bc, bx * bn], b)
                T.gemm(x, b, y)
            T.copy(y, Y[by * bm, bx * bn])

    return main


@tilelang.jit(out_idx=[-1])
def staged(N=2, H=12, W=10, C=32, F=64, bm=64, bc=32):
    """The image is a temporary of the kernel before."""
    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), "float16"), B: T.Tensor((9 * C, F), "float16"), Y: T.Tensor((N * H * W, F), "float32")):
        twice = T.alloc_global((N, H, W, C), "float16")
        with T.Kernel(N * H, threads=64) as b:
            for i, j in T.Parallel(W, C):
                twice[b // H, b % H, i, j] = X[b // H, b % H, i, j] * 2
        with T.Kernel(1, T.ceildiv(N * H * W, bm), threads=128) as (bx, by):
            x = T.alloc_shared((bm, bc), "float16")
            b = T.alloc_shared((bc, F), "float16")
            y = T.alloc_fragment((bm, F), "float32")
            T.clear(y)
            for k in T.Pipelined(9 * C // bc, num_stages=3):
                T.im2col(twice, x, by, k, 3, 1, 1, 1)
                T.copy(B[k * bc, bx * F], b)
                T.gemm(x, b, y)
            T.copy(y, Y[by * bm, bx * F])

    return main
