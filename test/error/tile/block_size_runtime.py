import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), block: T.int32):
    with T.Kernel(T.ceildiv(64, block), threads=32) as bx:
        S = T.alloc_shared((block,), "float32")  # error: tile-shape
        T.copy(X[bx * block], S)
        T.copy(S, X[bx * block])
