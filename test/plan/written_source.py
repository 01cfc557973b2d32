# The tensor is written between the copy and the GEMM: the tile must be a copy.
# expect: copy A, a: plain
# expect: gemm a, s, c
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 32), "float32"), B: T.Tensor((32, 32), "float32"), C: T.Tensor((32, 32), "float32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((32, 32), "float32")
        s = T.alloc_shared((32, 32), "float32")
        c = T.alloc_fragment((32, 32), "float32")
        T.clear(c)
        T.copy(A, a)
        T.copy(B, s)
        for i, j in T.Parallel(32, 32):
            A[i, j] = 0
        T.gemm(a, s, c)
        T.copy(c, C)
