import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 16), "int32")):
    with T.Kernel(1, threads=32):
        s = T.alloc_shared((16, 16), "int32")
        T.copy(A, s)
        T.reduce_sum(s, s[0, :], dim=0)  # error: tile-overlap
        T.copy(s, A)
