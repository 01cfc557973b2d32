# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64) as bx:
        tx = T.get_thread_binding()
        f = T.alloc_fragment((64,), "int32")
        T.copy(A, f)
        if A[tx] > 0:
            f[5] = 9  # error: own-element
        T.copy(f, B)
