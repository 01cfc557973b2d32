import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1, threads=32) as bx:
        S = T.alloc_shared((8, 8), "float32")
        T.annotate_layout({S: T.Layout([8, 8], lambda i, j: (i, j - 4))})  # error: layout-range
        T.copy(A, S)
