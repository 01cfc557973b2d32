import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        x = T.atomic_load(A[0, 0], memory_order="release")  # error: memory-order
        A[0, 1] = x
