import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        T.let(bx, 3)  # error: argument-type
        A[bx] = 0
