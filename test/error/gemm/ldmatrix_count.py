import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((32, 16), "float16")):
    with T.Kernel(1, threads=32):
        T.ptx_ldmatrix(False, 4)  # error: argument-count
