# T.mma is done by single warps where T.gemm would be one of a warpgroup.
# run: --target="cuda -arch=sm_90a"
# expect: gemm a, b, c (line 20): mma.sync
# expect: gemm a, b, d (line 21): wgmma
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"),
         C: T.Tensor((64, 64), "float32"), D: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64, 64), "float16")
        b = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        d = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.mma(a, b, c, clear_accum=True)
        T.gemm(a, b, d, clear_accum=True)
        T.copy(c, C)
        T.copy(d, D)
