import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((1,), "float16")):
    with T.Kernel(1, threads=32) as bx:
        x = T.alloc_var("float16", init=1e5)  # error: init-range
        A[0] = x
