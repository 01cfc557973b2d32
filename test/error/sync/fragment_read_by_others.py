# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16,), "int32"), B: T.Tensor((256,), "int32")):
    with T.Kernel(1, threads=256) as bx:
        tx = T.get_thread_binding()
        f = T.alloc_fragment((16,), "int32")
        with T.ws(1):
            T.copy(A, f)
        B[tx] = f[2]  # error: fragment-threads
