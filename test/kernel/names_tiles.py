# The names that kernels use most: launches, tiles, loops, copies, products, reductions.
# verify: :attention
# verify: :elementwise
# verify: :images
# verify: :outputs M=40 N=24
# verify: :memories
# verify: :parameters m=5 k=3
import tilelang
import tilelang.language as T


@T.macro
def rescale(acc: T.FragmentBuffer((32, 32), "float32"), by: T.FragmentBuffer((32,), "float32")):
    for i, j in T.Parallel(32, 32):
        acc[i, j] *= by[i]


@tilelang.jit
def attention(seq=64, dim=32, b=32):
    @T.prim_func
    def main(Q: T.Tensor((seq, dim), T.float16), K: T.Tensor((seq, dim), T.float16), V: T.Buffer((seq, dim), T.float16), O: T.Tensor((seq, dim), T.float32)):
        with T.Kernel(T.ceildiv(seq, b), 1, threads=128) as (bx, by):
            q = T.alloc_shared((b, dim), T.float16)
            k = T.alloc_shared((b, dim), T.float16)
            v = T.alloc_shared((b, dim), T.float16)
            s = T.alloc_fragment((b, b), T.float32)
            p = T.alloc_fragment((b, b), T.float16)
            o = T.alloc_fragment((b, dim), T.float32)
            high = T.alloc_fragment((b,), T.float32)
            old = T.alloc_fragment((b,), T.float32)
            total = T.alloc_fragment((b,), T.float32)
            part = T.alloc_fragment((b,), T.float32)
            T.use_swizzle(4)
            T.annotate_layout({q: tilelang.layout.make_swizzled_layout(q)})
            T.copy(Q[bx * b, 0], q)
            T.clear(o)
            T.fill(total, 0)
            T.fill(high, -T.infinity(T.float32))
            for n in T.Pipelined(seq // b, num_stages=2):
                T.copy(K[n * b, 0], k)
                T.copy(V[n * b, 0], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(high, old)
                T.reduce_max(s, high, dim=1, clear=False)
                for i in T.Parallel(b):
                    high[i] = T.max(high[i], old[i])
                    old[i] = T.exp2(old[i] - high[i])
                for i, j in T.Parallel(b, b):
                    s[i, j] = T.exp2(s[i, j] - high[i])
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(b):
                    total[i] = total[i] * old[i] + part[i]
                rescale(o, old)
                T.copy(s, p)
                T.gemm(p, v, o)
            for i, j in T.Parallel(b, dim):
                o[i, j] = o[i, j] / total[i] + T.log2(total[i])
            T.copy(o, O[bx * b, 0])

    return main


@tilelang.jit
def elementwise(N=100, b=64):
    @T.prim_func
    def main(A: T.Tensor((N,), T.float), I: T.Tensor((N,), T.int), F: T.Tensor((N,), T.float32), G: T.Tensor((N,), T.bfloat16), J: T.Tensor((N,), T.int32), U: T.Tensor((N,), T.uint16), W: T.Tensor((N,), T.uint32), Z: T.Tensor((N,), T.uint64)):
        with T.Kernel(T.ceildiv(N, b), threads=b) as bx:
            for t in T.Parallel(b):
                i = bx * b + t
                T.assume(i >= 0)
                if i < N:
                    x = A[i]
                    F[i] = T.if_then_else(x > 0, T.exp(T.min(x, 4.0)), T.rsqrt(1.0 - x)) + T.clamp(x, -0.5, 0.5)
                    G[i] = T.Cast(T.bfloat16, x) + T.cast(I[i], "bfloat16")
                    J[i] = T.floordiv(I[i], 3) * T.floormod(I[i], 3) + T.shift_left(T.cast(1, T.int32), i % 7)
                    W[i] = T.reinterpret(x, T.uint32)
                    U[i] = T.cast(W[i] >> 16, T.uint16)
                    Z[i] = T.cast(W[i], T.uint64) << 3

    return main


@tilelang.jit
def images(C=8, F=16, b=32, bk=24):
    @T.prim_func
    def main(X: T.Tensor((1, 8, 8, C), "float16"), K: T.Tensor((3, 3, C, F), "float16"), Y: T.Tensor((1, 8, 8, F), "float32")):
        with T.Kernel(64 // b, threads=64) as by:
            x = T.alloc_shared((b, bk), "float16")
            k = T.alloc_shared((bk, F), "float16")
            y = T.alloc_fragment((b, F), "float32")
            flat = T.reshape(K, (9 * C, F))
            T.clear(y)
            for i in T.Serial(9 * C // bk):
                T.im2col(X, x, by, i, 3, 1, 1, 1)
                T.copy(flat[i * bk, 0], k)
                T.gemm(x, k, y)
            T.copy(y, T.reshape(Y, (64, F))[by * b, 0])

    return main


@tilelang.jit
def outputs(A, b=16):
    M, N = T.const("M, N")
    A: T.Tensor((M, N), T.float32)
    B = T.empty((M, N), T.float32)
    S = T.empty((M,), T.float32)
    with T.Kernel(T.ceildiv(M, b), threads=64) as bx:
        a = T.alloc_fragment((b, N), T.float32)
        s = T.alloc_fragment((b,), T.float32)
        T.copy(A[bx * b, 0], a)
        T.reduce_absmax(a, s, dim=1)
        for i, j in T.Parallel(b, N):
            a[i, j] = a[i, j] + s[i]
        T.copy(a, B[bx * b, 0])
        T.copy(s, S[bx * b])
    return B, S


@tilelang.jit
def memories(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), T.int8), E: T.Tensor((N,), T.float8_e4m3fn), B: T.Tensor((N,), T.float32), M: T.Tensor((N,), T.bool), P: T.Tensor((N,), T.int4), H: T.Tensor((N,), T.float4_e2m1fn), T32: T.Tensor((N,), T.tfloat32)):
        with T.Kernel(1, threads=32) as bx:
            work = T.alloc_global((N,), T.int16)
            for i in T.Parallel(N):
                work[i] = T.cast(A[i], T.int16) * 2
            s = T.alloc_shared((N,), T.float32)
            layout = T.Layout((N,), lambda i: i)
            T.annotate_layout({s: layout})
            for i in T.Parallel(N):
                s[i] = T.cast(work[i], T.float32) + T.cast(E[i], T.float32) + T.cast(H[i], T.float32)
            for i in T.unroll(2):
                for j in T.vectorized(N // 2):
                    B[i * (N // 2) + j] = s[i * (N // 2) + j] + T.cast(P[i * (N // 2) + j], T.float32)
            for i in T.serial(N):
                M[i] = B[i] > 0
                T32[i] = B[i]

    return main


def frag_layout(n):
    return T.Fragment((n,), forward_thread_fn=lambda i: i % 32, forward_index_fn=lambda i: i // 32)


@tilelang.jit
def parameters(n=64, dtype: T.dtype = T.float32):
    m = T.dynamic("m")
    tail = T.cast(3, T.uint8)

    @T.macro
    def twice(s: T.SharedBuffer((n,), dtype)):
        for i in T.Parallel(n):
            s[i] = s[i] * 2

    @T.prim_func
    def main(A: T.Tensor((m, n), dtype), k: T.int32, B: T.Tensor((m, n), dtype), U: T.Tensor((n,), T.uint8), W: T.Tensor((n,), T.uint)):
        with T.Kernel(m, threads=32) as bx:
            s = T.alloc_shared((n,), dtype)
            f = T.alloc_fragment((n,), dtype)
            T.annotate_layout({f: frag_layout(n)})
            T.copy(A[bx, 0], s)
            twice(s)
            T.copy(s, f)
            for i in T.Parallel(n):
                f[i] = f[i] + k
                if bx == 0:
                    U[i] = tail
                    W[i] = T.cast(i, T.uint)
            T.copy(f, B[bx, 0])

    return main
