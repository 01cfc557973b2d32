# target: cuda -arch=sm_80
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64,), T.float32), B: T.Tensor((64,), T.float32)):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64,), T.float32)
        T.copy(A, s)
        for i in T.Parallel(64):  # error: sync-in-parallel
            T.sync_threads()
            B[i] = s[63 - i]
