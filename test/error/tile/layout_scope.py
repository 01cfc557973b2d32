import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), T.float16)
        T.annotate_layout({A: T.Layout((64, 64), lambda i, j: (j // 8, i, j % 8))})
        T.transpose(A, s)  # error: layout-scope
