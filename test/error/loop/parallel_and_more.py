# target: cuda -arch=sm_80
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.Parallel(8):
            A[i] = 0
            for j in T.Parallel(8):  # error: parallel-nesting
                A[i * 8 + j] = 1
