import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32)):
    T.clear(A)  # error: outside-kernel
    with T.Kernel(1, threads=128) as bx:
        A[bx, 0] = 0
