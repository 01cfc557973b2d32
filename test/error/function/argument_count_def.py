import tilelang
import tilelang.language as T


def add(a, b):
    return a + b


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        A[bx] = add(1.0)  # error: argument-count
