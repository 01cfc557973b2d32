"""Flash attention backward: dQ, dK and dV from Q, K, V, O, dO and the logarithms of the row sums.

    tl verify examples/flash_attention_backward.py S=200 causal=True

Three launches: sums of O * dO by rows; a block for each tile of K and V, which goes through the tiles of Q
and keeps dK and dV in registers; dQ, to which all of them added, from float32 to its type.

ahead=True (Hopper): T.wgmma_gemm begins a product that T.wait_wgmma(n) waits for, but for the last n; what
comes of one is worked on while the next is under way.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[6, 7, 8])
def flash_attention_backward(B=1, H=4, S=256, D=64, causal=False, dtype="float32", block_M=None, block_N=128,
                             num_stages=2, threads=256, ahead=False):
    factor = (1.0 / D) ** 0.5
    scale = factor * 1.44269504  # log2(e)
    block_M = block_M or (128 if D <= 64 else 64)
    rows = T.ceildiv(S, 16)  # of dQ, in groups as an accumulator holds them

    multiply = T.wgmma_gemm if ahead else T.gemm

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, H, S, D), dtype),
        V: T.Tensor((B, H, S, D), dtype),
        O: T.Tensor((B, H, S, D), dtype),
        dO: T.Tensor((B, H, S, D), dtype),
        LSE: T.Tensor((B, H, S), "float32"),  # log2 of the sums of exp2(scale * scores)
        dQ: T.Tensor((B, H, S, D), dtype),
        dK: T.Tensor((B, H, S, D), dtype),
        dV: T.Tensor((B, H, S, D), dtype),
    ):
        delta = T.alloc_global((B, H, S), "float32")
        # What a thread of an accumulator holds of 16 rows lies together: four sums go out at once.
        sums = T.alloc_global((B, H, rows, D // 8, 8, 4, 2, 2), "float32")

        with T.Kernel(T.ceildiv(S, 16), H, B, threads=128) as (bx, by, bz):
            product = T.alloc_fragment((16, D), "float32")
            total = T.alloc_fragment((16,), "float32")
            for i, j in T.Parallel(16, D):
                product[i, j] = O[bz, by, bx * 16 + i, j] * T.cast(dO[bz, by, bx * 16 + i, j], "float32")
            T.reduce_sum(product, total, dim=1)
            T.copy(total, delta[bz, by, bx * 16])
            for a, b, c, d, e in T.Parallel(D // 8, 8, 4, 2, 2):
                sums[bz, by, bx, a, b, c, d, e] = 0

        with T.Kernel(T.ceildiv(S, block_N), H, B, threads=threads) as (bx, by, bz):
            K_s = T.alloc_shared((block_N, D), dtype)
            V_s = T.alloc_shared((block_N, D), dtype)
            Q_s = T.alloc_shared((block_M, D), dtype)
            dO_s = T.alloc_shared((block_M, D), dtype)
            LSE_s = T.alloc_shared((block_M,), "float32")
            delta_s = T.alloc_shared((block_M,), "float32")
            p = T.alloc_fragment((block_N, block_M), "float32")
            dp = T.alloc_fragment((block_N, block_M), "float32")
            P = T.alloc_fragment((block_N, block_M), dtype)
            dS = T.alloc_fragment((block_N, block_M), dtype)
            dS_s = T.alloc_shared((block_N, block_M), dtype)
            dq = T.alloc_fragment((block_M, D), "float32")
            dk = T.alloc_fragment((block_N, D), "float32")
            dv = T.alloc_fragment((block_N, D), "float32")

            T.copy(K[bz, by, bx * block_N, 0], K_s)
            T.copy(V[bz, by, bx * block_N, 0], V_s)
            T.clear(dk)
            T.clear(dv)
            first = bx * block_N // block_M if causal else 0
            for q in T.Pipelined(first, T.ceildiv(S, block_M), num_stages=num_stages):
                T.copy(Q[bz, by, q * block_M, 0], Q_s)
                T.copy(LSE[bz, by, q * block_M], LSE_s)
                multiply(K_s, Q_s, p, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                T.copy(dO[bz, by, q * block_M, 0], dO_s)
                T.copy(delta[bz, by, q * block_M], delta_s)
                multiply(V_s, dO_s, dp, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                if ahead:
                    T.wait_wgmma(1)
                for i, j in T.Parallel(block_N, block_M):
                    p[i, j] = T.exp2(p[i, j] * scale - LSE_s[j])
                if causal and q * block_M < (bx + 1) * block_N:
                    for i, j in T.Parallel(block_N, block_M):
                        p[i, j] = T.if_then_else(bx * block_N + i <= q * block_M + j, p[i, j], 0)
                T.copy(p, P)
                multiply(P, dO_s, dv, policy=T.GemmWarpPolicy.FullRow)
                if ahead:
                    T.wait_wgmma(1)
                for i, j in T.Parallel(block_N, block_M):
                    dS[i, j] = p[i, j] * (dp[i, j] - delta_s[j])
                T.copy(dS, dS_s)
                multiply(dS_s, K_s, dq, transpose_A=True, clear_accum=True)
                multiply(dS, Q_s, dk, policy=T.GemmWarpPolicy.FullRow)
                if ahead:
                    T.wait_wgmma(1)
                for i, j in T.Parallel(block_M, D):
                    if q * block_M + i < S:
                        T.atomic_add(sums[bz, by, q * (block_M // 16) + i // 16, j // 8, i % 8, j // 2 % 4, i // 8 % 2, j % 2],
                                     dq[i, j])
                if ahead:
                    T.wait_wgmma(0)
            for i, j in T.Parallel(block_N, D):
                dk[i, j] = dk[i, j] * factor
            T.copy(dk, dK[bz, by, bx * block_N, 0])
            T.copy(dv, dV[bz, by, bx * block_N, 0])

        with T.Kernel(rows, H, B, threads=128) as (bx, by, bz):
            for i, j in T.Parallel(16, D):
                dQ[bz, by, bx * 16 + i, j] = sums[bz, by, bx, j // 8, i % 8, j // 2 % 4, i // 8 % 2, j % 2] * factor

    return main


# ---- python3 examples/flash_attention_backward.py ------------------------------------------------

def problem(B, H, S, D, causal, dtype):
    """Inputs, and what numpy says of them."""
    import numpy as np
    from tilelang.script import normal, rounded

    Q, K, V, dO = (normal(B, H, S, D, dtype=dtype) for _ in range(4))
    q, k, v, do = (x.astype("float64") for x in (Q, K, V, dO))
    scores = q @ k.swapaxes(2, 3) / D**0.5
    scores = np.where(np.tri(S, dtype=bool), scores, -np.inf) if causal else scores
    most = scores.max(-1, keepdims=True)
    total = np.exp(scores - most).sum(-1, keepdims=True)
    p = np.exp(scores - most) / total
    o = p @ v
    ds = p * (do @ v.swapaxes(2, 3) - (do * o).sum(-1, keepdims=True)) / D**0.5
    lse = ((most + np.log(total)) * 1.44269504)[..., 0].astype("float32")
    return [Q, K, V, rounded(o, dtype), dO, lse], [ds @ k, ds.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ do]


def verify(B=1, H=4, S=256, D=64, causal=False, dtype=None):
    from tilelang.script import best_dtype, check

    dtype = dtype or best_dtype()
    inputs, want = problem(B, H, S, D, causal, dtype)
    return check(flash_attention_backward(B, H, S, D, causal, dtype), inputs, want)


def bench(B=1, H=8, S=1024, D=64, causal=False, dtype=None):
    from tilelang.script import best_dtype, timed

    dtype = dtype or best_dtype()
    inputs, _ = problem(B, H, S, D, causal, dtype)
    timed(flash_attention_backward(B, H, S, D, causal, dtype), inputs, 10 * B * H * S * S * D / (2 if causal else 1))


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
