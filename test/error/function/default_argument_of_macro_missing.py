import tilelang
import tilelang.language as T


@T.macro
def add(X, i, by=1.0):
    X[i] += by


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        add(X, by=2.0)  # error: argument-count
