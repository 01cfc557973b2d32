import tilelang
import tilelang.language as T


N = T.dynamic("N")


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(N, threads=32) as bx:  # error: dynamic-unknown
        X[bx] = 1.0
