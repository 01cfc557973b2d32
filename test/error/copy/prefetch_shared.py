import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1, threads=32):
        s = T.alloc_shared((8, 8), "float32")
        T.prefetch(s)  # error: argument-type
