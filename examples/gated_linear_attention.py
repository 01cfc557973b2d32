"""Linear attention with a decay for each head and position, forward and backward, chunk by chunk.

    tl verify examples/gated_linear_attention.py:forward S=100
    tl verify examples/gated_linear_attention.py:backward S=100

With G the sums of g so far:  O[i] = sum over j <= i of exp(G[i] - G[j]) (Q[i] . K[j]) V[j], as in Mamba-2's scan
and gated retention.  All gradients but g's are the same sum with other tensors, two of them from the end.
That of g is a sum of differences that nearly cancel: it is made of them as they are in float32.
"""
import tilelang
import tilelang.language as T


def scan(B, H, S, D, DV, chunk, dtype, reverse, stages, threads, dotted=False):
    """out[i] = sum over j before i, or behind it, of the decay between them * (a[i] . b[j]) c[j].
    dotted: dots[part, i] = other[i] . out[i] as well, of the columns that a block takes, before they are rounded."""
    p = 1.44269504  # log2(e)
    chunks = T.ceildiv(S, chunk)
    cols = min(DV, 64)  # of c and of the state that a block takes

    @T.macro
    def run(a, b, c, g, out, other=None, dots=None):
        with T.Kernel(T.ceildiv(DV, cols), H, B, threads=threads) as (bv, bh, bb):
            a_s = T.alloc_shared((chunk, D), dtype)
            b_s = T.alloc_shared((chunk, D), dtype)
            c_s = T.alloc_shared((chunk, cols), dtype)
            decayed = T.alloc_shared((chunk, cols), dtype)
            g_s = T.alloc_shared((chunk,), "float32")
            steps = T.alloc_fragment((chunk,), "float32")
            sums = T.alloc_shared((chunk,), "float32")
            scores = T.alloc_fragment((chunk, chunk), "float32")
            weights = T.alloc_fragment((chunk, chunk), dtype)
            state = T.alloc_fragment((D, cols), "float32")
            state_s = T.alloc_shared((D, cols), dtype)
            acc = T.alloc_fragment((chunk, cols), "float32")
            if dotted:
                other_s = T.alloc_shared((chunk, cols), dtype)
                product = T.alloc_fragment((chunk, cols), "float32")
                row = T.alloc_fragment((chunk,), "float32")
            T.clear(state)
            for k in T.Pipelined(chunks, num_stages=stages):
                at = (chunks - 1 - k if reverse else k) * chunk
                T.copy(a[bb, bh, at, 0], a_s)
                T.copy(b[bb, bh, at, 0], b_s)
                T.copy(c[bb, bh, at, bv * cols], c_s)
                T.copy(g[bb, bh, at], g_s)
                if dotted:
                    T.copy(other[bb, bh, at, bv * cols], other_s)
                T.copy(g_s, steps)
                T.cumsum(steps, dim=0)
                T.copy(steps, sums)
                T.copy(state, state_s)
                T.gemm(a_s, state_s, acc, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                T.gemm(a_s, b_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                for i, j in T.Parallel(chunk, cols):
                    far = sums[chunk - 1] - sums[i] if reverse else sums[i]
                    acc[i, j] = acc[i, j] * T.exp2(far * p)
                    left = sums[i] if reverse else sums[chunk - 1] - sums[i]
                    decayed[i, j] = c_s[i, j] * T.exp2(left * p)
                for i, j in T.Parallel(chunk, chunk):
                    near = T.exp2((sums[j] - sums[i] if reverse else sums[i] - sums[j]) * p)
                    weights[i, j] = T.if_then_else(i <= j if reverse else i >= j, scores[i, j] * near, 0)
                T.gemm(weights, c_s, acc, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(D, cols):
                    state[i, j] = state[i, j] * T.exp2(sums[chunk - 1] * p)
                T.gemm(b_s, decayed, state, transpose_A=True, policy=T.GemmWarpPolicy.FullRow)
                if dotted:
                    for i, j in T.Parallel(chunk, cols):
                        product[i, j] = acc[i, j] * other_s[i, j]
                    T.reduce_sum(product, row, dim=1)
                    T.copy(row, dots[bb, bh, bv, at])
                T.copy(acc, out[bb, bh, at, bv * cols])

    return run


@tilelang.jit(out_idx=[-1])
def forward(B=1, H=4, S=256, D=64, DV=64, chunk=64, dtype="float16", stages=2, threads=128):
    run = scan(B, H, S, D, DV, chunk, dtype, False, stages, threads)

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, H, S, D), dtype),
        V: T.Tensor((B, H, S, DV), dtype),
        g: T.Tensor((B, H, S), "float32"),
        O: T.Tensor((B, H, S, DV), dtype),
    ):
        run(Q, K, V, g, O)

    return main


