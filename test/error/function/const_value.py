import tilelang
import tilelang.language as T


@tilelang.jit
def scale(A):
    M = T.const("M")  # error: const-value
    A: T.Tensor[[M], T.float32]
    with T.Kernel(4, threads=32) as bx:
        A[bx] = 0.0
# given: M=-3
