import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), T.float32)):
    with T.Kernel(1, threads=32) as bx:
        A[0] = 18446744073709551616  # error: int-too-big
