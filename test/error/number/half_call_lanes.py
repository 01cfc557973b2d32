import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8,), "float16")):
    with T.Kernel(1, threads=32):
        A[0] = T.call_extern("float16", "__hadd2", A[0], A[1])  # error: argument-type
