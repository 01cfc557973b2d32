# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=256) as bx:
        t = T.get_thread_binding()
        f = T.alloc_fragment((64, 64), "float32")
        with T.ws(0):
            T.copy(A, f)
        with T.ws(1):
            T.copy(f, B)  # error: fragment-threads
