import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        X[0 = 1.0  # error: syntax
