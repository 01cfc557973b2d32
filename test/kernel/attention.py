# Attention on Hopper: ping-pong of two or three warpgroups, short and ragged loops, uneven blocks.
# verify: :attention --warns=ignored
# verify: :attention S=64 --warns=ignored
# verify: :attention S=200 causal=True --warns=ignored
# verify: :attention block_M=192 threads=384 S=400 causal=True --warns=ignored
# verify: :attention block_M=192 threads=384 S=130 D=32 --warns=ignored
# verify: :attention block_N=48 S=250 --warns=ignored
# verify: :attention H=4 groups=2 B=2 S=160 causal=True --warns=ignored
# verify: :attention H=3 B=2 S=128 block_M=128 --warns=ignored
# verify: :attention H=3 S=300 block_M=192 threads=384 --warns=ignored
# verify: :attention S=300 D=128 block_N=128 threads=128 stages=1 --warns=ignored
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1], pass_configs={"tl.persistent_blocks": 2, "tl.auto_stages": True})
def attention(B=1, H=1, S=256, D=64, groups=1, causal=False, block_M=128, block_N=64, threads=256, stages=2):
    scale = (1.0 / D) ** 0.5 * 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor((B, S, H, D), "float16"),
        K: T.Tensor((B, S, H // groups, D), "float16"),
        V: T.Tensor((B, S, H // groups, D), "float16"),
        O: T.Tensor((B, S, H, D), "float16"),
    ):
        with T.Kernel(T.ceildiv(S, block_M), H, B, threads=threads) as (bx, by, bz):
            Q_s = T.alloc_shared((block_M, D), "float16")
            K_s = T.alloc_shared((block_N, D), "float16")
            V_s = T.alloc_shared((block_N, D), "float16")
            x = T.alloc_fragment((block_M, block_N), "float32")
            p = T.alloc_fragment((block_M, block_N), "float16")
            acc = T.alloc_fragment((block_M, D), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            top = T.alloc_fragment((block_M,), "float32")
            shrink = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            T.copy(Q[bz, bx * block_M : (bx + 1) * block_M, by, :], Q_s)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            turns = (
                T.min(T.ceildiv(S, block_N), T.ceildiv((bx + 1) * block_M, block_N))
                if causal
                else T.ceildiv(S, block_N)
            )
            for k in T.Pipelined(turns, num_stages=stages):
                T.copy(K[bz, k * block_N : (k + 1) * block_N, by // groups, :], K_s)
                for i, j in T.Parallel(block_M, block_N):
                    if causal:
                        x[i, j] = T.if_then_else(bx * block_M + i >= k * block_N + j, 0, -1e30)
                    else:
                        x[i, j] = T.if_then_else(k * block_N + j >= S, -1e30, 0)
                T.gemm(Q_s, K_s, x, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.fill(top, -T.infinity("float32"))
                T.reduce_max(x, top, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    top[i] = T.max(top[i], before[i])
                for i in T.Parallel(block_M):
                    shrink[i] = T.exp2(before[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_M, block_N):
                    x[i, j] = T.exp2(x[i, j] * scale - top[i] * scale)
                T.reduce_sum(x, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * shrink[i] + part[i]
                T.copy(x, p)
                for i, j in T.Parallel(block_M, D):
                    acc[i, j] *= shrink[i]
                T.copy(V[bz, k * block_N : (k + 1) * block_N, by // groups, :], V_s)
                T.gemm(p, V_s, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, D):
                acc[i, j] /= total[i]
            T.copy(acc, O[bz, bx * block_M : (bx + 1) * block_M, by, :])

    return main
