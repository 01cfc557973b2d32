import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(2, threads=32) as bx:
        for i in T.Parallel(32):
            x = A[bx * 32 + i]
            B[bx * 32 + i] = x
            T.sync_grid()  # error: sync-in-parallel
            A[bx * 32 + i] = B[63 - bx * 32 - i] + x
