import tilelang
import tilelang.language as T


@tilelang.jit
def scale(A):
    A: T.Tensor[[64], T.float32]
    A: T.Tensor[[32], T.float32]  # error: declared-twice
    with T.Kernel(4, threads=32) as bx:
        A[bx] = 0.0
