# Products as users write them: chained, scaled, streamed, with odd extents.
# verify: :quant_epilogue
# verify: :streamk
# verify: :syrk
# verify: :fp8_scaled
# verify: :int8_zp za=5 zb=-7
# verify: :gemm_t
# verify: :gemm_frag
# verify: :gemm_stats
# verify: :power
import tilelang
import tilelang.language as T


# Bias, residual, relu and a per-row quantization of the result to int8.
@tilelang.jit
def quant_epilogue(M=63, N=128, K=96, bm=32, bk=32):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((K, N), "float16"),
        bias: T.Tensor((N,), "float32"),
        R: T.Tensor((M, N), "float16"),
        Q: T.Tensor((M, N), "int8"),
        S: T.Tensor((M,), "float32"),
    ):
        with T.Kernel(T.ceildiv(M, bm), threads=128) as by:
            a = T.alloc_shared((bm, bk), "float16")
            b = T.alloc_shared((bk, N), "float16")
            c = T.alloc_fragment((bm, N), "float32")
            top = T.alloc_fragment((bm,), "float32")
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, 0], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(bm, N):
                c[i, j] = T.max(c[i, j] + bias[j] + R[by * bm + i, j], 0.0)
            T.reduce_absmax(c, top, dim=1)
            for i in T.Parallel(bm):
                top[i] = T.max(top[i], 1e-4) / 127.0
            for i, j in T.Parallel(bm, N):
                Q[by * bm + i, j] = T.cast(T.round(c[i, j] / top[i]), "int8")
            T.copy(top, S[by * bm])

    return main


