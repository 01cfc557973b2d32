"""10. Attention in one pass.

softmax(Q K^T) V for one head, without the S x S scores in memory.  Keys come 64 at a time.  For each
query the loop keeps the largest score so far (`top`), the sum of exp(score - top) (`total`), and the
sum of exp(score - top) times the values (`acc`).  When a larger score turns up, what was summed
before was exp(... - before) and has to become exp(... - top).  What factor is that?
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def attention(S=256, D=32):
    @T.prim_func
    def main(Q: T.Tensor((S, D), "float32"), K: T.Tensor((S, D), "float32"), V: T.Tensor((S, D), "float32"),
             O: T.Tensor((S, D), "float32")):
        with T.Kernel(S // 64, threads=128) as bx:
            q = T.alloc_shared((64, D), "float32")
            k = T.alloc_shared((64, D), "float32")
            v = T.alloc_shared((64, D), "float32")
            p = T.alloc_fragment((64, 64), "float32")
            acc = T.alloc_fragment((64, D), "float32")
            top = T.alloc_fragment((64,), "float32")
            before = T.alloc_fragment((64,), "float32")
            total = T.alloc_fragment((64,), "float32")
            part = T.alloc_fragment((64,), "float32")
            T.copy(Q[bx * 64, 0], q)
            T.clear(acc)
            T.clear(total)
            T.fill(top, -T.infinity("float32"))
            for n in T.Pipelined(S // 64, num_stages=2):
                T.copy(K[n * 64, 0], k)
                T.copy(V[n * 64, 0], v)
                T.clear(p)
                T.gemm(q, k, p, transpose_B=True)
                T.copy(top, before)
                T.reduce_max(p, top, dim=1, clear=False)
                for i, j in T.Parallel(64, 64):
                    p[i, j] = T.exp(p[i, j] - top[i])
                T.reduce_sum(p, part, dim=1)
                # ---- your turn: total and acc as if top had always been what it is now
                for i in T.Parallel(64):
                    total[i] = total[i] + part[i]
                # ---- end
                T.gemm(p, v, acc)
            for i, j in T.Parallel(64, D):
                acc[i, j] = acc[i, j] / total[i]
            T.copy(acc, O[bx * 64, 0])

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    Q, K, V = normal(256, 32), normal(256, 32), normal(256, 32)
    p = np.exp((Q @ K.T).astype("float64") - (Q @ K.T).max(1, keepdims=True))
    return check(attention(), [Q, K, V, np.zeros_like(Q)], p / p.sum(1, keepdims=True) @ V)


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
