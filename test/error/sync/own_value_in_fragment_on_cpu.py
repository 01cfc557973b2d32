import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64) as bx:
        tx = T.get_thread_binding()
        f = T.alloc_fragment((2,), "int32")
        f[0] = A[tx]  # error: own-element
        T.sync_threads()
        B[tx] = f[0]
