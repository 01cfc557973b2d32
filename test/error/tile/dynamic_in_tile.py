import tilelang
import tilelang.language as T


N = T.dynamic("N")


@T.prim_func
def main(X: T.Tensor((N,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        S = T.alloc_shared((N,), "float32")  # error: tile-shape
        T.copy(X, S)