@tilelang.jit(out_idx=[5, 6, 7, 8])
def backward(B=1, H=4, S=256, D=64, DV=64, chunk=64, dtype="float16", stages=2, threads=128):
    for_q = scan(B, H, S, DV, D, chunk, dtype, False, stages, threads, dotted=True)
    for_k = scan(B, H, S, DV, D, chunk, dtype, True, stages, threads, dotted=True)
    for_v = scan(B, H, S, D, DV, chunk, dtype, True, stages, threads)
    chunks, parts = T.ceildiv(S, chunk), T.ceildiv(D, min(D, 64))

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, H, S, D), dtype),
        V: T.Tensor((B, H, S, DV), dtype),
        g: T.Tensor((B, H, S), "float32"),
        dO: T.Tensor((B, H, S, DV), dtype),
        dQ: T.Tensor((B, H, S, D), dtype),
        dK: T.Tensor((B, H, S, D), dtype),
        dV: T.Tensor((B, H, S, DV), dtype),
        dg: T.Tensor((B, H, S), "float32"),
    ):
        dots_q = T.alloc_global((B, H, parts, S), "float32")
        dots_k = T.alloc_global((B, H, parts, S), "float32")
        for_q(dO, V, K, g, dQ, Q, dots_q)
        for_k(V, dO, Q, g, dK, K, dots_k)
        for_v(K, Q, dO, g, dV)
        with T.Kernel(H, B, threads=128) as (bh, bb):  # sums from the end of Q . dQ - K . dK
            row = T.alloc_fragment((chunk,), "float32")
            sums = T.alloc_fragment((chunk,), "float32")
            total = T.alloc_fragment((1,), "float32")
            behind = T.alloc_var("float32")
            behind = 0.0
            for k in T.serial(chunks):
                at = (chunks - 1 - k) * chunk
                T.clear(row)
                for p in T.unroll(parts):
                    for i in T.Parallel(chunk):
                        row[i] += T.if_then_else(at + i < S, dots_q[bb, bh, p, at + i] - dots_k[bb, bh, p, at + i], 0)
                T.cumsum(row, sums, dim=0, reverse=True)
                T.reduce_sum(row, total, dim=0)
                for i in T.Parallel(chunk):
                    if at + i < S:
                        dg[bb, bh, at + i] = sums[i] + behind
                behind += total[0]

    return main


# ---- python3 examples/gated_linear_attention.py --------------------------------------------------

def problem(B, H, S, D, DV, dtype):
    import numpy as np
    from tilelang.script import normal

    Q, K, V, dO = (normal(B, H, S, d, dtype=dtype) for d in (D, D, DV, DV))
    g = (-abs(normal(B, H, S)) * 0.1).astype("float32")
    sums = g.astype("float64").cumsum(-1)
    decay = np.tril(np.exp(np.minimum(sums[..., :, None] - sums[..., None, :], 0)))
    return Q, K, V, g, dO, decay


def verify(B=1, H=2, S=200, D=64, DV=64, dtype="float16"):
    from tilelang.script import check

    Q, K, V, g, dO, decay = problem(B, H, S, D, DV, dtype)
    q, k, v, do = (x.astype("float64") for x in (Q, K, V, dO))
    w = q @ k.swapaxes(2, 3) * decay
    fine = check(forward(B, H, S, D, DV, dtype=dtype), [Q, K, V, g], w @ v, tolerance=4e-3)
    dw = do @ v.swapaxes(2, 3) * decay
    dq, dk, dv = dw @ k, dw.swapaxes(2, 3) @ q, w.swapaxes(2, 3) @ do
    dG = (q * dq - k * dk).sum(-1)
    dg = dG[..., ::-1].cumsum(-1)[..., ::-1]
    return check(backward(B, H, S, D, DV, dtype=dtype), [Q, K, V, g, dO], [dq, dk, dv, dg], tolerance=1e-2) and fine


def bench(B=1, H=8, S=1024, D=64, DV=64, dtype="float16"):
    from tilelang.script import timed

    Q, K, V, g, dO, _ = problem(B, H, S, D, DV, dtype)
    flops = 2 * B * H * S * (64 * (D + DV) + 2 * D * DV)
    timed(forward(B, H, S, D, DV, dtype=dtype), [Q, K, V, g], flops)
    timed(backward(B, H, S, D, DV, dtype=dtype), [Q, K, V, g, dO], 3 * flops)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
