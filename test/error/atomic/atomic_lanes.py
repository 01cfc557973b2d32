import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=1):
        T.atomic_addx4(A[0], T.float32x2(1, 2))  # error: lanes
