import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(4, threads=128) as bx:
        if n > 0:
            y = X[0]
        X[1] = y  # error: out-of-scope
