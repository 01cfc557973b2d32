import tilelang
import tilelang.language as T


@T.macro
def scale(X, factor):
    X[0] = X[0] * factor


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        scale(X, facter=2.0)  # error: argument-name
