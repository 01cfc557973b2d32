import tilelang
import tilelang.language as T


N = T.dynamic("N")
sizes = [1] * N


@T.prim_func
def main(X: T.Tensor((N,), "float32")):
    with T.Kernel(len(sizes), threads=32) as bx:  # error: opaque-value
        X[bx] = 1.0
