"""Causal linear attention: a running state of K^T V, chunk by chunk."""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1], pass_configs={"tl.auto_stages": True})
def linear_attention(B=1, H=4, S=512, D=64, DV=64, chunk=64, dtype="float32"):
    @T.prim_func
    def main(
        Q: T.Tensor((B, H, S, D), dtype),
        K: T.Tensor((B, H, S, D), dtype),
        V: T.Tensor((B, H, S, DV), dtype),
        O: T.Tensor((B, H, S, DV), "float32"),
    ):
        with T.Kernel(H, B, threads=128) as (bh, bb):
            q = T.alloc_shared((chunk, D), dtype)
            k = T.alloc_shared((chunk, D), dtype)
            v = T.alloc_shared((chunk, DV), dtype)
            scores = T.alloc_fragment((chunk, chunk), "float32")
            weights = T.alloc_shared((chunk, chunk), dtype)
            state = T.alloc_fragment((D, DV), "float32")
            state_s = T.alloc_shared((D, DV), dtype)
            out = T.alloc_fragment((chunk, DV), "float32")
            T.clear(state)
            for c in T.Pipelined(T.ceildiv(S, chunk), num_stages=2):
                T.copy(Q[bb, bh, c * chunk, 0], q)
                T.copy(K[bb, bh, c * chunk, 0], k)
                T.copy(V[bb, bh, c * chunk, 0], v)
                T.clear(out)
                T.copy(state, state_s)
                T.gemm(q, state_s, out, precision="float32")
                T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True, precision="float32")
                for i, j in T.Parallel(chunk, chunk):
                    weights[i, j] = T.if_then_else(i >= j, scores[i, j], 0)
                T.gemm(weights, v, out, precision="float32")
                T.gemm(k, v, state, transpose_A=True, precision="float32")
                T.copy(out, O[bb, bh, c * chunk, 0])

    return main


# ---- python3 examples/linear_attention.py --------------------------------------------------------

def verify(B=1, H=4, S=512, D=64):
    import numpy as np
    from tilelang.script import check, normal

    Q, K, V = normal(B, H, S, D), normal(B, H, S, D), normal(B, H, S, D)
    return check(linear_attention(B, H, S, D), [Q, K, V], np.tril(Q @ K.swapaxes(2, 3)) @ V)


def bench(B=1, H=8, S=4096, D=64):
    from tilelang.script import normal, timed

    Q, K, V = normal(B, H, S, D), normal(B, H, S, D), normal(B, H, S, D)
    timed(linear_attention(B, H, S, D), [Q, K, V], 4 * B * H * S * 64 * D)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
