"""A product with a space of tiles: tl tune examples/tuning/gemm.py M=4096 N=4096 K=4096

What cannot be is dropped by the conditions, or where the kernel does not fit the machine."""
import tilelang
import tilelang.language as T
from tilelang.tune import Space

space = Space(block_M=[64, 128, 256], block_N=[64, 128, 192, 256], block_K=[32, 64], stages=range(2, 5),
              where=["block_M * block_N <= 32768", "block_M <= max(M, 64) and block_N <= max(N, 64)"])


@tilelang.jit(out_idx=[-1])
def matmul(M, N, K, dtype="float16", block_M=128, block_N=128, block_K=64, stages=3):
    threads = 256 if block_M * block_N >= 128 * 128 else 128

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            B_s = T.alloc_shared((block_K, block_N), dtype)
            C_l = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=stages):
                T.copy(A[by * block_M, k * block_K], A_s)
                T.copy(B[k * block_K, bx * block_N], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * block_M, bx * block_N])

    return main
