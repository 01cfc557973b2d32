import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32)):
    with T.Kernel(1, threads=128) as bx:
        T.annotate_layout({A: T.Layout((64, 64), lambda i, j: (j, i))})
        flat = T.reshape(A, (4096,))  # error: layout-scope
        T.clear(flat)
