import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(1, threads=n) as bx:  # error: not-constant
        X[bx] = 1.0
