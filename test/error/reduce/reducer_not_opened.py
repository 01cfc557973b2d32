import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float32"), B: T.Tensor((1,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        acc = T.alloc_reducer((1,), "float32", op="sum")
        out = T.alloc_fragment((1,), "float32")
        for i in T.Parallel(8):
            T.reducer_update(acc[0], A[i])  # error: reducer-order
        T.finalize_reducer(acc, out)
        T.copy(out, B)
