import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_fragment((64, 32), "float32")
        R = T.alloc_fragment((64,), "float32")
        T.clear(S)
        T.reduce_bitand(S, R, dim=1)  # error: reduce-dtype
