import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float32"), B: T.Tensor((1,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        acc = T.alloc_reducer((1,), "float32", op="sum")
        T.reducer_init(acc, 1)
        T.reducer_init(acc, T.float16(1))  # error: reducer-dtype
