"""B = A through a shared tile.

    tl verify examples/copy.py M=100 N=33
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def copy(M=1024, N=1024, block_M=64, block_N=128, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            tile = T.alloc_shared((block_M, block_N), dtype)
            T.copy(A[by * block_M, bx * block_N], tile)
            T.copy(tile, B[by * block_M, bx * block_N])

    return main
