import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), s: T.float32):
    with T.Kernel(4, threads=128) as bx:
        X[s] = 1.0  # error: index-type
