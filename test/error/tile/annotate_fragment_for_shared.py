import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_shared((64, 64), "float32")
        T.annotate_layout({S: T.Fragment((64, 64), forward_fn=lambda i, j: (i, j))})  # error: layout-kind
        T.clear(S)
