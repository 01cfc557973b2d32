"""A matrix product whose shapes are known only when it is called: compiled once, used for all.

    tl run examples/gemm_dynamic.py M=129 N=65 K=300
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def gemm_dynamic(dtype="float32", block_M=None, block_N=None, block_K=None):
    bm, bn, bk, stages, threads = tilelang.recommend_gemm(2048, 2048, 2048, dtype)[:5]  # suit most shapes
    if block_M or block_N or block_K:
        bm, bn, bk, stages, threads = block_M or bm, block_N or bn, block_K or bk, 2, 128
    M = T.dynamic("M")
    N = T.dynamic("N")
    K = T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            A_s = T.alloc_shared((bm, bk), dtype)
            B_s = T.alloc_shared((bk, bn), dtype)
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], A_s)
                T.copy(B[k * bk, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * bm, bx * bn])

    return main


# ---- python3 examples/gemm_dynamic.py ------------------------------------------------------------

def verify(M=512, N=512, K=512, dtype=None):
    from tilelang.script import best_dtype, check, normal

    dtype = dtype or best_dtype()
    A, B = normal(M, K, dtype=dtype), normal(K, N, dtype=dtype)
    return check(gemm_dynamic(dtype), [A, B], A.astype("float64") @ B.astype("float64"))


def bench(M=1024, N=1024, K=1024, dtype=None):
    from tilelang.script import best_dtype, normal, timed

    dtype = dtype or best_dtype()
    A, B = normal(M, K, dtype=dtype), normal(K, N, dtype=dtype)
    timed(gemm_dynamic(dtype), [A, B], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
