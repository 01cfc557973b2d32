# Attention with masks of all kinds in one kernel.
# verify: :attn causal=True Sq=33 Sk=65
# verify: :attn causal=True window=20 sinks=True dtype=bfloat16 stages=1
# verify: :attn alibi=True HK=1 H=2 Sk=127
# verify: :attn softcap=5.0 HK=4 Sq=1 Sk=63
import tilelang
import tilelang.language as T


# One forward for all masks: causal, window, alibi, softcap, sinks, grouped heads.
@tilelang.jit(out_idx=[-2, -1])
def attn(B=1, H=4, HK=2, Sq=65, Sk=65, D=32, bq=32, bk=32, causal=False, window=0, alibi=False, softcap=0.0, sinks=False, dtype="float16", stages=2):
    scale = D**-0.5
    L2E = 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor((B, Sq, H, D), dtype),
        K: T.Tensor((B, Sk, HK, D), dtype),
        V: T.Tensor((B, Sk, HK, D), dtype),
        Slope: T.Tensor((H,), "float32"),
        Sink: T.Tensor((H,), "float32"),
        O: T.Tensor((B, Sq, H, D), dtype),
        LSE: T.Tensor((B, H, Sq), "float32"),
    ):
        with T.Kernel(T.ceildiv(Sq, bq), H, B, threads=128) as (bx, h, b):
            q = T.alloc_shared((bq, D), dtype)
            k = T.alloc_shared((bk, D), dtype)
            v = T.alloc_shared((bk, D), dtype)
            s = T.alloc_fragment((bq, bk), "float32")
            p = T.alloc_fragment((bq, bk), dtype)
            o = T.alloc_fragment((bq, D), "float32")
            m = T.alloc_fragment((bq,), "float32")
            m_old = T.alloc_fragment((bq,), "float32")
            alpha = T.alloc_fragment((bq,), "float32")
            part = T.alloc_fragment((bq,), "float32")
            l = T.alloc_fragment((bq,), "float32")
            T.copy(Q[b, bx * bq : (bx + 1) * bq, h, :], q)
            T.clear(o)
            T.clear(l)
            T.fill(m, -T.infinity("float32"))
            last = T.ceildiv(T.min(Sk, (bx + 1) * bq + Sk - Sq), bk) if causal else T.ceildiv(Sk, bk)
            first = T.max(0, (bx * bq + Sk - Sq - window + 1) // bk) if window else 0
            for t in T.Pipelined(first, last, num_stages=stages):
                T.copy(K[b, t * bk : (t + 1) * bk, h // (H // HK), :], k)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(bq, bk):
                    s[i, j] = s[i, j] * scale
                if softcap > 0:
                    for i, j in T.Parallel(bq, bk):
                        s[i, j] = softcap * T.tanh(s[i, j] / softcap)
                if alibi:
                    for i, j in T.Parallel(bq, bk):
                        s[i, j] += Slope[h] * (t * bk + j - (bx * bq + i + Sk - Sq))
                for i, j in T.Parallel(bq, bk):
                    qi = bx * bq + i + Sk - Sq
                    kj = t * bk + j
                    keep = kj < Sk
                    if causal:
                        keep = T.And(keep, kj <= qi)
                    if window:
                        keep = T.And(keep, kj > qi - window)
                    s[i, j] = T.if_then_else(keep, s[i, j], -T.infinity("float32"))
                T.copy(m, m_old)
                T.reduce_max(s, m, dim=1, clear=False)
                for i in T.Parallel(bq):
                    alpha[i] = T.if_then_else(m[i] == -T.infinity("float32"), 1.0, T.exp2((m_old[i] - m[i]) * L2E))
                for i, j in T.Parallel(bq, bk):
                    s[i, j] = T.if_then_else(m[i] == -T.infinity("float32"), 0.0, T.exp2((s[i, j] - m[i]) * L2E))
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(bq):
                    l[i] = l[i] * alpha[i] + part[i]
                for i, d in T.Parallel(bq, D):
                    o[i, d] *= alpha[i]
                T.copy(s, p)
                T.copy(V[b, t * bk : (t + 1) * bk, h // (H // HK), :], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            if sinks:
                for i in T.Parallel(bq):
                    l[i] += T.exp2((Sink[h] - m[i]) * L2E)
            for i, d in T.Parallel(bq, D):
                o[i, d] = o[i, d] / l[i]
            T.copy(o, O[b, bx * bq : (bx + 1) * bq, h, :])
            for i in T.Parallel(bq):
                if bx * bq + i < Sq:
                    LSE[b, h, bx * bq + i] = T.log(l[i]) + m[i]

    return main
