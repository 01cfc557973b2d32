# Parts of a block that are warps of 32 threads, on GPUs whose warps have 64 lanes: halves of a wave, parts that begin in the middle of one.
# verify: :sums
# verify: :sums first=32 n=64
# verify: :sums first=96 n=32
# verify: :sums first=32 n=160 threads=224
# verify: :scans
# verify: :scans first=32 n=64
# verify: :scans first=32 n=96 threads=160
# verify: :found
# verify: :found first=32 n=64
# verify: :halves
# verify: :lone
# verify: :lone first=32
# verify: :copies
# verify: :copies first=32 n=64 stages=3
# verify: :copies first=32 n=32 stages=2 K=5
# verify: :product
# verify: :product first=64 n=32
# verify: :product first=32 n=128 threads=192
# verify: :counts
# verify: :nested
# verify: :softmax
# verify: :by_hand first=64 n=64
# verify: :by_hand --hip=tile-threads
import tilelang
import tilelang.language as T


# Rows are summed by one part, from registers and across its lanes; the others do something else.
@tilelang.jit
def sums(M=12, N=80, first=32, n=32, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            t = T.get_thread_binding()
            if t >= first and t < first + n:
                f = T.alloc_fragment((M, N), "float32")
                m = T.alloc_fragment((M,), "float32")
                T.copy(A, f)
                T.reduce_sum(f, m, dim=1)
                T.copy(m, B)
            else:
                if t < first:
                    for j in T.Parallel(N):
                        C[j] = A[0, j] * 2

    return main


@tilelang.jit
def scans(M=9, N=72, first=96, n=32, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, N), "int32"), B: T.Tensor((M, N), "int32"), C: T.Tensor((M, N), "int32")):
        with T.Kernel(1, threads=threads) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((M, N), "int32")
            u = T.alloc_shared((M, N), "int32")
            if t >= first and t < first + n:
                T.copy(A, s)
                T.cumsum(s, dim=1)
                T.copy(s, B)
            if t < first:
                T.copy(A, u)
                for i, j in T.Parallel(M, N):
                    C[i, j] = u[M - 1 - i, N - 1 - j]

    return main


