import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32)):
    with T.Kernel(1, threads=64) as bx:
        for i, j in T.Parallel(1 << 20, 1 << 20):  # error: bad-extent
            if i < 64 and j < 64:
                A[i, j] = 0.0
