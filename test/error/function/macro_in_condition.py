import tilelang
import tilelang.language as T


@T.macro
def positive(x):
    return x > 0.0


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        if bx > 1 and positive(A[bx]):  # error: macro-in-condition
            A[bx] = 0.0
