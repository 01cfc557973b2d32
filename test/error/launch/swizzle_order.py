import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        T.use_swizzle(8, order="diagonal")  # error: swizzle-order
        A[0, 0] = 0
