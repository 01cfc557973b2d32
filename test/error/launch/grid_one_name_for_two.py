import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, 2, threads=32) as bx:
        X[bx] = 1.0  # error: index-count