# Stream-k: each program takes a run of k steps that may cross tiles.
@tilelang.jit
def streamk(M=65, N=63, K=160, b=32, programs=5):
    tm = T.ceildiv(M, b)
    tn_ = T.ceildiv(N, b)
    tk = T.ceildiv(K, b)
    total = tm * tn_ * tk
    per = T.ceildiv(total, programs)

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(programs, threads=64) as p:
            a = T.alloc_shared((b, b), "float16")
            w = T.alloc_shared((b, b), "float16")
            c = T.alloc_fragment((b, b), "float32")
            it = T.alloc_var("int32")
            end = T.alloc_var("int32")
            it = p * per
            end = T.min(it + per, total)
            while it < end:
                tile = it // tk
                k0 = it % tk
                stop = T.min(tk, k0 + end - it)
                T.clear(c)
                for k in T.serial(k0, stop):
                    T.copy(A[tile // tn_ * b, k * b], a)
                    T.copy(B[k * b, tile % tn_ * b], w)
                    T.gemm(a, w, c)
                for i, j in T.Parallel(b, b):
                    if tile // tn_ * b + i < M and tile % tn_ * b + j < N:
                        T.atomic_add(C[tile // tn_ * b + i, tile % tn_ * b + j], c[i, j])
                it += stop - k0

    return main


# The same tile as both operands: X^T X, lower triangle only.
@tilelang.jit
def syrk(M=130, N=48, bk=32):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), C: T.Tensor((N, N), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_shared((bk, N), "float16")
            c = T.alloc_fragment((N, N), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(M, bk), num_stages=2):
                T.copy(X[k * bk, 0], x)
                T.gemm(x, x, c, transpose_A=True)
            for i, j in T.Parallel(N, N):
                if j <= i:
                    C[i, j] = c[i, j]

    return main


# fp8 operands with block scales, promoted to a second accumulator each step.
@tilelang.jit(out_idx=[-1])
def fp8_scaled(M=65, N=64, K=256, bm=64, bn=64, bk=64, dt="float8_e4m3fn"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dt),
        B: T.Tensor((N, K), dt),
        SA: T.Tensor((M, K // bk), "float32"),
        SB: T.Tensor((K // bk,), "float32"),
        C: T.Tensor((M, N), "bfloat16"),
    ):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dt)
            b = T.alloc_shared((bn, bk), dt)
            s = T.alloc_shared((bm,), "float32")
            c = T.alloc_fragment((bm, bn), "float32")
            total = T.alloc_fragment((bm, bn), "float32")
            T.clear(total)
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[bx * bn, k * bk], b)
                for i in T.Parallel(bm):
                    s[i] = SA[by * bm + i, k] * SB[k]
                T.gemm(a, b, c, transpose_B=True)
                for i, j in T.Parallel(bm, bn):
                    total[i, j] += c[i, j] * s[i]
                T.clear(c)
            T.copy(total, C[by * bm, bx * bn])

    return main


# int8 x int8 with zero points and requantization.
@tilelang.jit(out_idx=[-1])
def int8_zp(M=63, N=65, K=64, bm=32, bn=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "int8"), B: T.Tensor((N, K), "int8"), za: T.int32, zb: T.int32, C: T.Tensor((M, N), "int32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, K), "int8")
            b = T.alloc_shared((bn, K), "int8")
            c = T.alloc_fragment((bm, bn), "int32")
            ra = T.alloc_fragment((bm,), "int32")
            rb = T.alloc_fragment((bn,), "int32")
            T.copy(A[by * bm, 0], a)
            T.copy(B[bx * bn, 0], b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.reduce_sum(a, ra, dim=1)
            T.reduce_sum(b, rb, dim=1)
            for i, j in T.Parallel(bm, bn):
                c[i, j] = c[i, j] - zb * ra[i] - za * rb[j] + K * za * zb
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit(out_idx=[-2, -1])
def gemm_stats(M=48, N=40, K=32, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), R: T.Tensor((M,), "float32"), Q: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((K, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            r = T.alloc_fragment((M,), "float32")
            q = T.alloc_fragment((N,), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, clear_accum=True)
            T.reduce_max(c, r, dim=1)
            T.reduce_min(c, q, dim=0)
            for i, j in T.Parallel(M, N):
                c[i, j] = c[i, j] - r[i] + q[j]
            T.reduce_sum(c, q, dim=0)
            T.copy(r, R)
            T.copy(q, Q)

    return main


# C of one product is A of the next, without a name in between.
@tilelang.jit(out_idx=[-1])
def power(M=32, n=3, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, M), dtype), C: T.Tensor((M, M), dtype)):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((M, M), dtype)
            p = T.alloc_shared((M, M), dtype)
            c = T.alloc_fragment((M, M), "float32")
            T.copy(A, a)
            T.copy(A, p)
            for k in T.serial(n):
                T.gemm(p, a, c, clear_accum=True)
                for i, j in T.Parallel(M, M):
                    c[i, j] = c[i, j] * 0.25
                T.copy(c, p)
            T.copy(p, C)

    return main


# Transposed stores from a gemm result, with a cast, odd columns.
@tilelang.jit(out_idx=[-1])
def gemm_t(M=65, N=33, K=48, b=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((N, M), "bfloat16")):
        with T.Kernel(T.ceildiv(N, b), T.ceildiv(M, b), threads=64) as (bx, by):
            a = T.alloc_shared((b, K), "float16")
            w = T.alloc_shared((K, b), "float16")
            c = T.alloc_fragment((b, b), "float32")
            T.copy(A[by * b, 0], a)
            T.copy(B[0, bx * b], w)
            T.gemm(a, w, c, clear_accum=True)
            for i, j in T.Parallel(b, b):
                C[bx * b + j, by * b + i] = c[i, j]

    return main


# Gemm with a fragment as B's source through shared, A a fragment computed in place, run-time clear.
@tilelang.jit(out_idx=[-1])
def gemm_frag(M=64, N=32, K=64, bk=16, every=2):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((N, K), "bfloat16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_fragment((M, bk), "bfloat16")
            b = T.alloc_shared((N, bk), "bfloat16")
            c = T.alloc_fragment((M, N), "float32")
            out = T.alloc_fragment((M, N), "float32")
            T.clear(out)
            for k in T.serial(K // bk):
                T.copy(A[0, k * bk], a)
                T.copy(B[0, k * bk], b)
                for i, j in T.Parallel(M, bk):
                    a[i, j] = T.max(a[i, j], T.cast(0, "bfloat16"))
                T.gemm(a, b, c, transpose_B=True, clear_accum=(k % every == 0))
                if k % every == every - 1:
                    for i, j in T.Parallel(M, N):
                        out[i, j] += T.abs(c[i, j])
            T.copy(out, C)

    return main
