import tilelang
import tilelang.language as T


def helper(A, bx):
    for i in range(4):
        if A[bx] > 0.0:
            break  # error: runtime-break


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        helper(A, bx)
