import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((4,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        with T.While(True):  # error: infinite-loop
            A[0] = 1
