import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float32"), C: T.Tensor((8,), "float8_e4m3fn")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.Parallel(8):
            C[i] = T.cast(A[i], "float8_e4m3fn", sat=False)  # error: unsupported-here
