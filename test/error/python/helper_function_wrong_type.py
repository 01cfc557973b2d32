import tilelang
import tilelang.language as T


def half(n):
    return n / 2


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.serial(half(64)):  # error: argument-type
            X[i] = 1.0
