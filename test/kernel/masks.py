# Masks that hide all, some or nothing of a tile, by turns.
# verify: :masks
# verify: :masks N=50 window=7
# verify: :masks N=64 bn=32 window=0
# verify: :masks N=33 bn=16 bm=48 window=40
# verify: :starts
# verify: :starts S=100 causal=True
# verify: :starts S=256 bn=64 causal=True
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def masks(N=96, bm=32, bn=16, window=20):
    @T.prim_func
    def main(X: T.Tensor((N, N), "float32"), Y: T.Tensor((4, N, N), "float32")):
        with T.Kernel(T.ceildiv(N, bm), 4, threads=128) as (bx, by):
            x = T.alloc_fragment((bm, bn), "float32")
            for k in T.serial(T.ceildiv(N, bn)):
                T.copy(X[bx * bm, k * bn], x)
                if by == 0:
                    for i, j in T.Parallel(bm, bn):
                        x[i, j] = T.if_then_else(k * bn + j <= bx * bm + i, x[i, j], -1)
                if by == 1:
                    for i, j in T.Parallel(bm, bn):
                        q = bx * bm + i
                        kv = k * bn + j
                        x[i, j] = T.if_then_else(T.Or(kv > q, q - window > kv), -2, x[i, j])
                if by == 2:
                    for i, j in T.Parallel(bm, bn):
                        near = T.And(2 * (k * bn + j) - (bx * bm + i) < window, j != 3)
                        x[i, j] = T.if_then_else(T.Not(near), x[i, j], x[i, j] * 2)
                if by == 3:
                    for i, j in T.Parallel(bm, bn):
                        x[i, j] = T.if_then_else(
                            k * bn + j < N - 10, T.if_then_else(bx * bm + i >= k * bn - j, x[i, j], 5), -3
                        )
                T.copy(x, Y[by, bx * bm : (bx + 1) * bm, k * bn : (k + 1) * bn])

    return main


@tilelang.jit(out_idx=[-1])
def starts(S=192, bm=64, bn=32, causal=False):
    @T.prim_func
    def main(A: T.Tensor((S, 64), "float16"), B: T.Tensor((S, 64), "float16"), C: T.Tensor((S, S), "float32")):
        with T.Kernel(T.ceildiv(S, bm), threads=128) as bx:
            A_s = T.alloc_shared((bm, 64), "float16")
            B_s = T.alloc_shared((bn, 64), "float16")
            c = T.alloc_fragment((bm, bn), "float32")
            T.copy(A[bx * bm, 0], A_s)
            for k in T.Pipelined(T.ceildiv(S, bn), num_stages=2):
                T.copy(B[k * bn, 0], B_s)
                for i, j in T.Parallel(bm, bn):
                    if causal:
                        c[i, j] = T.if_then_else(bx * bm + i >= k * bn + j, 0, -1000)
                    else:
                        c[i, j] = T.if_then_else(k * bn + j >= S - 40, -1000, 0)
                T.gemm(A_s, B_s, c, transpose_B=True)
                T.copy(c, C[bx * bm, k * bn])

    return main
