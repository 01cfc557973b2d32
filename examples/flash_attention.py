"""Flash attention forward: full, causal, grouped heads, sliding window.

    tl verify examples/flash_attention.py S=200 causal=True
    tl run examples/flash_attention.py H=8 groups=4 window=64 causal=True

Tiles that are not given come from tilelang.recommend_attention.
Q, K, V are (batch, heads, sequence, dim).  A row of the window sees `window` positions before it.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def flash_attention(B=1, H=8, S=512, D=64, groups=1, causal=False, window=0, dtype="float32",
                    block_M=None, block_N=None, num_stages=None, threads=None):
    scale = (1.0 / D) ** 0.5 * 1.44269504  # log2(e)
    heads_kv = H // groups
    bm, bn, stages, nthread = tilelang.recommend_attention(S, D, dtype, causal)
    if block_M or block_N:  # tiles of one's own: stages and threads that suit most
        stages, nthread = 2, 128
    block_M, block_N = block_M or bm, block_N or bn
    num_stages, threads = num_stages or stages, threads or nthread

    def edge(k, row0):
        """Does block k of K hold positions that some row of Q does not see?"""
        e = (k + 1) * block_N > S
        if causal:
            e = T.Or(e, (k + 1) * block_N > row0 + 1)
        if window > 0:
            e = T.Or(e, k * block_N < row0 + block_M - window)
        return e

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, heads_kv, S, D), dtype),
        V: T.Tensor((B, heads_kv, S, D), dtype),
        O: T.Tensor((B, H, S, D), dtype),
    ):
        with T.Kernel(T.ceildiv(S, block_M), H, B, threads=threads) as (bx, by, bz):
            Q_s = T.alloc_shared((block_M, D), dtype)
            K_s = T.alloc_shared((block_N, D), dtype)
            V_s = T.alloc_shared((block_N, D), dtype)
            scores = T.alloc_fragment((block_M, block_N), "float32")
            P = T.alloc_fragment((block_M, block_N), dtype)
            acc = T.alloc_fragment((block_M, D), "float32")
            row_max = T.alloc_fragment((block_M,), "float32")
            row_max_before = T.alloc_fragment((block_M,), "float32")
            rescale = T.alloc_fragment((block_M,), "float32")
            row_sum = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")

            # Of causal blocks the long ones go first, so that none is left alone at the end.
            row0 = (T.ceildiv(S, block_M) - 1 - bx if causal else bx) * block_M
            T.copy(Q[bz, by, row0 : row0 + block_M, :], Q_s)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(row_max, -T.infinity("float32"))

            first = T.max(row0 - window, 0) // block_N if window > 0 else 0
            last = T.ceildiv(T.min(row0 + block_M, S), block_N) if causal else T.ceildiv(S, block_N)
            for k in T.Pipelined(first, last, num_stages=num_stages):
                T.copy(K[bz, by // groups, k * block_N : (k + 1) * block_N, :], K_s)
                T.clear(scores)
                T.gemm(Q_s, K_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                if edge(k, row0):
                    for i, j in T.Parallel(block_M, block_N):
                        q = row0 + i
                        kv = k * block_N + j
                        seen = kv < S
                        if causal:
                            seen = seen and kv <= q
                        if window > 0:
                            seen = seen and kv >= q - window
                        scores[i, j] = T.if_then_else(seen, scores[i, j], -1e30)
                T.copy(row_max, row_max_before)
                T.reduce_max(scores, row_max, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    rescale[i] = T.exp2(row_max_before[i] * scale - row_max[i] * scale)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2(scores[i, j] * scale - row_max[i] * scale)
                T.reduce_sum(scores, row_sum, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * rescale[i] + row_sum[i]
                T.copy(scores, P)
                for i, j in T.Parallel(block_M, D):
                    acc[i, j] = acc[i, j] * rescale[i]
                T.copy(V[bz, by // groups, k * block_N : (k + 1) * block_N, :], V_s)
                T.gemm(P, V_s, acc, policy=T.GemmWarpPolicy.FullRow)
            for i in T.Parallel(block_M):
                total[i] = 1 / total[i]
            for i, j in T.Parallel(block_M, D):
                acc[i, j] = acc[i, j] * total[i]
            T.copy(acc, O[bz, by, row0 : row0 + block_M, :])

    return main


# ---- python3 examples/flash_attention.py ---------------------------------------------------------

def verify(B=1, H=8, S=512, D=64, causal=False, dtype=None):
    import numpy as np
    from tilelang.script import best_dtype, check, normal

    dtype = dtype or best_dtype()
    Q, K, V = (normal(B, H, S, D, dtype=dtype) for _ in range(3))
    scores = Q.astype("float64") @ K.swapaxes(2, 3).astype("float64") / D**0.5
    scores = np.where(np.tri(S, dtype=bool), scores, -np.inf) if causal else scores
    p = np.exp(scores - scores.max(-1, keepdims=True))
    want = p / p.sum(-1, keepdims=True) @ V
    return check(flash_attention(B, H, S, D, causal=causal, dtype=dtype), [Q, K, V], want)


def bench(B=1, H=8, S=1024, D=64, causal=False, dtype=None):
    from tilelang.script import best_dtype, normal, timed

    dtype = dtype or best_dtype()
    Q, K, V = (normal(B, H, S, D, dtype=dtype) for _ in range(3))
    flops = 4 * B * H * S * S * D / (2 if causal else 1)
    timed(flash_attention(B, H, S, D, causal=causal, dtype=dtype), [Q, K, V], flops)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
