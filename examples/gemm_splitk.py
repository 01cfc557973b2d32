"""Split-K: several blocks share one tile of C and add their parts to it atomically."""
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm_splitk(M=256, N=256, K=4096, split_k=4, block_M=128, block_N=96, block_K=128, dtype="float32"):
    per_split = T.ceildiv(K, split_k)

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), split_k, threads=128) as (bx, by, bz):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            B_s = T.alloc_shared((block_K, block_N), dtype)
            C_l = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_l)
            for ko in T.Pipelined(T.ceildiv(per_split, block_K), num_stages=2):
                for i, k in T.Parallel(block_M, block_K):
                    kk = bz * per_split + ko * block_K + k
                    A_s[i, k] = T.if_then_else(ko * block_K + k < per_split, A[by * block_M + i, kk], 0)
                T.copy(B[bz * per_split + ko * block_K, bx * block_N], B_s)
                T.gemm(A_s, B_s, C_l, precision="float32")
            T.atomic_add(C[by * block_M, bx * block_N], C_l)

    return main


# ---- python3 examples/gemm_splitk.py -------------------------------------------------------------

def verify(M=256, N=256, K=4096):
    from tilelang.script import check, normal

    A, B, C = normal(M, K), normal(K, N), normal(M, N)
    want = C + A.astype("float64") @ B.astype("float64")
    return check(gemm_splitk(M, N, K), [A, B, C.copy()], want)


def bench(M=256, N=256, K=4096):
    from tilelang.script import normal, timed

    A, B, C = normal(M, K), normal(K, N), normal(M, N)
    timed(gemm_splitk(M, N, K), [A, B, C], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
