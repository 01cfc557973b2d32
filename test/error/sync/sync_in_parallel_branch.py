import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64,), "float32")):
    with T.Kernel(2, threads=32) as bx:
        for i in T.Parallel(32):
            if i < 16:
                A[bx * 32 + i] = 0
                T.sync_grid()  # error: sync-in-parallel
