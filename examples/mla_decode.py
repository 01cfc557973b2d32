"""MLA decode: every head of a query against one latent cache in pages, 512 numbers that are key and value
and 64 that are key alone.

    tl verify examples/mla_decode.py B=2 pages=3 splits=2

A block takes 64 heads and a part of the pages; where there are several parts a second launch joins them.
"""
import tilelang
import tilelang.language as T


@T.macro
def join(part, weight, O, B, H, D, splits):
    """O from what each part of the pages gave, by the logarithms of their sums."""
    with T.Kernel(H, B, threads=128) as (bh, bb):
        out = T.alloc_fragment((D,), "float32")
        most = T.alloc_var("float32")
        total = T.alloc_var("float32")
        most = -T.infinity("float32")
        total = 0.0
        T.clear(out)
        for s in T.serial(splits):
            most = T.max(most, weight[bb, s, bh])
        for s in T.serial(splits):
            share = T.exp2(weight[bb, s, bh] - most)
            total += share
            for j in T.Parallel(D):
                out[j] += part[bb, s, bh, j] * share
        for j in T.Parallel(D):
            O[bb, bh, j] = out[j] / total


@tilelang.jit(out_idx=[-1])
def mla_decode(B=2, H=64, pages=4, D=512, R=64, splits=1, dtype="float16", block_H=64, page=64, pool=None,
               num_stages=2, threads=256):
    scale = (1.0 / (D + R)) ** 0.5 * 1.44269504  # log2(e)
    pool = pool or B * pages  # pages of all caches
    each = T.ceildiv(pages, splits)

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, D), dtype),
        Q_rope: T.Tensor((B, H, R), dtype),
        KV: T.Tensor((pool, page, D), dtype),
        K_rope: T.Tensor((pool, page, R), dtype),
        table: T.Tensor((B, pages), "int32"),
        length: T.Tensor((B,), "int32"),
        O: T.Tensor((B, H, D), dtype),
    ):
        part = T.alloc_global((B, splits, H, D), dtype)
        weight = T.alloc_global((B, splits, H), "float32")

        with T.Kernel(T.ceildiv(H, block_H), B, splits, threads=threads) as (bh, bb, bs):
            Q_s = T.alloc_shared((block_H, D), dtype)
            Qr_s = T.alloc_shared((block_H, R), dtype)
            KV_s = T.alloc_shared((page, D), dtype)
            Kr_s = T.alloc_shared((page, R), dtype)
            P_s = T.alloc_shared((block_H, page), dtype)
            scores = T.alloc_fragment((block_H, page), "float32")
            acc = T.alloc_fragment((block_H, D), "float32")
            peak = T.alloc_fragment((block_H,), "float32")
            before = T.alloc_fragment((block_H,), "float32")
            rescale = T.alloc_fragment((block_H,), "float32")
            sums = T.alloc_fragment((block_H, page), "float32")  # added up once, at the end
            total = T.alloc_fragment((block_H,), "float32")

            T.copy(Q[bb, bh * block_H, 0], Q_s)
            T.copy(Q_rope[bb, bh * block_H, 0], Qr_s)
            T.clear(acc)
            T.clear(sums)
            T.fill(peak, -1e30)
            n = length[bb]
            first, last = bs * each, T.min((bs + 1) * each, T.ceildiv(n, page))
            for k in T.Pipelined(first, last, num_stages=num_stages):
                T.copy(KV[table[bb, k], 0, 0], KV_s)
                T.copy(K_rope[table[bb, k], 0, 0], Kr_s)
                T.gemm(Q_s, KV_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                T.gemm(Qr_s, Kr_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                if (k + 1) * page > n:
                    for i, j in T.Parallel(block_H, page):
                        scores[i, j] = T.if_then_else(k * page + j < n, scores[i, j], -1e30)
                T.copy(peak, before)
                T.reduce_max(scores, peak, dim=1, clear=False)
                for i in T.Parallel(block_H):
                    rescale[i] = T.exp2(before[i] * scale - peak[i] * scale)
                for i, j in T.Parallel(block_H, page):
                    scores[i, j] = T.exp2(scores[i, j] * scale - peak[i] * scale)
                    sums[i, j] = sums[i, j] * rescale[i] + scores[i, j]
                T.copy(scores, P_s)
                for i, j in T.Parallel(block_H, D):
                    acc[i, j] = acc[i, j] * rescale[i]
                T.gemm(P_s, KV_s, acc, policy=T.GemmWarpPolicy.FullCol)
            T.reduce_sum(sums, total, dim=1)
            for i in T.Parallel(block_H):
                rescale[i] = 1 / T.max(total[i], 1e-30)
            for i, j in T.Parallel(block_H, D):
                acc[i, j] = acc[i, j] * rescale[i]
            if splits == 1:
                T.copy(acc, O[bb, bh * block_H, 0])
            else:
                T.copy(acc, part[bb, bs, bh * block_H, 0])
                for i in T.Parallel(block_H):  # log2 of the sum
                    weight[bb, bs, bh * block_H + i] = T.log2(T.max(total[i], 1e-30)) + peak[i] * scale

        if splits > 1:
            join(part, weight, O, B, H, D, splits)

    return main


# ---- python3 examples/mla_decode.py --------------------------------------------------------------

def problem(B, H, pages, D, R, dtype, page=64):
    import numpy as np
    from tilelang.script import normal

    Q, Qr = normal(B, H, D, dtype=dtype), normal(B, H, R, dtype=dtype)
    KV, Kr = normal(B * pages, page, D, dtype=dtype), normal(B * pages, page, R, dtype=dtype)
    rng = np.random.default_rng(1)
    table = rng.permutation(B * pages).astype("int32").reshape(B, pages)
    length = (pages * page - rng.integers(0, page, B)).astype("int32")
    return [Q, Qr, KV, Kr, table, length]


def verify(B=2, H=64, pages=4, D=512, R=64, splits=2, dtype="float16", page=64):
    import numpy as np
    from tilelang.script import check

    inputs = problem(B, H, pages, D, R, dtype, page)
    Q, Qr, KV, Kr, table, length = (x.astype("float64") if x.dtype.kind == "f" else x for x in inputs)
    want = np.zeros((B, H, D))
    for b in range(B):
        c, r = KV[table[b]].reshape(-1, D)[: length[b]], Kr[table[b]].reshape(-1, R)[: length[b]]
        scores = (Q[b] @ c.T + Qr[b] @ r.T) / (D + R) ** 0.5
        p = np.exp(scores - scores.max(-1, keepdims=True))
        want[b] = p / p.sum(-1, keepdims=True) @ c
    return check(mla_decode(B, H, pages, D, R, splits, dtype, page=page), inputs, want)


def bench(B=2, H=64, pages=16, D=512, R=64, splits=4, dtype="float16"):
    from tilelang.script import timed

    inputs = problem(B, H, pages, D, R, dtype)
    timed(mla_decode(B, H, pages, D, R, splits, dtype), inputs, 2 * B * H * pages * 64 * (2 * D + R))


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
