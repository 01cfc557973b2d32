import tilelang
import tilelang.language as T


@T.macro
def scale(X, i):
    X[i, i] = 2.0  # error: index-count


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        scale(X, 3)
