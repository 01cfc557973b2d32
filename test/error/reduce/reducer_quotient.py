import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((3, 64), T.float32), B: T.Tensor((64,), T.float32)):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_reducer((64,), T.float32, op="sum", replication="all")
        T.fill(x, 0.0)
        for k in T.serial(3):
            for i in T.Parallel(64):
                x[i] //= A[k, i]  # error: reducer-access
        T.finalize_reducer(x)
        T.copy(x, B)
