import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        S = T.alloc_shared((64, 64), T.float32, scope="shared.fast")  # error: scope-name
        T.clear(S)
