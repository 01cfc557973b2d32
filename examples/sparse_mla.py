"""Sparse MLA prefill: each token attends to the rows of the latent cache that an indexer chose for it.

    tl verify examples/sparse_mla.py:indexer M=64 N=100
    tl verify examples/sparse_mla.py:sparse_mla tokens=3 topk=128
    tl verify examples/sparse_mla.py:backward tokens=3 topk=128

indexer: logits[i, j] = sum over heads of relu(q[i, h] . k[j]) * weight[i, h], in 8-bit floats, of which a top-k is
taken.  sparse_mla: rows by number, -1 for none; 512 numbers of a row are key and value, 64 are key alone.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def indexer(M=64, N=256, H=32, D=128, dtype="float8_e4m3fn", rows=2, block_N=128, num_stages=3, threads=256):
    """A block takes `rows` tokens with all their heads."""

    @T.prim_func
    def main(
        Q: T.Tensor((M * H, D), dtype),
        K: T.Tensor((N, D), dtype),
        weight: T.Tensor((M, H), "float32"),
        logits: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(M, rows), threads=threads) as bx:
            Q_s = T.alloc_shared((rows * H, D), dtype)
            K_s = T.alloc_shared((block_N, D), dtype)
            scores = T.alloc_fragment((block_N, rows * H), "float32")
            apart = T.reshape(scores, (block_N, rows, H))
            w = T.alloc_shared((rows, H), "float32")
            total = T.alloc_fragment((block_N, rows), "float32")
            T.copy(Q[bx * rows * H, 0], Q_s)
            for r, h in T.Parallel(rows, H):
                w[r, h] = T.if_then_else(bx * rows + r < M, weight[T.min(bx * rows + r, M - 1), h], 0)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=num_stages):
                T.copy(K[k * block_N, 0], K_s)
                T.gemm(K_s, Q_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                for i, r, h in T.Parallel(block_N, rows, H):
                    apart[i, r, h] = T.max(apart[i, r, h], 0) * w[r, h]
                T.reduce_sum(apart, total, dim=2)
                for i, r in T.Parallel(block_N, rows):
                    if bx * rows + r < M and k * block_N + i < N:
                        logits[bx * rows + r, k * block_N + i] = total[i, r]

    return main


@tilelang.jit(out_idx=[-1])
def sparse_mla(tokens=4, N=256, H=64, D=512, R=64, topk=128, dtype="float16", block_H=64, block_N=64, num_stages=2,
               threads=256):
    scale = (1.0 / (D + R)) ** 0.5 * 1.44269504  # log2(e)

    @T.prim_func
    def main(
        Q: T.Tensor((tokens, H, D + R), dtype),
        KV: T.Tensor((N, D + R), dtype),
        chosen: T.Tensor((tokens, topk), "int32"),
        O: T.Tensor((tokens, H, D), dtype),
    ):
        with T.Kernel(T.ceildiv(H, block_H), tokens, threads=threads) as (bh, bt):
            Q_s = T.alloc_shared((block_H, D), dtype)
            Qr_s = T.alloc_shared((block_H, R), dtype)
            KV_s = T.alloc_shared((block_N, D), dtype)
            Kr_s = T.alloc_shared((block_N, R), dtype)
            P_s = T.alloc_shared((block_H, block_N), dtype)
            scores = T.alloc_fragment((block_H, block_N), "float32")
            sums = T.alloc_fragment((block_H, block_N), "float32")  # added up once, at the end
            acc = T.alloc_fragment((block_H, D), "float32")
            peak = T.alloc_fragment((block_H,), "float32")
            before = T.alloc_fragment((block_H,), "float32")
            rescale = T.alloc_fragment((block_H,), "float32")
            total = T.alloc_fragment((block_H,), "float32")

            T.copy(Q[bt, bh * block_H : (bh + 1) * block_H, 0:D], Q_s)
            T.copy(Q[bt, bh * block_H : (bh + 1) * block_H, D : D + R], Qr_s)
            T.clear(acc)
            T.clear(sums)
            T.fill(peak, -1e30)
            for k in T.Pipelined(topk // block_N, num_stages=num_stages):
                for i, j in T.Parallel(block_N, D):
                    KV_s[i, j] = KV[T.clamp(chosen[bt, k * block_N + i], 0, N - 1), j]
                for i, j in T.Parallel(block_N, R):
                    Kr_s[i, j] = KV[T.clamp(chosen[bt, k * block_N + i], 0, N - 1), D + j]
                T.gemm(Q_s, KV_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                T.gemm(Qr_s, Kr_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                for i, j in T.Parallel(block_H, block_N):
                    scores[i, j] = T.if_then_else(chosen[bt, k * block_N + j] >= 0, scores[i, j], -1e30)
                T.copy(peak, before)
                T.reduce_max(scores, peak, dim=1, clear=False)
                for i in T.Parallel(block_H):
                    rescale[i] = T.exp2((before[i] - peak[i]) * scale)
                for i, j in T.Parallel(block_H, block_N):
                    scores[i, j] = T.if_then_else(scores[i, j] > -1e29, T.exp2((scores[i, j] - peak[i]) * scale), 0)
                    sums[i, j] = sums[i, j] * rescale[i] + scores[i, j]
                T.copy(scores, P_s)
                for i, j in T.Parallel(block_H, D):
                    acc[i, j] = acc[i, j] * rescale[i]
                T.gemm(P_s, KV_s, acc, policy=T.GemmWarpPolicy.FullCol)
            T.reduce_sum(sums, total, dim=1)
            for i, j in T.Parallel(block_H, D):
                acc[i, j] = acc[i, j] / T.max(total[i], 1e-30)
            T.copy(acc, O[bt, bh * block_H : (bh + 1) * block_H, 0:D])

    return main


@tilelang.jit(out_idx=[6, 7])
def backward(tokens=4, N=256, H=64, D=512, R=64, topk=128, dtype="float16", block_H=64, block_N=64, cols=128, threads=256):
    """LSE are logarithms (base 2) of the sums of exp(scores).  dKV is summed by atomics, `cols` columns at a time."""
    norm = (1.0 / (D + R)) ** 0.5
    scale, W = norm * 1.44269504, D + R  # log2(e)

    @T.prim_func
    def main(
        Q: T.Tensor((tokens, H, W), dtype),
        KV: T.Tensor((N, W), dtype),
        chosen: T.Tensor((tokens, topk), "int32"),
        O: T.Tensor((tokens, H, D), dtype),
        dO: T.Tensor((tokens, H, D), dtype),
        LSE: T.Tensor((tokens, H), "float32"),
        dQ: T.Tensor((tokens, H, W), dtype),
        dKV: T.Tensor((N, W), "float32"),
    ):
        delta = T.alloc_global((tokens, H), "float32")

        with T.Kernel(N, threads=128) as bx:
            for j in T.Parallel(W):
                dKV[bx, j] = 0

        with T.Kernel(T.ceildiv(H, 16), tokens, threads=128) as (bh, bt):  # O . dO
            product = T.alloc_fragment((16, D), "float32")
            row = T.alloc_fragment((16,), "float32")
            for i, j in T.Parallel(16, D):
                product[i, j] = T.cast(O[bt, bh * 16 + i, j], "float32") * dO[bt, bh * 16 + i, j]
            T.reduce_sum(product, row, dim=1)
            T.copy(row, delta[bt, bh * 16])

        with T.Kernel(T.ceildiv(H, block_H), tokens, threads=threads) as (bh, bt):
            Q_s = T.alloc_shared((block_H, D), dtype)
            Qr_s = T.alloc_shared((block_H, R), dtype)
            dO_s = T.alloc_shared((block_H, D), dtype)
            KV_s = T.alloc_shared((block_N, D), dtype)
            Kr_s = T.alloc_shared((block_N, R), dtype)
            P_s = T.alloc_shared((block_H, block_N), dtype)
            dS_s = T.alloc_shared((block_H, block_N), dtype)
            p = T.alloc_fragment((block_H, block_N), "float32")
            ds = T.alloc_fragment((block_H, block_N), "float32")
            dq = T.alloc_fragment((block_H, D), "float32")
            dqr = T.alloc_fragment((block_H, R), "float32")
            dkv = T.alloc_fragment((block_N, cols), "float32")
            dkr = T.alloc_fragment((block_N, R), "float32")
            rows = T.alloc_shared((block_N,), "int32")
            # half of R is what a warpgroup takes: panels of 64 bytes
            T.annotate_layout({x: tilelang.layout.make_half_bank_swizzled_layout(x) for x in (Qr_s, Kr_s)})
            heads = bh * block_H

            T.copy(Q[bt, heads : heads + block_H, 0:D], Q_s)
            T.copy(Q[bt, heads : heads + block_H, D:W], Qr_s)
            T.copy(dO[bt, heads : heads + block_H, 0:D], dO_s)
            T.clear(dq)
            T.clear(dqr)
            for k in T.serial(topk // block_N):
                T.copy(chosen[bt, k * block_N], rows)
                for i, j in T.Parallel(block_N, D):
                    KV_s[i, j] = KV[T.clamp(rows[i], 0, N - 1), j]
                for i, j in T.Parallel(block_N, R):
                    Kr_s[i, j] = KV[T.clamp(rows[i], 0, N - 1), D + j]
                T.gemm(Q_s, KV_s, p, transpose_B=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                T.gemm(Qr_s, Kr_s, p, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                T.gemm(dO_s, KV_s, ds, transpose_B=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                for i, j in T.Parallel(block_H, block_N):
                    there = rows[j] >= 0
                    p[i, j] = T.if_then_else(there, T.exp2(p[i, j] * scale - LSE[bt, heads + i]), 0)
                    ds[i, j] = p[i, j] * (ds[i, j] - delta[bt, heads + i]) * norm
                T.copy(p, P_s)
                T.copy(ds, dS_s)
                T.gemm(dS_s, KV_s, dq, policy=T.GemmWarpPolicy.FullCol)
                T.gemm(dS_s, Kr_s, dqr, policy=T.GemmWarpPolicy.FullCol)
                for c in T.unroll(D // cols):
                    at = c * cols
                    T.gemm(P_s, dO_s[:, at : at + cols], dkv, transpose_A=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                    T.gemm(dS_s, Q_s[:, at : at + cols], dkv, transpose_A=True, policy=T.GemmWarpPolicy.FullCol)
                    for i, j in T.Parallel(block_N, cols):
                        if rows[i] >= 0:
                            T.atomic_add(dKV[rows[i], at + j], dkv[i, j])
                T.gemm(dS_s, Qr_s, dkr, transpose_A=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                for i, j in T.Parallel(block_N, R):
                    if rows[i] >= 0:
                        T.atomic_add(dKV[rows[i], D + j], dkr[i, j])
            T.copy(dq, dQ[bt, heads : heads + block_H, 0:D])
            T.copy(dqr, dQ[bt, heads : heads + block_H, D:W])

    return main


# ---- python3 examples/sparse_mla.py --------------------------------------------------------------

def problem(tokens, N, H, D, R, topk, dtype):
    import numpy as np
    from tilelang.script import normal

    rng = np.random.default_rng(1)
    chosen = np.stack([rng.permutation(N)[:topk] for _ in range(tokens)]).astype("int32")
    chosen[:, topk - 5 :] = -1
    return [normal(tokens, H, D + R, dtype=dtype), normal(N, D + R, dtype=dtype), chosen]


def verify(tokens=4, N=256, H=64, D=512, R=64, topk=128, dtype="float16"):
    import numpy as np
    from tilelang.script import check, normal

    Q, KV, chosen = problem(tokens, N, H, D, R, topk, dtype)
    want = np.zeros((tokens, H, D))
    for t in range(tokens):
        rows = KV[chosen[t][chosen[t] >= 0]].astype("float64")
        scores = Q[t].astype("float64") @ rows.T / (D + R) ** 0.5
        p = np.exp(scores - scores.max(-1, keepdims=True))
        want[t] = p / p.sum(-1, keepdims=True) @ rows[:, :D]
    fine = check(sparse_mla(tokens, N, H, D, R, topk, dtype), [Q, KV, chosen], want)
    fine &= verify_backward(min(tokens, 2), N, H, D, R, topk, dtype)

    M, heads, eight = 20, 32, "float8_e4m3fn"
    q, k, w = normal(M * heads, 128, dtype=eight), normal(N, 128, dtype=eight), normal(M, heads)
    scores = np.maximum(q.astype("float64") @ k.T, 0).reshape(M, heads, N)
    return check(indexer(M, N, heads), [q, k, w], (scores * w[:, :, None]).sum(1), tolerance=1e-3) and fine


def verify_backward(tokens, N, H, D, R, topk, dtype):
    import numpy as np
    from tilelang.script import check, normal, rounded

    Q, KV, chosen = problem(tokens, N, H, D, R, topk, dtype)
    dO, O, lse = normal(tokens, H, D, dtype=dtype), np.zeros((tokens, H, D)), np.zeros((tokens, H))
    dQ, dKV = np.zeros(Q.shape), np.zeros(KV.shape)
    for t in range(tokens):
        at = chosen[t][chosen[t] >= 0]
        rows, q, do = KV[at].astype("float64"), Q[t].astype("float64"), dO[t].astype("float64")
        e = np.exp(q @ rows.T / (D + R) ** 0.5)
        lse[t] = np.log2(e.sum(-1))
        p = e / e.sum(-1, keepdims=True)
        O[t] = p @ rows[:, :D]
        ds = p * (do @ rows[:, :D].T - (O[t] * do).sum(-1, keepdims=True)) / (D + R) ** 0.5
        dQ[t] = ds @ rows
        dKV[at] += ds.T @ q
        dKV[at, :D] += p.T @ do
    inputs = [Q, KV, chosen, rounded(O, dtype), dO, lse.astype("float32")]
    return check(backward(tokens, N, H, D, R, topk, dtype), inputs, [dQ, dKV], tolerance=4e-3)


def bench(tokens=2, N=256, H=64, D=512, R=64, topk=128, dtype="float16"):
    from tilelang.script import timed

    inputs = problem(tokens, N, H, D, R, topk, dtype)
    timed(sparse_mla(tokens, N, H, D, R, topk, dtype), inputs, 2 * tokens * H * topk * (2 * D + R))


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
