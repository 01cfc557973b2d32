# Rows distributed by hand that are no matrices side by side go element by element.
# target: cuda -arch=sm_80
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 16), "float16"), B: T.Tensor((32, 8), "float16")):
    with T.Kernel(1, threads=32):
        s = T.alloc_shared((32, 16), "float16")
        x = T.alloc_local((8,), "float16")
        t = T.get_thread_binding()
        T.copy(A, s)
        T.ptx_ldmatrix(False, 4, T.access_ptr(s[t * 5 % 32, 0], "r"), T.access_ptr(x[0], "w"))  # warning: slow
        for i in T.serial(8):
            B[t, i] = x[i]
