# Blocks of 64, 96, 160, 192 and 320 threads, tiles that no power of two divides, indices of 64 bits.
# verify: :rowsum
# verify: :colmax
# verify: :gemm_tn
# verify: :gemm_tn threads=192 dtype=bfloat16
# verify: :scan_rows
# verify: :scan_rows reverse=True threads=160
# verify: :transpose3
# verify: :absmax_quant
# verify: :tile3d
# verify: :topk
# verify: :scatter_add
# verify: :argmax
# verify: :exclusive
# verify: :attn_bias
import tilelang
import tilelang.language as T


@tilelang.jit
def rowsum(M=37, N=300, threads=96):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), O: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, 5), threads=threads) as bx:
            a = T.alloc_fragment((5, N), "float32")
            s = T.alloc_fragment((5,), "float32")
            T.copy(A[bx * 5, 0], a)
            T.reduce_sum(a, s, dim=1)
            T.copy(s, O[bx * 5])

    return main


@tilelang.jit
def colmax(M=53, N=70, threads=192):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int32"), O: T.Tensor((N,), "int32")):
        with T.Kernel(T.ceildiv(N, 24), threads=threads) as bx:
            a = T.alloc_shared((M, 24), "int32")
            f = T.alloc_fragment((M, 24), "int32")
            s = T.alloc_fragment((24,), "int32")
            T.fill(a, -2147483647)
            T.copy(A[0, bx * 24], a)
            T.copy(a, f)
            T.reduce_max(f, s, dim=0)
            T.copy(s, O[bx * 24])

    return main


@tilelang.jit
def gemm_tn(M=70, N=45, K=100, bm=64, bn=32, bk=32, threads=320, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((K, M), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((bk, bm), dtype)
            b = T.alloc_shared((bn, bk), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[k * bk, by * bm], a)
                T.copy(B[bx * bn, k * bk], b)
                T.gemm(a, b, c, transpose_A=True, transpose_B=True)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def scan_rows(M=9, N=130, threads=96, reverse=False):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), O: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, 4), threads=threads) as bx:
            a = T.alloc_shared((4, N), "float32")
            T.copy(A[bx * 4, 0], a)
            T.cumsum(a, dim=1, reverse=reverse)
            T.copy(a, O[bx * 4, 0])

    return main


@tilelang.jit
def transpose3(B=3, M=21, N=35, threads=192):
    @T.prim_func
    def main(A: T.Tensor((B, M, N), "float16"), O: T.Tensor((N, B, M), "float16")):
        with T.Kernel(T.ceildiv(N, 16), T.ceildiv(M, 16), B, threads=threads) as (bx, by, bz):
            a = T.alloc_shared((16, 17), "float16")
            for i, j in T.Parallel(16, 16):
                if by * 16 + i < M and bx * 16 + j < N:
                    a[i, j] = A[bz, by * 16 + i, bx * 16 + j]
            for j, i in T.Parallel(16, 16):
                if by * 16 + i < M and bx * 16 + j < N:
                    O[bx * 16 + j, bz, by * 16 + i] = a[i, j]

    return main


@tilelang.jit
def absmax_quant(M=17, N=96, threads=192):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Q: T.Tensor((M, N), "int8"), S: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, 3), threads=threads) as bx:
            x = T.alloc_fragment((3, N), "float32")
            m = T.alloc_fragment((3,), "float32")
            T.copy(X[bx * 3, 0], x)
            T.reduce_absmax(x, m, dim=1)
            for i in T.Parallel(3):
                m[i] = T.max(m[i], 1e-4) / 127
                if bx * 3 + i < M:
                    S[bx * 3 + i] = m[i]
            for i, j in T.Parallel(3, N):
                if bx * 3 + i < M:
                    Q[bx * 3 + i, j] = T.cast(T.round(x[i, j] / m[i]), "int8")

    return main


@tilelang.jit
def tile3d(A0=5, A1=9, A2=14, threads=96):
    @T.prim_func
    def main(X: T.Tensor((A0, A1, A2), "float32"), Y: T.Tensor((A0, A2), "float32"), Z: T.Tensor((A1, A2), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            x = T.alloc_fragment((A0, A1, A2), "float32")
            y = T.alloc_fragment((A0, A2), "float32")
            z = T.alloc_fragment((A1, A2), "float32")
            T.copy(X, x)
            T.reduce_sum(x, y, dim=1)
            T.reduce_max(x, z, dim=0)
            T.copy(y, Y)
            T.copy(z, Z)

    return main


@tilelang.jit
def topk(M=11, N=50, K=3, threads=64):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), V: T.Tensor((M, K), "float32"), I: T.Tensor((M, K), "int32")):
        with T.Kernel(T.ceildiv(M, 4), threads=threads) as bx:
            x = T.alloc_fragment((4, N), "float32")
            idx = T.alloc_fragment((4, N), "int32")
            m = T.alloc_fragment((4,), "float32")
            at = T.alloc_fragment((4,), "int32")
            T.copy(X[bx * 4, 0], x)
            for k in T.serial(K):
                T.reduce_max(x, m, dim=1)
                for i, j in T.Parallel(4, N):
                    idx[i, j] = T.if_then_else(x[i, j] == m[i], j, N)
                T.reduce_min(idx, at, dim=1)
                for i, j in T.Parallel(4, N):
                    x[i, j] = T.if_then_else(j == at[i], -1e30, x[i, j])
                for i in T.Parallel(4):
                    if bx * 4 + i < M:
                        V[bx * 4 + i, k] = m[i]
                        I[bx * 4 + i, k] = at[i]

    return main


