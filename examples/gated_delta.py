"""The gated delta rule, chunk by chunk: a gate for each position (GDN), or for each position and channel (KDA).

    tl verify examples/gated_delta.py:gdn S=100
    tl verify examples/gated_delta.py:kda S=100

Position by position:  S *= exp(g);  S += k (beta (v - k . S));  o = q . S.  Within a chunk the corrections u solve
(I + A) u = beta (v - decayed k . S) with A[i, j] = beta[i] (k[i] . k[j], decayed from j to i) below the diagonal.
The first kernel inverts I + A for all chunks at once, a thread a column, and leaves W and U: u = U - W S.
The second goes from chunk to chunk.  Keys are of length 1; gates of channels are above -5, in float16 above -1.
"""
import tilelang
import tilelang.language as T

LOG2E = 1.44269504
CHUNK, ROWS = 64, 16  # positions of a chunk; those that channels' decays are counted from the middle of


@T.macro
def invert(below, x):
    """Column tx of the inverse of I + A into x; below[j, i] is A[i, j], 0 where i <= j."""
    tx = T.get_thread_binding()
    if tx < CHUNK:
        for i in T.unroll(CHUNK):
            x[i] = T.if_then_else(i == tx, 1.0, 0.0)
        for j in T.unroll(CHUNK - 1):
            for i in T.unroll(CHUNK):
                if i > j:
                    x[i] -= below[j, i] * x[j]


