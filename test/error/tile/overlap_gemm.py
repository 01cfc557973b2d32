import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 32), "float32")):
    with T.Kernel(1, threads=128):
        s = T.alloc_shared((32, 32), "float32")
        T.copy(A, s)
        T.gemm(s, s, s, clear_accum=True)  # error: tile-overlap
        T.copy(s, A)
