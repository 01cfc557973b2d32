# Products that add up in one tile, with nothing or with something between them.
# verify: :scores
# verify: :scores threads=256
# verify: :scores E=16 threads=256
# verify: :between
# verify: :cleared
# verify: :sums
# verify: :sums M=100 N=200
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


# A sum beside the result of the product: more registers than 128 threads have.
@tilelang.jit(out_idx=[-1])
def sums(M=128, N=128, K=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 128), T.ceildiv(M, 128), threads=128) as (bx, by):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            total = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            T.clear(total)
            for k in T.Pipelined(K // 64, num_stages=2):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[bx * 128, k * 64], b)
                T.gemm(a, b, c, transpose_B=True)
                for i, j in T.Parallel(128, 128):
                    total[i, j] += c[i, j] * (k + 1)
                T.clear(c)
            T.copy(total, C[by * 128, bx * 128])

    return main
