import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float32)):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64,), T.float32)
        for i in T.Pipelined(64, order=[0, 1, 2], stage=[0, 1, 1]):  # error: pipeline-order
            row = i + 0
            T.copy(A[row, 0], a)
            T.copy(a, B[row, 0])
