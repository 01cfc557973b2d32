"""Mamba-2 chunk scan: what a chunk adds inside itself, and what it takes from the state before it.

Per head, with decay `dA` already summed inside the chunk:
    out[l] = exp(dA[l]) * C[l] @ state  +  sum over s <= l of (C[l] . B[s]) exp(dA[l]-dA[s]) dt[s] x[s]
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def mamba_chunk_scan(batch=1, chunks=4, L=64, heads=4, D=64, N=32, dtype="float32"):
    p = 1.44269504  # log2(e)

    @T.prim_func
    def main(
        Cm: T.Tensor((batch, chunks, L, N), dtype),
        Bm: T.Tensor((batch, chunks, L, N), dtype),
        X: T.Tensor((batch, chunks, heads, L, D), dtype),
        dt: T.Tensor((batch, heads, chunks, L), dtype),
        dA: T.Tensor((batch, heads, chunks, L), dtype),
        state: T.Tensor((batch, chunks, heads, D, N), dtype),
        Out: T.Tensor((batch, chunks, heads, L, D), "float32"),
    ):
        with T.Kernel(chunks, heads, batch, threads=128) as (bc, bh, bb):
            C_s = T.alloc_shared((L, N), dtype)
            B_s = T.alloc_shared((L, N), dtype)
            X_s = T.alloc_shared((L, D), dtype)
            S_s = T.alloc_shared((D, N), dtype)
            dt_l = T.alloc_fragment((L,), "float32")
            dA_l = T.alloc_fragment((L,), "float32")
            cb = T.alloc_fragment((L, L), "float32")
            weights = T.alloc_fragment((L, L), dtype)
            acc = T.alloc_fragment((L, D), "float32")

            T.copy(Cm[bb, bc, 0:L, 0:N], C_s)
            T.copy(Bm[bb, bc, 0:L, 0:N], B_s)
            T.copy(X[bb, bc, bh, 0:L, 0:D], X_s)
            T.copy(state[bb, bc, bh, 0:D, 0:N], S_s)
            T.copy(dt[bb, bh, bc, 0:L], dt_l)
            T.copy(dA[bb, bh, bc, 0:L], dA_l)

            T.clear(acc)
            T.gemm(C_s, S_s, acc, transpose_B=True, precision="float32")
            for i, j in T.Parallel(L, D):
                acc[i, j] = acc[i, j] * T.exp2(dA_l[i] * p)
            T.clear(cb)
            T.gemm(C_s, B_s, cb, transpose_B=True, precision="float32")
            for i, j in T.Parallel(L, L):
                weights[i, j] = T.if_then_else(
                    i >= j, cb[i, j] * T.exp2((dA_l[i] - dA_l[j]) * p) * dt_l[j], 0
                )
            T.gemm(weights, X_s, acc, precision="float32")
            T.copy(acc, Out[bb, bc, bh, 0:L, 0:D])

    return main


# ---- python3 examples/mamba_chunk_scan.py --------------------------------------------------------

def verify(batch=1, chunks=4, L=64, heads=4, D=64, N=32):
    import numpy as np
    from tilelang.script import check, normal

    Cm, Bm = normal(batch, chunks, L, N), normal(batch, chunks, L, N)
    X, state = normal(batch, chunks, heads, L, D), normal(batch, chunks, heads, D, N)
    dt, dA = abs(normal(batch, heads, chunks, L)), -abs(normal(batch, heads, chunks, L)).cumsum(-1)
    a, step = dA.swapaxes(1, 2), dt.swapaxes(1, 2)  # batch, chunks, heads, L
    decay = np.exp(np.minimum(a[..., :, None] - a[..., None, :], 0))
    weights = np.tril((Cm @ Bm.swapaxes(2, 3))[:, :, None] * decay * step[..., None, :])
    want = np.exp(a)[..., None] * (Cm[:, :, None] @ state.swapaxes(3, 4)) + weights @ X
    return check(mamba_chunk_scan(batch, chunks, L, heads, D, N), [Cm, Bm, X, dt, dA, state], want)


def bench(batch=1, chunks=16, L=64, heads=16, D=64, N=64):
    from tilelang.script import normal, timed

    Cm, Bm = normal(batch, chunks, L, N), normal(batch, chunks, L, N)
    X, state = normal(batch, chunks, heads, L, D), normal(batch, chunks, heads, D, N)
    dt, dA = abs(normal(batch, heads, chunks, L)), -abs(normal(batch, heads, chunks, L)).cumsum(-1)
    flops = 2 * batch * chunks * heads * L * (L * N + L * D + N * D)
    timed(mamba_chunk_scan(batch, chunks, L, heads, D, N), [Cm, Bm, X, dt, dA, state], flops)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
