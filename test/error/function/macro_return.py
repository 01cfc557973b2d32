import tilelang
import tilelang.language as T


@T.macro
def pick(A, i):
    if A[i] > 0.0:
        return 1  # error: return-in-branch
    return 2


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        A[bx] = pick(A, bx)
