import tilelang
import tilelang.language as T


N = T.dynamic(64)


@T.prim_func
def main(X: T.Tensor((N,), "float32")):  # error: opaque-value
    with T.Kernel(N, threads=32) as bx:
        X[bx] = 1.0