def solve(D, DV, dtype):
    """W and U of a chunk from the columns of the inverse, and keys that are decayed from the chunk's start."""

    @T.macro
    def run(below, beta_s, keys_s, V_s, W, U, bb, bh, at):
        x = T.alloc_local((CHUNK,), "float32")
        inverse = T.alloc_shared((CHUNK, CHUNK), dtype)
        w = T.alloc_fragment((CHUNK, D), "float32")
        u = T.alloc_fragment((CHUNK, DV), "float32")
        invert(below, x)
        tx = T.get_thread_binding()
        if tx < CHUNK:
            for i in T.unroll(CHUNK):
                inverse[i, tx] = x[i] * beta_s[tx]
        T.gemm(inverse, keys_s, w, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
        T.copy(w, W[bb, bh, at, 0])
        T.gemm(inverse, V_s, u, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
        T.copy(u, U[bb, bh, at, 0])

    return run


@tilelang.jit(out_idx=[-1])
def gdn(B=1, H=2, S=256, D=64, DV=64, dtype="bfloat16", cols=None, stages=2, threads=128):
    chunks = T.ceildiv(S, CHUNK)
    cols = cols or min(DV, 64)  # of V and of the state that a block takes
    solved = solve(D, DV, dtype)

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, H, S, D), dtype),
        V: T.Tensor((B, H, S, DV), dtype),
        g: T.Tensor((B, H, S), "float32"),
        beta: T.Tensor((B, H, S), "float32"),
        O: T.Tensor((B, H, S, DV), dtype),
    ):
        W = T.alloc_global((B, H, chunks * CHUNK, D), dtype)
        U = T.alloc_global((B, H, chunks * CHUNK, DV), dtype)
        G = T.alloc_global((B, H, chunks * CHUNK), "float32")

        with T.Kernel(chunks, H, B, threads=threads) as (bc, bh, bb):
            K_s = T.alloc_shared((CHUNK, D), dtype)
            V_s = T.alloc_shared((CHUNK, DV), dtype)
            sums = T.alloc_fragment((CHUNK,), "float32")
            sums_s = T.alloc_shared((CHUNK,), "float32")
            beta_s = T.alloc_shared((CHUNK,), "float32")
            scores = T.alloc_fragment((CHUNK, CHUNK), "float32")
            below = T.alloc_shared((CHUNK, CHUNK), "float32")
            keys_s = T.alloc_shared((CHUNK, D), dtype)
            at = bc * CHUNK
            T.copy(K[bb, bh, at, 0], K_s)
            T.copy(V[bb, bh, at, 0], V_s)
            T.copy(g[bb, bh, at], sums)
            T.copy(beta[bb, bh, at], beta_s)
            T.cumsum(sums, dim=0)
            T.copy(sums, sums_s)
            T.copy(sums, G[bb, bh, at])
            T.gemm(K_s, K_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
            for j, i in T.Parallel(CHUNK, CHUNK):
                decay = T.exp2((sums_s[i] - sums_s[j]) * LOG2E)
                below[j, i] = T.if_then_else(i > j, scores[j, i] * decay * beta_s[i], 0)
            for i, j in T.Parallel(CHUNK, D):
                keys_s[i, j] = K_s[i, j] * T.exp2(sums_s[i] * LOG2E)
            solved(below, beta_s, keys_s, V_s, W, U, bb, bh, at)

        with T.Kernel(T.ceildiv(DV, cols), H, B, threads=threads) as (bv, bh, bb):
            Q_s = T.alloc_shared((CHUNK, D), dtype)
            K_s = T.alloc_shared((CHUNK, D), dtype)
            W_s = T.alloc_shared((CHUNK, D), dtype)
            U_s = T.alloc_shared((CHUNK, cols), dtype)
            G_s = T.alloc_shared((CHUNK,), "float32")
            state = T.alloc_fragment((D, cols), "float32")
            state_s = T.alloc_shared((D, cols), dtype)
            scores = T.alloc_fragment((CHUNK, CHUNK), "float32")
            weights = T.alloc_fragment((CHUNK, CHUNK), dtype)
            u = T.alloc_fragment((CHUNK, cols), "float32")
            u_s = T.alloc_shared((CHUNK, cols), dtype)
            left_s = T.alloc_shared((CHUNK, cols), dtype)
            out = T.alloc_fragment((CHUNK, cols), "float32")
            T.clear(state)
            for k in T.Pipelined(chunks, num_stages=stages):
                at = k * CHUNK
                T.copy(W[bb, bh, at, 0], W_s)
                T.copy(U[bb, bh, at, bv * cols], U_s)
                T.copy(Q[bb, bh, at, 0], Q_s)
                T.copy(K[bb, bh, at, 0], K_s)
                T.copy(G[bb, bh, at], G_s)
                T.copy(state, state_s)
                T.gemm(W_s, state_s, u, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                T.gemm(Q_s, state_s, out, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                T.gemm(Q_s, K_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                for i, j in T.Parallel(CHUNK, cols):
                    u[i, j] = U_s[i, j] - u[i, j]
                    u_s[i, j] = u[i, j]
                    left_s[i, j] = u[i, j] * T.exp2((G_s[CHUNK - 1] - G_s[i]) * LOG2E)
                    out[i, j] = out[i, j] * T.exp2(G_s[i] * LOG2E)
                for i, j in T.Parallel(CHUNK, CHUNK):
                    weights[i, j] = T.if_then_else(i >= j, scores[i, j] * T.exp2((G_s[i] - G_s[j]) * LOG2E), 0)
                T.gemm(weights, u_s, out, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(D, cols):
                    state[i, j] = state[i, j] * T.exp2(G_s[CHUNK - 1] * LOG2E)
                T.gemm(K_s, left_s, state, transpose_A=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(out, O[bb, bh, at, bv * cols])

    return main


@tilelang.jit(out_idx=[-1])
def kda(B=1, H=2, S=256, D=64, DV=64, dtype="bfloat16", cols=None, stages=2, threads=128):
    chunks = T.ceildiv(S, CHUNK)
    cols = cols or min(DV, 64)
    solved = solve(D, DV, dtype)

    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, H, S, D), dtype),
        V: T.Tensor((B, H, S, DV), dtype),
        g: T.Tensor((B, H, S, D), "float32"),
        beta: T.Tensor((B, H, S), "float32"),
        O: T.Tensor((B, H, S, DV), dtype),
    ):
        W = T.alloc_global((B, H, chunks * CHUNK, D), dtype)
        U = T.alloc_global((B, H, chunks * CHUNK, DV), dtype)
        near = T.alloc_global((B, H, chunks * CHUNK, CHUNK), dtype)  # q . k within a chunk, decayed
        before = T.alloc_global((B, H, chunks * CHUNK, D), dtype)  # Q, decayed from the start of the chunk
        behind = T.alloc_global((B, H, chunks * CHUNK, D), dtype)  # K, decayed to its end
        whole = T.alloc_global((B, H, chunks, D), "float32")  # what is left of the state behind a chunk

        with T.Kernel(chunks, H, B, threads=threads * (2 if min(D, DV) >= 128 else 1)) as (bc, bh, bb):
            Q_s = T.alloc_shared((CHUNK, D), dtype)
            K_s = T.alloc_shared((CHUNK, D), dtype)
            V_s = T.alloc_shared((CHUNK, DV), dtype)
            sums_s = T.alloc_shared((CHUNK, D), "float32")
            beta_s = T.alloc_shared((CHUNK,), "float32")
            keys_s = T.alloc_shared((CHUNK, D), dtype)
            rows_s = T.alloc_shared((2 * ROWS, D), dtype)
            scores = T.alloc_fragment((CHUNK, 2 * ROWS), "float32")
            below = T.alloc_shared((CHUNK, CHUNK), "float32")
            near_s = T.alloc_shared((CHUNK, CHUNK), dtype)
            at = bc * CHUNK
            T.copy(Q[bb, bh, at, 0], Q_s)
            T.copy(K[bb, bh, at, 0], K_s)
            T.copy(g[bb, bh, at, 0], sums_s)
            T.copy(beta[bb, bh, at], beta_s)
            T.cumsum(sums_s, dim=0)
            for r in T.unroll(CHUNK // ROWS):
                middle = r * ROWS + ROWS // 2
                for j, d in T.Parallel(CHUNK, D):
                    keys_s[j, d] = K_s[j, d] * T.exp2((sums_s[middle, d] - sums_s[j, d]) * LOG2E)
                for i, d in T.Parallel(ROWS, D):
                    decay = T.exp2((sums_s[r * ROWS + i, d] - sums_s[middle, d]) * LOG2E)
                    rows_s[i, d] = K_s[r * ROWS + i, d] * decay
                    rows_s[ROWS + i, d] = Q_s[r * ROWS + i, d] * decay
                T.gemm(keys_s, rows_s, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                for j, i in T.Parallel(CHUNK, ROWS):
                    below[j, r * ROWS + i] = T.if_then_else(r * ROWS + i > j, scores[j, i] * beta_s[r * ROWS + i], 0)
                for j, i in T.Parallel(CHUNK, ROWS):
                    near_s[r * ROWS + i, j] = T.if_then_else(r * ROWS + i >= j, scores[j, ROWS + i], 0)
            T.copy(near_s, near[bb, bh, at, 0])
            for i, d in T.Parallel(CHUNK, D):
                decay = T.exp2(sums_s[i, d] * LOG2E)
                keys_s[i, d] = K_s[i, d] * decay
                before[bb, bh, at + i, d] = Q_s[i, d] * decay
                behind[bb, bh, at + i, d] = K_s[i, d] * T.exp2((sums_s[CHUNK - 1, d] - sums_s[i, d]) * LOG2E)
            for d in T.Parallel(D):
                whole[bb, bh, bc, d] = T.exp2(sums_s[CHUNK - 1, d] * LOG2E)
            T.copy(V[bb, bh, at, 0], V_s)  # late: where Q was
            solved(below, beta_s, keys_s, V_s, W, U, bb, bh, at)

        with T.Kernel(T.ceildiv(DV, cols), H, B, threads=threads) as (bv, bh, bb):
            Q_s = T.alloc_shared((CHUNK, D), dtype)
            K_s = T.alloc_shared((CHUNK, D), dtype)
            W_s = T.alloc_shared((CHUNK, D), dtype)
            U_s = T.alloc_shared((CHUNK, cols), dtype)
            near_s = T.alloc_shared((CHUNK, CHUNK), dtype)
            decay_s = T.alloc_shared((D,), "float32")
            state = T.alloc_fragment((D, cols), "float32")
            state_s = T.alloc_shared((D, cols), dtype)
            u = T.alloc_fragment((CHUNK, cols), "float32")
            u_s = T.alloc_shared((CHUNK, cols), dtype)
            out = T.alloc_fragment((CHUNK, cols), "float32")
            T.clear(state)
            for k in T.Pipelined(chunks, num_stages=stages):
                at = k * CHUNK
                T.copy(W[bb, bh, at, 0], W_s)
                T.copy(U[bb, bh, at, bv * cols], U_s)
                T.copy(before[bb, bh, at, 0], Q_s)
                T.copy(behind[bb, bh, at, 0], K_s)
                T.copy(near[bb, bh, at, 0], near_s)
                T.copy(whole[bb, bh, k, 0], decay_s)
                T.copy(state, state_s)
                T.gemm(W_s, state_s, u, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                T.gemm(Q_s, state_s, out, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
                for i, j in T.Parallel(CHUNK, cols):
                    u_s[i, j] = U_s[i, j] - u[i, j]
                T.gemm(near_s, u_s, out, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(D, cols):
                    state[i, j] = state[i, j] * decay_s[i]
                T.gemm(K_s, u_s, state, transpose_A=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(out, O[bb, bh, at, bv * cols])

    return main


# ---- python3 examples/gated_delta.py -------------------------------------------------------------

def problem(B, H, S, D, DV, dtype, channels):
    import numpy as np
    from tilelang.script import normal, rounded

    Q, V = normal(B, H, S, D, dtype=dtype), normal(B, H, S, DV, dtype=dtype)
    K = normal(B, H, S, D)
    K = rounded(K / np.sqrt((K * K).sum(-1, keepdims=True)), dtype)
    shape = (B, H, S, D) if channels else (B, H, S)
    g = (-abs(normal(*shape)) * 0.1).astype("float32")
    return [Q, K, V, g, (1 / (1 + np.exp(-normal(B, H, S)))).astype("float32")]


def reference(Q, K, V, g, beta):
    import numpy as np

    q, k, v, g, beta = (x.astype("float64") for x in (Q, K, V, g, beta))
    g = g if g.ndim == 4 else g[..., None]
    state, out = np.zeros((*q.shape[:2], q.shape[3], v.shape[3])), np.zeros(v.shape)
    for t in range(q.shape[2]):
        state *= np.exp(g[:, :, t])[..., None]
        u = beta[:, :, t, None] * (v[:, :, t] - np.einsum("bhd,bhdv->bhv", k[:, :, t], state))
        state += k[:, :, t, :, None] * u[:, :, None]
        out[:, :, t] = np.einsum("bhd,bhdv->bhv", q[:, :, t], state)
    return out


def verify(B=1, H=2, S=200, D=64, DV=64, dtype="float16"):
    from tilelang.script import check

    fine, tolerance = True, 8e-3 if dtype == "float16" else 6e-2
    for make, channels in ((gdn, False), (kda, True)):
        inputs = problem(B, H, S, D, DV, dtype, channels)
        fine &= check(make(B, H, S, D, DV, dtype), inputs, reference(*inputs), tolerance=tolerance)
    return fine


def bench(B=1, H=4, S=512, D=64, DV=64, dtype="float16"):
    from tilelang.script import timed

    flops = 2 * B * H * S * (CHUNK * (3 * D + 2 * DV) + 3 * D * DV)
    for make, channels in ((gdn, False), (kda, True)):
        timed(make(B, H, S, D, DV, dtype), problem(B, H, S, D, DV, dtype, channels), flops)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
