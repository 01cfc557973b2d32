# target: opencl
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((2, 64), "float32"), B: T.Tensor((2, 64), "float32")):
    with T.Kernel(1, threads=128):
        t = T.get_thread_binding()
        s = T.alloc_shared((2, 64), "float32")
        if t < 64:
            s[0, t] = A[0, t]
            T.sync_threads(1, 128)  # error: unsupported-here
            B[0, t] = s[1, 63 - t]
        else:
            s[1, t - 64] = A[1, t - 64]
            T.sync_threads(1, 128)
            B[1, t - 64] = s[0, 127 - t]
