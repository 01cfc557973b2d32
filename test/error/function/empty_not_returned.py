import tilelang
import tilelang.language as T


@tilelang.jit
def f(A: T.Tensor((64,), "float32")):
    B = T.empty((64,), "float32")  # error: empty-not-returned
    with T.Kernel(4, threads=32) as bx:
        B[bx] = A[bx]
