# given: M=64
import tilelang
import tilelang.language as T


@tilelang.jit
def double(A):
    M = T.const("M")
    A: T.Tensor[[M], T.float32]
    B = T.empty((M,), T.float32)  # error: empty-not-returned
    with T.Kernel(1, threads=32) as bx:
        B[0] = A[0] * 2
