# T.im2col tiles with stride, dilation and padding, ragged at every edge.
# verify: N=1 H=5 W=5 C=4
# verify: N=2 H=9 W=11 C=5 pad=1
# verify: N=1 H=12 W=7 C=8 stride=2 pad=1
# verify: N=1 H=13 W=13 C=3 dilation=2 pad=2
# verify: N=3 H=4 W=4 C=1 kernel=1
# verify: N=1 H=8 W=8 C=16 kernel=5 pad=2 bc=32
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