@tilelang.jit
def found(N=200, first=32, n=32):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), B: T.Tensor((2,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "bool")
            if t >= first and t < first + n:
                for i in T.Parallel(N):
                    s[i] = A[i] > 2
                if T.any_of(s):
                    B[0] = 3
                else:
                    B[0] = 4
                if T.all_of(s):
                    B[1] = 5
                else:
                    B[1] = 6

    return main


# Both halves of a wave at the same operators, each with its own tile; then the block reads both.
@tilelang.jit
def halves(M=16, N=40):
    @T.prim_func
    def main(A: T.Tensor((2, M, N), "float16"), B: T.Tensor((2, M), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            t = T.get_thread_binding()
            a = T.alloc_shared((M, N), "float16")
            b = T.alloc_shared((M, N), "float16")
            if t < 32:
                f = T.alloc_fragment((M, N), "float32")
                p = T.alloc_fragment((M,), "float32")
                T.copy(A[0, 0, 0], a)
                T.copy(a, f)
                T.reduce_max(f, p, dim=1)
                T.copy(p, B[0, 0:M])
            else:
                g = T.alloc_fragment((M, N), "float32")
                q = T.alloc_fragment((M,), "float32")
                T.copy(A[1, 0, 0], b)
                T.copy(b, g)
                T.reduce_sum(g, q, dim=1)
                T.copy(q, B[1, 0:M])
            for i, j in T.Parallel(M, N):
                C[i, j] = a[i, N - 1 - j] + b[M - 1 - i, j]

    return main


# One half sums across its lanes, the other one waits for it.
@tilelang.jit
def lone(M=4, N=64, first=0):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((M,), "float32")
            if t >= first and t < first + 32:
                f = T.alloc_fragment((M, N), "float32")
                m = T.alloc_fragment((M,), "float32")
                T.copy(A, f)
                T.reduce_sum(f, m, dim=1)
                T.copy(m, s)
            for i, j in T.Parallel(M, N):
                B[i, j] = A[i, j] / s[M - 1 - i]

    return main


# A part copies ahead of itself.
@tilelang.jit
def copies(K=6, N=256, first=0, n=32, stages=3):
    @T.prim_func
    def main(A: T.Tensor((K, N), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            t = T.get_thread_binding()
            if t >= first and t < first + n:
                s = T.alloc_shared((N,), "float32")
                for k in T.Pipelined(K, num_stages=stages):
                    T.copy(A[k, 0:N], s)
                    for i in T.Parallel(N):
                        B[k, i] = s[N - 1 - i] + 1
            elif t >= 96:
                for i in T.Parallel(N):
                    C[i] = A[0, i]

    return main


@tilelang.jit
def product(M=32, N=24, K=40, first=32, n=32, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            t = T.get_thread_binding()
            a = T.alloc_shared((M, K), "float16")
            b = T.alloc_shared((K, N), "float16")
            T.copy(A, a)
            T.copy(B, b)
            if t >= first and t < first + n:
                c = T.alloc_fragment((M, N), "float32")
                T.gemm(a, b, c, clear_accum=True)
                T.copy(c, C)

    return main


# Bins in shared memory that two parts add to, each of which waits for its own threads alone.
@tilelang.jit
def counts(N=300, bins=16):
    @T.prim_func
    def main(A: T.Tensor((2, N), "int32"), B: T.Tensor((2, bins), "int32")):
        with T.Kernel(1, threads=96) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((2, bins), "int32")
            if t < 32:
                T.clear(s[0, :])
                for i in T.Parallel(N):
                    T.atomic_add(s[0, A[0, i] & (bins - 1)], 1)
                T.copy(s[0, :], B[0, :])
            else:
                T.clear(s[1, :])
                for i in T.Parallel(N):
                    T.atomic_add(s[1, A[1, i] & (bins - 1)], 2)
                T.copy(s[1, :], B[1, :])

    return main


@tilelang.jit
def nested(N=96):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((3, N), "float32")):
        with T.Kernel(1, threads=192) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((3, N), "float32")
            if t >= 32:
                T.copy(A, s[0, 0:N])
                if t < 96:
                    for i in T.Parallel(N):
                        s[1, i] = s[0, N - 1 - i] * 2
                    for i in T.Parallel(N):
                        B[1, i] = s[1, N - 1 - i]
                else:
                    for i in T.Parallel(N):
                        s[2, i] = s[0, N - 1 - i] * 3
                    for i in T.Parallel(N):
                        B[2, i] = s[2, N - 1 - i]
                for i in T.Parallel(N):
                    B[0, i] = s[1, i] + s[2, i]

    return main


# Each warp of 32 has rows of its own.
@tilelang.jit
def softmax(M=8, N=100):
    @T.macro
    def rows(A, B, w):
        x = T.alloc_fragment((M, N), "float32")
        m = T.alloc_fragment((M,), "float32")
        d = T.alloc_fragment((M,), "float32")
        T.copy(A[w, 0, 0], x)
        T.reduce_max(x, m, dim=1)
        for i, j in T.Parallel(M, N):
            x[i, j] = T.exp(x[i, j] - m[i])
        T.reduce_sum(x, d, dim=1)
        for i, j in T.Parallel(M, N):
            B[w, i, j] = x[i, j] / d[i]

    @T.prim_func
    def main(A: T.Tensor((2, M, N), "float32"), B: T.Tensor((2, M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            t = T.get_thread_binding()
            if t // 32 == 0:
                rows(A, B, 0)
            else:
                rows(A, B, 1)

    return main


# A part that waits at a barrier in memory keeps the other lanes of its wave from arriving there.
@tilelang.jit
def by_hand(N=64, first=32, n=32):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "float32")
            here = T.alloc_barrier([128 - n])
            if t >= first and t < first + n:
                T.mbarrier_wait_parity(here, 0)
                for i in T.Parallel(N):
                    B[i] = s[N - 1 - i]
            else:
                if t < first:
                    s[t % N] = A[t % N]
                    s[(t + 32) % N] = A[(t + 32) % N]
                T.mbarrier_arrive(here)

    return main
