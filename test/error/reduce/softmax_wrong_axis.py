import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 32), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_fragment((64, 32), "float32")
        m = T.alloc_fragment((64,), "float32")
        T.copy(A, x)
        T.reduce_max(x, m, dim=0)  # error: reduce-shape
        T.copy(x, A)
