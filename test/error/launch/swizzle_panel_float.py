import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        T.use_swizzle(panel_size=1.5)  # error: not-an-int
        X[bx] = 1.0