@tilelang.jit
def scatter_add(N=90, D=8, R=11, threads=192):
    @T.prim_func
    def main(X: T.Tensor((N, D), "float32"), I: T.Tensor((N,), "int64"), O: T.Tensor((R, D), "float32")):
        with T.Kernel(T.ceildiv(N, 24), threads=threads) as bx:
            for i, j in T.Parallel(24, D):
                if bx * 24 + i < N:
                    T.atomic_add(O[I[bx * 24 + i] % R, j], X[bx * 24 + i, j])

    return main


@tilelang.jit
def argmax(M=13, N=77, threads=64):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), O: T.Tensor((M,), "int64")):
        with T.Kernel(T.ceildiv(M, 2), threads=threads) as bx:
            x = T.alloc_fragment((2, N), "float32")
            idx = T.alloc_fragment((2, N), "int64")
            m = T.alloc_fragment((2,), "float32")
            at = T.alloc_fragment((2,), "int64")
            T.copy(X[bx * 2, 0], x)
            T.reduce_max(x, m, dim=1)
            for i, j in T.Parallel(2, N):
                idx[i, j] = T.if_then_else(x[i, j] == m[i], T.cast(j, "int64"), T.cast(N, "int64"))
            T.reduce_min(idx, at, dim=1)
            for i in T.Parallel(2):
                if bx * 2 + i < M:
                    O[bx * 2 + i] = at[i]

    return main


@tilelang.jit
def exclusive(M=5, N=100, threads=160):
    @T.prim_func
    def main(X: T.Tensor((M, N), "int32"), O: T.Tensor((M, N), "int64")):
        with T.Kernel(M, threads=threads) as bx:
            a = T.alloc_shared((1, N), "int64")
            for i, j in T.Parallel(1, N):
                a[i, j] = T.cast(X[bx, j], "int64") * 10000000000
            T.cumsum(a, dim=1)
            for i, j in T.Parallel(1, N):
                O[bx, j] = a[i, j] - T.cast(X[bx, j], "int64") * 10000000000

    return main


@tilelang.jit
def attn_bias(B=2, H=2, S=40, D=16, bm=32, bn=16, threads=64):
    scale = 1.0 / D ** 0.5

    @T.prim_func
    def main(Q: T.Tensor((B, H, S, D), "float32"), K: T.Tensor((B, H, S, D), "float32"), V: T.Tensor((B, H, S, D), "float32"), Bias: T.Tensor((H, S, S), "float32"), O: T.Tensor((B, H, S, D), "float32")):
        with T.Kernel(T.ceildiv(S, bm), H, B, threads=threads) as (bx, by, bz):
            q = T.alloc_shared((bm, D), "float32")
            k = T.alloc_shared((bn, D), "float32")
            v = T.alloc_shared((bn, D), "float32")
            s = T.alloc_fragment((bm, bn), "float32")
            p = T.alloc_shared((bm, bn), "float32")
            o = T.alloc_fragment((bm, D), "float32")
            m = T.alloc_fragment((bm,), "float32")
            mp = T.alloc_fragment((bm,), "float32")
            l = T.alloc_fragment((bm,), "float32")
            ls = T.alloc_fragment((bm,), "float32")
            T.copy(Q[bz, by, bx * bm, 0], q)
            T.clear(o)
            T.clear(l)
            T.fill(m, -1e30)
            for t in T.Pipelined(T.ceildiv(S, bn), num_stages=2):
                T.copy(K[bz, by, t * bn, 0], k)
                T.copy(V[bz, by, t * bn, 0], v)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True)
                for i, j in T.Parallel(bm, bn):
                    s[i, j] = T.if_then_else(T.And(t * bn + j < S, bx * bm + i < S), s[i, j] * scale + Bias[by, bx * bm + i, t * bn + j], -1e30)
                T.copy(m, mp)
                T.reduce_max(s, m, dim=1, clear=False)
                for i, j in T.Parallel(bm, bn):
                    s[i, j] = T.exp(s[i, j] - m[i])
                T.reduce_sum(s, ls, dim=1)
                for i in T.Parallel(bm):
                    l[i] = l[i] * T.exp(mp[i] - m[i]) + ls[i]
                for i, j in T.Parallel(bm, D):
                    o[i, j] *= T.exp(mp[i] - m[i])
                T.copy(s, p)
                T.gemm(p, v, o)
            for i, j in T.Parallel(bm, D):
                o[i, j] /= l[i]
            T.copy(o, O[bz, by, bx * bm, 0])

    return main
