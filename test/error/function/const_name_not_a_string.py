# given: M=64
import tilelang
import tilelang.language as T


@tilelang.jit
def double(A):
    M = T.const(64)  # error: argument-type
    A: T.Tensor[[M], T.float32]
    C = T.empty((M,), T.float32)
    with T.Kernel(1, threads=32) as bx:
        C[0] = A[0]
    return C
