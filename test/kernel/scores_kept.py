# Attention over as many keys as a tensor says, which keeps the maximum of each block of keys: a column of a
# shared tile for each iteration.  The MMA that reads its operand from registers overlaps the next.
# verify: :scores
# verify: :scores stages=2
# verify: :scores S=320 block=64
# verify: :scores known=False
import tilelang
import tilelang.language as T


@tilelang.jit
def scores(S=256, D=64, block=128, stages=1, known=True):
    @T.prim_func
    def main(
        Q: T.Tensor((64, D), "float16"),
        K: T.Tensor((S, D), "float16"),
        V: T.Tensor((S, D), "float16"),
        N: T.Tensor((1,), "int32"),
        O: T.Tensor((64, D), "float32"),
        M: T.Tensor((64, T.ceildiv(S, block)), "float32"),
    ):
        with T.Kernel(1, threads=128) as _:
            Q_s = T.alloc_shared((64, D), "float16")
            K_s = T.alloc_shared((block, D), "float16")
            V_s = T.alloc_shared((block, D), "float16")
            M_s = T.alloc_shared((64, T.ceildiv(S, block)), "float32")
            p = T.alloc_fragment((64, block), "float32")
            p16 = T.alloc_fragment((64, block), "float16")
            o = T.alloc_fragment((64, D), "float32")
            top = T.alloc_fragment((64,), "float32")
            before = T.alloc_fragment((64,), "float32")
            keys = T.if_then_else(N[0] > 0, S, S - 3) if known else N[0]
            T.copy(Q, Q_s)
            T.fill(o, 0)
            T.fill(top, -T.infinity("float32"))
            for i, j in T.Parallel(64, T.ceildiv(S, block)):
                M_s[i, j] = 0
            for k in T.Pipelined(T.ceildiv(keys // 1, block), num_stages=stages):
                T.copy(K[k * block, 0], K_s)
                T.clear(p)
                T.gemm(Q_s, K_s, p, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(64, block):
                    p[i, j] = T.if_then_else(k * block + j < keys, p[i, j] * 0.05, -T.infinity("float32"))
                T.copy(top, before)
                T.reduce_max(p, top, dim=1, clear=False)
                T.copy(top, M_s[:, k])
                for i, j in T.Parallel(64, block):
                    p[i, j] = T.exp2(p[i, j] - top[i])
                T.copy(p, p16)
                for i, j in T.Parallel(64, D):
                    o[i, j] *= T.exp2(before[i] - top[i])
                T.copy(V[k * block, 0], V_s)
                T.gemm(p16, V_s, o, policy=T.GemmWarpPolicy.FullRow)
            T.copy(o, O)
            T.copy(M_s, M)

    return main
