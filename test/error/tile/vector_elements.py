import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64,), "float16")):
    with T.Kernel(1, threads=32):
        x = T.alloc_local((4,), "float16x2")
        y = T.alloc_local((4,), "float16x2")
        T.copy(x[0:2], y[0:2])  # error: lanes
