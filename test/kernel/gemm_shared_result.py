# verify: :adds
# verify: :adds M=40 N=24 K=50 dtype=float32
# verify: :adds M=33 N=48 K=16 dtype=bfloat16 clear=True
# verify: :begins
# verify: :begins dtype=float16 trans_A=False M=32 N=32 K=48
# verify: :begins dtype=float32 trans_A=False
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


# The first step of k overwrites a tile that holds nothing yet.
@tilelang.jit
def begins(M=40, N=24, K=56, dtype="bfloat16", trans_A=True):
    @T.prim_func
    def main(A: T.Tensor((K, M) if trans_A else (M, K), dtype), B: T.Tensor((K, N), dtype), Bias: T.Tensor((N,), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 16), T.ceildiv(M, 32), threads=64) as (bx, by):
            A_s = T.alloc_shared((16, 32) if trans_A else (32, 16), dtype)
            B_s = T.alloc_shared((16, 16), dtype)
            C_s = T.alloc_shared((32, 16), "float32")
            for k in T.Pipelined(T.ceildiv(K, 16), num_stages=2):
                if trans_A:
                    T.copy(A[k * 16, by * 32], A_s)
                else:
                    T.copy(A[by * 32, k * 16], A_s)
                T.copy(B[k * 16, bx * 16], B_s)
                T.gemm(A_s, B_s, C_s, transpose_A=trans_A, clear_accum=(k == 0))
            for i, j in T.Parallel(32, 16):
                if by * 32 + i < M and bx * 16 + j < N:
                    C[by * 32 + i, bx * 16 + j] = C_s[i, j] + Bias[bx * 16 + j]

    return main
