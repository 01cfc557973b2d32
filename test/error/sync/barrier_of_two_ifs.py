# target: metal
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=128):
        t = T.get_thread_binding()
        s = T.alloc_shared((64,), "float32")
        if t < 64:
            T.sync_threads(1, 128)  # error: unsupported-here
            B[t] = s[63 - t]
        if t >= 64:
            s[t - 64] = A[t - 64]
            T.sync_threads(1, 128)
