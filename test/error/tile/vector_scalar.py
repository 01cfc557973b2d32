import tilelang.language as T


@T.prim_func
def f(a: T.float32x4, B: T.Tensor((8,), "float16")):  # error: unsupported-here
    with T.Kernel(1, threads=32) as bx:
        B[0] = 0
