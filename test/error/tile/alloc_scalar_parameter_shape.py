import tilelang
import tilelang.language as T


@T.prim_func
def main(n: T.int32):
    with T.Kernel(4, threads=128) as bx:
        S = T.alloc_shared((n,), "float32")  # error: tile-shape
        T.clear(S)
