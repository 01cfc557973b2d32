# Copies that stand side by side fill one stage; the MMAs that read them are apart.
# verify: :attention
# verify: :attention S=90 N=70
# verify: :attention stages=1
# verify: :attention threads=256 N=140
import tilelang
import tilelang.language as T


@tilelang.jit
def attention(N=64, S=128, D=32, stages=2, threads=128):
    M = threads // 2

    @T.prim_func
    def main(Q: T.Tensor((N, D), "float16"), K: T.Tensor((S, D), "float16"), V: T.Tensor((S, D), "float16"), O: T.Tensor((N, D), "float32")):
        with T.Kernel(T.ceildiv(N, M), threads=threads) as bx:
            q = T.alloc_shared((M, D), "float16")
            k = T.alloc_shared((64, D), "float16")
            v = T.alloc_shared((64, D), "float16")
            s = T.alloc_fragment((M, 64), "float32")
            p = T.alloc_fragment((M, 64), "float16")
            o = T.alloc_fragment((M, D), "float32")
            most, before, total, part = (T.alloc_fragment((M,), "float32") for _ in range(4))
            T.copy(Q[bx * M, 0], q)
            T.clear(o)
            T.clear(total)
            T.fill(most, -1e30)
            for n in T.Pipelined(T.ceildiv(S, 64), num_stages=stages):
                T.copy(K[n * 64, 0], k)
                T.copy(V[n * 64, 0], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(M, 64):
                    s[i, j] = T.if_then_else(n * 64 + j < S, s[i, j] * 0.2, -1e30)
                T.copy(most, before)
                T.reduce_max(s, most, dim=1, clear=False)
                for i, j in T.Parallel(M, 64):
                    s[i, j] = T.exp(s[i, j] - most[i])
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(M):
                    total[i] = total[i] * T.exp(before[i] - most[i]) + part[i]
                for i, j in T.Parallel(M, D):
                    o[i, j] *= T.exp(before[i] - most[i])
                T.copy(s, p)
                T.gemm(p, v, o)
            for i, j in T.Parallel(M, D):
                o[i, j] /= total[i]
            T.copy(o, O[bx * M, 0])

    return main
