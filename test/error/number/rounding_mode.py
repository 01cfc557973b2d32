import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float16")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.Parallel(8):
            A[i] = T.ieee_add(A[i], A[i], "rz")  # error: rounding-mode
