"""The eager style: shapes come from the tensors, the output is made inside.

    tl run examples/gemm_eager.py M=300 N=200 K=100
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm_eager(A, B, block_M=64, block_N=96, block_K=128):
    M, N, K = T.const("M, N, K")
    A: T.Tensor[[M, K], T.float32]
    B: T.Tensor[[K, N], T.float32]
    C = T.empty((M, N), T.float32)

    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
        A_s = T.alloc_shared((block_M, block_K), T.float32)
        B_s = T.alloc_shared((block_K, block_N), T.float32)
        C_l = T.alloc_fragment((block_M, block_N), T.float32)
        T.clear(C_l)
        for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
            T.copy(A[by * block_M, k * block_K], A_s)
            T.copy(B[k * block_K, bx * block_N], B_s)
            T.gemm(A_s, B_s, C_l)
        T.copy(C_l, C[by * block_M, bx * block_N])
    return C
