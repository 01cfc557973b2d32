import tilelang
import tilelang.language as T


@tilelang.jit
def main_kernel(n=64, left=1):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((n,), "float32")
            T.async_copy(A, a)
            T.ptx_wait_group(left)
            for i in T.Parallel(n):
                B[i] = a[n - 1 - i]

    return main
