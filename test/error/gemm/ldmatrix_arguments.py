import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((32, 16), "float16")):
    with T.Kernel(1, threads=32):
        t = T.get_thread_binding()
        s = T.alloc_shared((32, 16), "float16")
        x = T.alloc_local((8,), "float16")
        T.copy(A, s)
        T.ptx_ldmatrix(False, 3, T.access_ptr(s[t, 0], "r"), T.access_ptr(x[0], "w"))  # error: argument-type
