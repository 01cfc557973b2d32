# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32"), C: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64):
        t = T.get_thread_binding()
        s = T.alloc_shared((64,), "int32")
        if A[t] > 2:
            T.thread_return()
        T.copy(B, s)  # error: tile-threads
        C[t] = s[63 - t]
