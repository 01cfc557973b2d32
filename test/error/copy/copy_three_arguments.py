import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_shared((64,), "float32")
        Y = T.alloc_shared((64,), "float32")
        T.copy(X, S, Y, 3, 4, 5, 6, 7, 8, 9)  # error: argument-count
