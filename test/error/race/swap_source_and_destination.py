import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((64,), "float32")
        T.copy(s, X)  # warning: read-before-write
        T.copy(s, Y)
