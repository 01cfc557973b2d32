# Products that add up in one tile, with nothing or with something between them.
# verify: :scores
# verify: :scores threads=256
# verify: :scores E=16 threads=256
# verify: :between
# verify: :cleared
import tilelang
import tilelang.language as T


# Scores of two pairs of tiles, as in attention with a part for positions.
@tilelang.jit(out_idx=[-1])
def scores(M=64, N=64, D=64, E=32, S=192, threads=128):
    @T.prim_func
    def main(Q: T.Tensor((M, D), "float16"), Q2: T.Tensor((M, E), "float16"), K: T.Tensor((S, D), "float16"), K2: T.Tensor((S, E), "float16"), O: T.Tensor((M, S), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            q = T.alloc_shared((M, D), "float16")
            q2 = T.alloc_shared((M, E), "float16")
            k = T.alloc_shared((N, D), "float16")
            k2 = T.alloc_shared((N, E), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(Q, q)
            T.copy(Q2, q2)
            for i in T.Pipelined(S // N, num_stages=2):
                T.copy(K[i * N, 0], k)
                T.copy(K2[i * N, 0], k2)
                T.clear(c)
                T.gemm(q, k, c, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                T.gemm(q2, k2, c, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                for a, b in T.Parallel(M, N):
                    c[a, b] = c[a, b] * 0.5
                T.copy(c, O[0, i * N])

    return main


# What is between them sees the first alone.
@tilelang.jit(out_idx=[-1])
def between(M=64, N=64, D=64, threads=128):
    @T.prim_func
    def main(Q: T.Tensor((M, D), "float16"), K: T.Tensor((N, D), "float16"), O: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            q = T.alloc_shared((M, D), "float16")
            k = T.alloc_shared((N, D), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(Q, q)
            T.copy(K, k)
            T.clear(c)
            T.gemm(q, k, c, transpose_B=True)
            for a, b in T.Parallel(M, N):
                c[a, b] = c[a, b] * c[a, b]
            T.gemm(q, k, c, transpose_B=True)
            T.copy(c, O)

    return main


# The second starts anew.
@tilelang.jit(out_idx=[-1])
def cleared(M=64, N=64, D=64, threads=128):
    @T.prim_func
    def main(Q: T.Tensor((M, D), "float16"), K: T.Tensor((N, D), "float16"), O: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            q = T.alloc_shared((M, D), "float16")
            k = T.alloc_shared((N, D), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(Q, q)
            T.copy(K, k)
            T.clear(c)
            T.gemm(q, k, c, transpose_B=True)
            T.gemm(q, k, c, transpose_B=True, clear_accum=True)
            T.gemm(k, q, c, transpose_B=True)
            T.copy(c, O)

    return main
