import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32)):
    with T.Kernel(1, threads=128) as bx:
        S = T.alloc_shared((64, 64), T.float32)
        T.annotate_layout({S: T.Layout((64, 32), lambda i, j: (i, j))})  # error: layout-shape
        T.clear(S)
