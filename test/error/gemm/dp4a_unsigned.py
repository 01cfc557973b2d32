import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((4,), "uint8"), B: T.Tensor((4,), "uint8"), C: T.Tensor((1,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        T.dp4a(A, B, C)  # error: dp4a-dtype
