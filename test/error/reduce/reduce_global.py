import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(4, threads=128) as bx:
        R = T.alloc_fragment((64,), "float32")
        T.reduce_sum(A, R, dim=1)  # error: reduce-scope
