"""Native sparse attention: each token attends to a few blocks of keys, chosen for it and for each head of K and V.

    tl verify examples/nsa.py:selected S=100
    tl verify examples/nsa.py:decode B=2

`groups` heads of Q share one of K and V, and the blocks chosen for it; a number below 0 chooses none, keys behind the
token are not seen.  selected: all tokens of a sequence.  decode: the last one of each, from a cache.
Of the other two branches the window is flash_attention.py with window=, the compressed one attention over means of blocks.
"""
import tilelang
import tilelang.language as T

LOG2E = 1.44269504


def attention(groups, D, size, dtype, rows, num_stages):
    """Of the heads of one group, over blocks first to last of those chosen."""
    scale = (1.0 / D) ** 0.5 * LOG2E

    @T.macro
    def attend(Q, K, V, chosen, acc, peak, total, bb, bt, bh, now, first, last):
        Q_s = T.alloc_shared((rows, D), dtype)
        K_s = T.alloc_shared((size, D), dtype)
        V_s = T.alloc_shared((size, D), dtype)
        scores = T.alloc_fragment((rows, size), "float32")
        P = T.alloc_fragment((rows, size), dtype)
        before = T.alloc_fragment((rows,), "float32")
        rescale = T.alloc_fragment((rows,), "float32")
        row = T.alloc_fragment((rows,), "float32")
        T.clear(Q_s)  # rows that no head has
        T.copy(Q[bb, bt, bh * groups : (bh + 1) * groups, 0:D], Q_s[0:groups, 0:D])
        T.clear(acc)
        T.clear(total)
        T.fill(peak, -1e20)
        for k in T.Pipelined(first, last, num_stages=num_stages):
            at = T.max(chosen[bb, bt, bh, k], 0) * size
            T.copy(K[bb, at : at + size, bh, 0:D], K_s)
            T.gemm(Q_s, K_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
            if at + size > now + 1 or chosen[bb, bt, bh, k] < 0:
                for i, j in T.Parallel(rows, size):
                    scores[i, j] = T.if_then_else(at + j <= now and chosen[bb, bt, bh, k] >= 0, scores[i, j], -1e30)
            T.copy(peak, before)
            T.reduce_max(scores, peak, dim=1, clear=False)
            for i in T.Parallel(rows):
                rescale[i] = T.exp2((before[i] - peak[i]) * scale)
            for i, j in T.Parallel(rows, size):
                scores[i, j] = T.exp2((scores[i, j] - peak[i]) * scale)
            T.reduce_sum(scores, row, dim=1)
            for i in T.Parallel(rows):
                total[i] = total[i] * rescale[i] + row[i]
            T.copy(scores, P)
            for i, j in T.Parallel(rows, D):
                acc[i, j] = acc[i, j] * rescale[i]
            T.copy(V[bb, at : at + size, bh, 0:D], V_s)
            T.gemm(P, V_s, acc, policy=T.GemmWarpPolicy.FullRow)

    return attend


@tilelang.jit(out_idx=[-1])
def selected(B=1, S=128, H=16, groups=16, D=64, count=2, size=32, dtype="float16", rows=None, num_stages=3, threads=128):
    heads = H // groups
    rows = rows or T.ceildiv(groups, 64) * 64  # what the matrix units take at once
    attend = attention(groups, D, size, dtype, rows, num_stages)

    @T.prim_func
    def main(
        Q: T.Tensor((B, S, H, D), dtype),
        K: T.Tensor((B, S, heads, D), dtype),
        V: T.Tensor((B, S, heads, D), dtype),
        chosen: T.Tensor((B, S, heads, count), "int32"),
        O: T.Tensor((B, S, H, D), dtype),
    ):
        with T.Kernel(S, heads, B, threads=threads) as (bt, bh, bb):
            acc = T.alloc_fragment((rows, D), "float32")
            peak = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            attend(Q, K, V, chosen, acc, peak, total, bb, bt, bh, bt, 0, count)
            for i, j in T.Parallel(rows, D):
                if i < groups:
                    O[bb, bt, bh * groups + i, j] = acc[i, j] / T.max(total[i], 1e-30)

    return main


@tilelang.jit(out_idx=[-1])
def decode(B=2, N=256, H=16, groups=16, D=64, count=4, size=32, splits=2, dtype="float16", rows=None, num_stages=3,
           threads=128):
    """One query a sequence, of which the cache has length[b] keys; a block takes a part of those chosen."""
    heads, each = H // groups, T.ceildiv(count, splits)
    rows = rows or T.ceildiv(groups, 64) * 64
    attend = attention(groups, D, size, dtype, rows, num_stages)

    @T.prim_func
    def main(
        Q: T.Tensor((B, 1, H, D), dtype),
        K: T.Tensor((B, N, heads, D), dtype),
        V: T.Tensor((B, N, heads, D), dtype),
        chosen: T.Tensor((B, 1, heads, count), "int32"),
        length: T.Tensor((B,), "int32"),
        O: T.Tensor((B, 1, H, D), dtype),
    ):
        part = T.alloc_global((B, heads, splits, groups, D), "float32")
        most = T.alloc_global((B, heads, splits, groups), "float32")
        sums = T.alloc_global((B, heads, splits, groups), "float32")

        with T.Kernel(splits, heads, B, threads=threads) as (bs, bh, bb):
            acc = T.alloc_fragment((rows, D), "float32")
            peak = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            attend(Q, K, V, chosen, acc, peak, total, bb, 0, bh, length[bb] - 1, bs * each, T.min((bs + 1) * each, count))
            for i, j in T.Parallel(rows, D):
                if i < groups:
                    part[bb, bh, bs, i, j] = acc[i, j]
            for i in T.Parallel(rows):
                if i < groups:
                    most[bb, bh, bs, i] = peak[i] * ((1.0 / D) ** 0.5 * LOG2E)
                    sums[bb, bh, bs, i] = total[i]

        with T.Kernel(heads, B, threads=128) as (bh, bb):
            out = T.alloc_fragment((groups, D), "float32")
            share = T.alloc_fragment((groups, splits), "float32")
            weight = T.alloc_fragment((groups, splits), "float32")
            top = T.alloc_fragment((groups,), "float32")
            total = T.alloc_fragment((groups,), "float32")
            share_s = T.alloc_shared((groups, splits), "float32")
            for i, s in T.Parallel(groups, splits):
                share[i, s] = most[bb, bh, s, i]
            T.reduce_max(share, top, dim=1)
            for i, s in T.Parallel(groups, splits):
                share[i, s] = T.exp2(share[i, s] - top[i])
                weight[i, s] = share[i, s] * sums[bb, bh, s, i]
            T.reduce_sum(weight, total, dim=1)
            for i, s in T.Parallel(groups, splits):
                share_s[i, s] = share[i, s] / T.max(total[i], 1e-30)
            T.clear(out)
            for s in T.serial(splits):
                for i, j in T.Parallel(groups, D):
                    out[i, j] += part[bb, bh, s, i, j] * share_s[i, s]
            T.copy(out, O[bb, 0, bh * groups : (bh + 1) * groups, 0:D])

    return main


# ---- python3 examples/nsa.py ---------------------------------------------------------------------

def choices(B, S, heads, count, size, limit):
    """Different blocks for each token, its own among them, some none."""
    import numpy as np

    rng = np.random.default_rng(1)
    chosen = np.full((B, S, heads, count), -1, "int32")
    for b, t, h in np.ndindex(B, S, heads):
        own = limit[b, t] // size
        others = rng.permutation(own)[: count - 1]
        chosen[b, t, h, : 1 + len(others)] = [own, *others]
    return chosen


def reference(Q, K, V, chosen, size, limit):
    import numpy as np

    B, S, H, D = Q.shape
    groups, out = H // K.shape[2], np.zeros(Q.shape)
    for b, t, h in np.ndindex(B, S, K.shape[2]):
        keys = np.concatenate([np.arange(c * size, (c + 1) * size) for c in chosen[b, t, h] if c >= 0])
        keys = keys[keys <= limit[b, t]]
        rows = slice(h * groups, (h + 1) * groups)
        scores = Q[b, t, rows].astype("float64") @ K[b, keys, h].T / D**0.5
        p = np.exp(scores - scores.max(-1, keepdims=True))
        out[b, t, rows] = p / p.sum(-1, keepdims=True) @ V[b, keys, h]
    return out


def problem(B, S, N, H, groups, D, count, size, dtype, limit):
    from tilelang.script import normal

    heads = H // groups
    return [normal(B, S, H, D, dtype=dtype), normal(B, N, heads, D, dtype=dtype), normal(B, N, heads, D, dtype=dtype),
            choices(B, S, heads, count, size, limit)]


def verify(B=1, S=70, H=32, groups=16, D=64, count=3, size=16, dtype="float16"):
    import numpy as np
    from tilelang.script import check

    limit = np.arange(S)[None].repeat(B, 0)
    inputs = problem(B, S, S, H, groups, D, count, size, dtype, limit)
    fine = check(selected(B, S, H, groups, D, count, size, dtype), inputs, reference(*inputs, size, limit))
    limit = np.array([[99], [7]])
    inputs = problem(2, 1, 128, H, groups, D, count, size, dtype, limit)
    want = reference(*inputs, size, limit)
    return check(decode(2, 128, H, groups, D, count, size, 2, dtype), [*inputs, limit[:, 0].astype("int32") + 1], want) and fine


def bench(B=1, S=256, H=16, groups=16, D=64, count=4, size=32, dtype="float16"):
    import numpy as np
    from tilelang.script import timed

    inputs = problem(B, S, S, H, groups, D, count, size, dtype, np.arange(S)[None].repeat(B, 0))
    timed(selected(B, S, H, groups, D, count, size, dtype), inputs, 4 * B * S * H * D * count * size)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
