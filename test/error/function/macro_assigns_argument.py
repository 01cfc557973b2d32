import tilelang
import tilelang.language as T


@T.macro
def bump(x):
    x = x + 1.0
    x[0] = 2.0  # error: not-assignable


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        bump(X[0])
