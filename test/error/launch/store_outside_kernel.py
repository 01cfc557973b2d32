import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    X[0] = 1.0  # error: outside-kernel
    with T.Kernel(1, threads=32) as bx:
        X[1] = 2.0
