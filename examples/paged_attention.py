"""Attention as servers run it: decoding from a cache in pages, and prefill of sequences laid end to end.

    tl verify examples/paged_attention.py:paged_decode B=2 pages=3
    tl verify examples/paged_attention.py:varlen_prefill

Heads are grouped: `groups` heads of Q share one of K and V.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def paged_decode(B=2, H=8, groups=4, D=128, pages=4, page=64, splits=2, dtype="float16", pool=None, rows=None,
                 num_stages=2, threads=128):
    """One query a sequence.  A block takes the heads that share a cache, and a part of the pages."""
    scale = (1.0 / D) ** 0.5 * 1.44269504  # log2(e)
    heads, pool = H // groups, pool or B * pages
    rows = rows or T.ceildiv(groups, 64) * 64  # what the matrix units take at once
    each = T.ceildiv(pages, splits)

    @T.prim_func
    def main(
        Q: T.Tensor((B, heads, groups, D), dtype),
        K: T.Tensor((pool, page, heads, D), dtype),
        V: T.Tensor((pool, page, heads, D), dtype),
        table: T.Tensor((B, pages), "int32"),
        length: T.Tensor((B,), "int32"),
        O: T.Tensor((B, heads, groups, D), dtype),
    ):
        part = T.alloc_global((B, heads, splits, groups, D), "float32")
        weight = T.alloc_global((B, heads, splits, groups), "float32")

        with T.Kernel(heads, B, splits, threads=threads) as (bh, bb, bs):
            Q_s = T.alloc_shared((rows, D), dtype)
            K_s = T.alloc_shared((page, D), dtype)
            V_s = T.alloc_shared((page, D), dtype)
            scores = T.alloc_fragment((rows, page), "float32")
            P = T.alloc_fragment((rows, page), dtype)
            acc = T.alloc_fragment((rows, D), "float32")
            peak = T.alloc_fragment((rows,), "float32")
            before = T.alloc_fragment((rows,), "float32")
            rescale = T.alloc_fragment((rows,), "float32")
            row = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")

            T.clear(Q_s)
            T.copy(Q[bb, bh, 0:groups, 0:D], Q_s[0:groups, 0:D])
            T.clear(acc)
            T.clear(total)
            T.fill(peak, -1e30)
            n = length[bb]
            for k in T.Pipelined(bs * each, T.min((bs + 1) * each, T.ceildiv(n, page)), num_stages=num_stages):
                T.copy(K[table[bb, k], 0:page, bh, 0:D], K_s)
                T.gemm(Q_s, K_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                if (k + 1) * page > n:
                    for i, j in T.Parallel(rows, page):
                        scores[i, j] = T.if_then_else(k * page + j < n, scores[i, j], -1e30)
                T.copy(peak, before)
                T.reduce_max(scores, peak, dim=1, clear=False)
                for i in T.Parallel(rows):
                    rescale[i] = T.exp2((before[i] - peak[i]) * scale)
                for i, j in T.Parallel(rows, page):
                    scores[i, j] = T.exp2((scores[i, j] - peak[i]) * scale)
                T.reduce_sum(scores, row, dim=1)
                for i in T.Parallel(rows):
                    total[i] = total[i] * rescale[i] + row[i]
                T.copy(scores, P)
                for i, j in T.Parallel(rows, D):
                    acc[i, j] = acc[i, j] * rescale[i]
                T.copy(V[table[bb, k], 0:page, bh, 0:D], V_s)
                T.gemm(P, V_s, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(rows, D):
                if i < groups:
                    part[bb, bh, bs, i, j] = acc[i, j] / T.max(total[i], 1e-30)
            for i in T.Parallel(rows):
                if i < groups:  # log2 of the sum
                    weight[bb, bh, bs, i] = T.log2(T.max(total[i], 1e-30)) + peak[i] * scale

        with T.Kernel(heads, B, threads=128) as (bh, bb):
            out = T.alloc_fragment((groups, D), "float32")
            share = T.alloc_fragment((groups, splits), "float32")
            most = T.alloc_fragment((groups,), "float32")
            total = T.alloc_fragment((groups,), "float32")
            T.clear(out)
            for i, s in T.Parallel(groups, splits):
                share[i, s] = weight[bb, bh, s, i]
            T.reduce_max(share, most, dim=1)
            for i, s in T.Parallel(groups, splits):
                share[i, s] = T.exp2(share[i, s] - most[i])
            T.reduce_sum(share, total, dim=1)
            for s in T.serial(splits):
                for i, j in T.Parallel(groups, D):
                    out[i, j] += part[bb, bh, s, i, j] * T.exp2(weight[bb, bh, s, i] - most[i])
            for i, j in T.Parallel(groups, D):
                O[bb, bh, i, j] = out[i, j] / total[i]

    return main


@tilelang.jit(out_idx=[-1])
def varlen_prefill(B=2, total=200, longest=128, H=4, groups=2, D=64, causal=True, dtype="float16", block_M=128, block_N=128,
                   num_stages=2, threads=256):
    """Sequence b is rows start[b] to start[b + 1]; none is longer than `longest`."""
    scale = (1.0 / D) ** 0.5 * 1.44269504  # log2(e)

    @T.prim_func
    def main(
        Q: T.Tensor((total, H, D), dtype),
        K: T.Tensor((total, H // groups, D), dtype),
        V: T.Tensor((total, H // groups, D), dtype),
        start: T.Tensor((B + 1,), "int32"),
        O: T.Tensor((total, H, D), dtype),
    ):
        with T.Kernel(T.ceildiv(longest, block_M), H, B, threads=threads) as (bx, by, bz):
            Q_s = T.alloc_shared((block_M, D), dtype)
            K_s = T.alloc_shared((block_N, D), dtype)
            V_s = T.alloc_shared((block_N, D), dtype)
            O_s = T.alloc_shared((block_M, D), dtype)
            scores = T.alloc_fragment((block_M, block_N), "float32")
            P = T.alloc_fragment((block_M, block_N), dtype)
            acc = T.alloc_fragment((block_M, D), "float32")
            peak = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            rescale = T.alloc_fragment((block_M,), "float32")
            row = T.alloc_fragment((block_M,), "float32")
            sums = T.alloc_fragment((block_M,), "float32")

            base = start[bz]
            n = start[bz + 1] - base
            row0 = (T.ceildiv(longest, block_M) - 1 - bx if causal else bx) * block_M  # long ones first
            T.copy(Q[base + row0 : base + row0 + block_M, by, 0:D], Q_s)
            T.clear(acc)
            T.clear(sums)
            T.fill(peak, -1e30)
            last = T.ceildiv(T.min(row0 + block_M, n) if causal else n, block_N)
            for k in T.Pipelined(T.if_then_else(row0 < n, last, 0), num_stages=num_stages):
                T.copy(K[base + k * block_N : base + (k + 1) * block_N, by // groups, 0:D], K_s)
                T.gemm(Q_s, K_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                if (k + 1) * block_N > (T.min(row0 + 1, n) if causal else n):
                    for i, j in T.Parallel(block_M, block_N):
                        kv = k * block_N + j
                        seen = kv < n and kv <= row0 + i if causal else kv < n
                        scores[i, j] = T.if_then_else(seen, scores[i, j], -1e30)
                T.copy(peak, before)
                T.reduce_max(scores, peak, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    rescale[i] = T.exp2(before[i] * scale - peak[i] * scale)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2(scores[i, j] * scale - peak[i] * scale)
                T.reduce_sum(scores, row, dim=1)
                for i in T.Parallel(block_M):
                    sums[i] = sums[i] * rescale[i] + row[i]
                T.copy(scores, P)
                for i, j in T.Parallel(block_M, D):
                    acc[i, j] = acc[i, j] * rescale[i]
                T.copy(V[base + k * block_N : base + (k + 1) * block_N, by // groups, 0:D], V_s)
                T.gemm(P, V_s, acc, policy=T.GemmWarpPolicy.FullRow)
            for i in T.Parallel(block_M):
                sums[i] = 1 / sums[i]
            for i, j in T.Parallel(block_M, D):
                O_s[i, j] = acc[i, j] * sums[i]
            for i, j in T.Parallel(block_M, D):
                if row0 + i < n:  # the rows behind are another sequence's
                    O[base + row0 + i, by, j] = O_s[i, j]

    return main


# ---- python3 examples/paged_attention.py ---------------------------------------------------------

def attend(q, k, v, causal=False):
    import numpy as np

    q, k, v = (x.astype("float64") for x in (q, k, v))
    scores = q @ k.T / q.shape[-1] ** 0.5
    scores = np.where(np.tri(*scores.shape, dtype=bool), scores, -np.inf) if causal else scores
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


def pages_of(B, H, groups, D, pages, page, dtype):
    import numpy as np
    from tilelang.script import normal

    rng = np.random.default_rng(1)
    cache = [normal(B * pages, page, H // groups, D, dtype=dtype) for _ in range(2)]
    table = rng.permutation(B * pages).astype("int32").reshape(B, pages)
    length = (pages * page - rng.integers(0, page, B)).astype("int32")
    return [normal(B, H // groups, groups, D, dtype=dtype), *cache, table, length]


def verify(B=2, H=8, groups=4, D=64, pages=4, page=64, lengths=(77, 128, 5), dtype="float16"):
    import numpy as np
    from tilelang.script import check, normal

    Q, K, V, table, length = inputs = pages_of(B, H, groups, D, pages, page, dtype)
    want = np.zeros(Q.shape)
    for b in range(B):
        k, v = (x[table[b]].reshape(-1, H // groups, D)[: length[b]] for x in (K, V))
        for h in range(H // groups):
            want[b, h] = attend(Q[b, h], k[:, h], v[:, h])
    fine = check(paged_decode(B, H, groups, D, pages, page, dtype=dtype), inputs, want)

    start, total = np.cumsum([0, *lengths]).astype("int32"), sum(lengths)
    Q, K, V = normal(total, H, D, dtype=dtype), *(normal(total, H // groups, D, dtype=dtype) for _ in range(2))
    want = np.zeros(Q.shape)
    for a, b in zip(start, start[1:]):
        for h in range(H):
            want[a:b, h] = attend(Q[a:b, h], K[a:b, h // groups], V[a:b, h // groups], True)
    kernel = varlen_prefill(len(lengths), total, max(lengths), H, groups, D, True, dtype)
    return check(kernel, [Q, K, V, start], want) and fine


def bench(B=2, H=8, groups=4, D=128, pages=16, page=64, dtype="float16"):
    from tilelang.script import timed

    inputs = pages_of(B, H, groups, D, pages, page, dtype)
    timed(paged_decode(B, H, groups, D, pages, page, dtype=dtype), inputs, 4 * B * H * pages * page * D)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
