import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=128.0) as bx:  # error: not-an-int
        X[bx] = 1.0
