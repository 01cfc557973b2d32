import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32, threads=64) as bx:  # error: argument-name
        X[0] = 1.0
