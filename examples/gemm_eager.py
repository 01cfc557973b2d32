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
            T.gemm(A_s, B_s, C_l, precision="float32")
        T.copy(C_l, C[by * block_M, bx * block_N])
    return C


# ---- python3 examples/gemm_eager.py --------------------------------------------------------------

def verify(M=512, N=512, K=512):
    from tilelang.script import check, normal

    A, B = normal(M, K), normal(K, N)
    return check(gemm_eager, [A, B], A.astype("float64") @ B.astype("float64"))


def bench(M=1024, N=1024, K=1024):
    from tilelang.script import normal, timed

    A, B = normal(M, K), normal(K, N)
    timed(gemm_eager, [A, B], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
