import tilelang
import tilelang.language as T


@T.macro
def again(A, n):
    again(A, n + 1)  # error: too-deep


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        again(A, 0)
