# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 16), "int32"), B: T.Tensor((16, 16), "int32")):
    with T.Kernel(1, threads=64) as bx:
        tx = T.get_thread_binding()
        f = T.alloc_fragment((16, 16), "int32")
        T.copy(A, f)
        f[3, 5] = A[0, 0]
        f[tx % 16, tx // 16] = 1  # error: own-element
        T.copy(f, B)
