# target: cuda -arch=sm_80
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8, 32), T.float32), B: T.Tensor((8, 32), T.float32)):
    with T.Kernel(2, threads=64) as bx:
        x = T.alloc_fragment((64,), T.float32)
        T.copy(A[bx * 2, 0], x)
        for i in T.Parallel(bx * 8):  # error: parallel-extent
            x[i + 1] = 0.0
        T.copy(x, B[bx * 2, 0])
