import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        b = T.alloc_shared((64, 64), T.float32)
        c = T.alloc_fragment((64, 64), T.float32)
        T.gemm(A, b, c)  # error: gemm-scope
