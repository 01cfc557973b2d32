import tilelang
import tilelang.language as T


@T.macro
def double(x):
    y = x * 2


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        X[0] = double(X[0])  # error: not-a-number
