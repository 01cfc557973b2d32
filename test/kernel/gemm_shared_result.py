# verify: :adds
# verify: :adds M=40 N=24 K=50 dtype=float32
# verify: :adds M=33 N=48 K=16 dtype=bfloat16 clear=True
"""A product whose result is a tile in shared memory: matrix instructions add to it in registers, where a target has them for that."""

import tilelang
import tilelang.language as T


@tilelang.jit
def adds(M=32, N=32, K=64, dtype="float16", clear=False):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 16), T.ceildiv(M, 32), threads=64) as (bx, by):
            A_s = T.alloc_shared((32, 16), dtype)
            B_s = T.alloc_shared((16, 16), dtype)
            C_s = T.alloc_shared((32, 16), "float32")
            T.fill(C_s, 1.0)
            for k in T.serial(T.ceildiv(K, 16)):
                T.copy(A[by * 32, k * 16], A_s)
                T.copy(B[k * 16, bx * 16], B_s)
                T.gemm(A_s, B_s, C_s, clear_accum=clear)
            T.copy(C_s, C[by * 32, bx * 16])

    return main
