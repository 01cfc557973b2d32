import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float16"), C: T.Tensor((8,), "float8_e4m3fn")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.Parallel(8):
            B[i] = T.cast(A[i], "float16", round="rn")
            C[i] = T.cast(A[i], "float8_e4m3fn", round="up")  # error: rounding-mode
