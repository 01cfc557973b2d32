import tilelang
import tilelang.language as T


@T.macro
def inner(X):
    with T.Kernel(2, threads=32) as by:  # error: nested-kernel
        X[by] = 1.0


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        inner(X)
