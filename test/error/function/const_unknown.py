import tilelang
import tilelang.language as T


@tilelang.jit
def scale(A):
    M, N = T.const("M, N")  # error: const-unknown
    A: T.Tensor[[M, N], T.float32]
    with T.Kernel(M, threads=32) as bx:
        A[bx, 0] = 0.0
