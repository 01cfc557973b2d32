import tilelang
import tilelang.language as T


@tilelang.jit
def scale(A):
    M = T.const("M")  # error: const-not-bare
    A: T.Tensor[[M * 2], T.float32]
    with T.Kernel(4, threads=32) as bx:
        A[bx] = 0.0
