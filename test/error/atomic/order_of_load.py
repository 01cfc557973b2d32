import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        B[0] = T.atomic_load(A[0], memory_order="release")  # error: memory-order
