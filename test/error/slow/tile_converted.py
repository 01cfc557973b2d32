# Two GEMMs want the accumulator of a third in other threads.
# target: cuda -arch=sm_80
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), X: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((64, 64), "float16")
        x = T.alloc_fragment((64, 64), "float32")
        c = T.alloc_fragment((64, 64), "float32")
        d = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a)
        T.clear(c)
        T.clear(d)
        T.gemm(a, a, c, policy=T.GemmWarpPolicy.FullRow)
        T.gemm(a, a, d, policy=T.GemmWarpPolicy.FullCol)
        for i, j in T.Parallel(64, 64):  # warning: slow
            x[i, j] = c[i, j] + d[i, j]
        T.copy(x, C)
