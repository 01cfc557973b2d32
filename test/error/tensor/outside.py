import tilelang as tl
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(4):
            A[i] = tl.exp(1.0)  # error: tensor-outside
