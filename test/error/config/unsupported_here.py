import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        T.tma_gather4(A, B, 0, [0, 1, 2, 3], barrier=None)  # error: unsupported-here
