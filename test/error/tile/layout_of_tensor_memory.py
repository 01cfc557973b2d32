import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((128, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        c = T.alloc_tmem([128, 64], "float32")
        T.annotate_layout({c: T.Layout([128, 64], lambda i, j: (j, i))})  # error: layout-kind
        T.copy(c, A)
