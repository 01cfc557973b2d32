# target: cuda -arch=sm_80
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 32), "int32"), B: T.Tensor((32, 32), "int32"), C: T.Tensor((32, 32), "int32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((32, 32), "int32")
        b = T.alloc_shared((32, 32), "int32")
        c = T.alloc_fragment((32, 32), "int32")
        T.copy(A, a)
        T.copy(B, b)
        T.mma(a, b, c, clear_accum=True)  # error: gemm-mma
        T.copy(c, C)
