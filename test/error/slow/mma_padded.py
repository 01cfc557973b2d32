# A tile with padding is none that a warpgroup's instruction reads.
# target: cuda -arch=sm_90a
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "bfloat16"), B: T.Tensor((64, 64), "bfloat16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((64, 64), "bfloat16", pad=8)
        b = T.alloc_shared((64, 64), "bfloat16", pad=8)
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c)
        T.gemm(a, b, c)  # warning: slow
        T.copy(c, C)
