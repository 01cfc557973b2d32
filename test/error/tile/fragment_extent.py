import tilelang.language as T

n = T.dynamic("n")


@T.prim_func
def f(A: T.Tensor((n,), "float32"), B: T.Tensor((128,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_fragment((128,), "float32")
        for i in T.Parallel(128):
            x[i] = B[i]
        for i in T.Parallel(n):
            x[i % 64] = 7  # error: fragment-extent
        T.copy(x, B)
