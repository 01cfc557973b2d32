import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.Parallel(8):
            B[i] = T.__exp(A[i])  # error: argument-type
