import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((60, 64), T.float32)):
    with T.Kernel(1, threads=128) as bx:
        T.annotate_layout({A: T.Layout((60, 64), lambda i, j: (i // 8, j, i % 8))})  # error: layout-shape
        T.clear(A)
