# 128 rows do not divide by three warpgroups.
# target: cuda -arch=sm_90a
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((128, 64), "float32")):
    with T.Kernel(1, threads=384):
        a = T.alloc_shared((128, 64), "float16")
        b = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((128, 64), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c)
        T.gemm(a, b, c)  # warning: slow
        T.copy(c, C)
