import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        s = T.alloc_shared((65,), "int32")
        T.copy(A, s[0:64])
        T.cumsum(s[0:64], s[1:65])  # error: tile-overlap
        T.copy(s[1:65], A)
