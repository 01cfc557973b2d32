# Silent wrong results.
# right: TL#2433 :persistent M=100 N=60 workers=5
# right: TL#2433 :persistent M=130 N=33 workers=13
# right: TL#2381 :k_tail bk=24
# right: TL#2381 :k_tail bk=40
# right: TL#2381 :k_tail bk=56 K=112
# right: TL#2955 :modulo K=7
# right: TL#2955 :modulo K=12 N=40
# right: TL#1804 :unswitched
# text: TL#2560 :far_index 2147483653
# text: TL#1310 :long_loop int64_t
# right: TL#2396 :serial_fragment
# right: TL#2668 :overwritten stages=2
# right: TL#2668 :overwritten stages=3
# right: TL#1666 :printed
# right: TL#2054 :grouped
# right: TL#2054 :grouped sizes=(1,64,33,0,7)
# right: TL#1266 :selected
# right: TL#1744 :short_loop
# right: TL#3186 :per_thread
# right: TL#1890 :odd_fragment M=3 N=5
# right: TL#1890 :odd_fragment M=1 N=1
# right: TL#2307 :odd_fragment M=7 N=130 threads=96
import tilelang
import tilelang.language as T


# Blocks that are not a multiple of 8 (or of the workers): every tile is written.
@tilelang.jit
def persistent(M=100, N=60, b=16, workers=5):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((M, N), "float16")):
        with T.Kernel(workers, threads=64) as bx:
            s = T.alloc_shared((b, b), "float16")
            for i, j in T.Persistent([T.ceildiv(M, b), T.ceildiv(N, b)], workers, bx):
                T.copy(A[i * b, j * b], s)
                T.copy(s, B[i * b, j * b])

    return main


# Depths of a tile that are no multiple of the instruction's.
@tilelang.jit
def k_tail(M=64, N=64, K=120, bm=32, bn=32, bk=24):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float16")
            b = T.alloc_shared((bk, bn), "float16")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=2):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def modulo(M=16, N=48, K=7):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((K,), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            for i, j in T.Parallel(M, N):
                C[i, j] = A[i, j] + B[j % K]

    return main


# A condition that does not change in the loop, on values that do.
@tilelang.jit
def unswitched(M=4, N=64):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), F: T.Tensor((M,), "int32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=64) as bx:
            acc = T.alloc_fragment((N,), "float32")
            T.clear(acc)
            for k in T.serial(3):
                for j in T.Parallel(N):
                    if F[bx] > 0:
                        acc[j] += A[bx, j] * (k + 1)
                    else:
                        acc[j] -= A[bx, N - 1 - j]
            T.copy(acc, B[bx, 0])

    return main


@tilelang.jit
def far_index(N=2147483700):
    @T.prim_func
    def main(A: T.Tensor((N,), "int8"), B: T.Tensor((1,), "int8")):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(1):
                B[i] = A[2147483653]

    return main


@tilelang.jit
def long_loop():
    @T.prim_func
    def main(A: T.Tensor((8,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32) as bx:
            for i in T.serial(n):
                for j in T.Parallel(8):
                    A[j] = A[j] + T.cast(i // 1000000007, "int32")

    return main


@tilelang.jit
def serial_fragment(N=256):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            f = T.alloc_fragment((N,), "float32")
            for i in T.serial(N):
                f[i] = A[N - 1 - i] * 2
            T.copy(f, B)

    return main


# A tile that is read, then written anew in the same turn.
@tilelang.jit
def overwritten(N=64, K=5, stages=2):
    @T.prim_func
    def main(A: T.Tensor((K, N), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((K, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((N,), "float32")
            f = T.alloc_fragment((N,), "float32")
            T.clear(s)
            for k in T.Pipelined(K, num_stages=stages):
                for i in T.Parallel(N):
                    f[i] = s[N - 1 - i] + 1
                T.copy(f, C[k, 0])
                T.copy(A[k, 0], s)
                for i in T.Parallel(N):
                    B[k, i] = s[N - 1 - i]

    return main


@tilelang.jit
def printed(M=16, N=32):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((M, N), "float32")
            m = T.alloc_fragment((M,), "float32")
            T.copy(A, f)
            T.reduce_sum(f, m, dim=1)
            T.print(m, msg="sums")
            for i in T.Parallel(M):
                m[i] = m[i] * 2
            T.copy(m, B)

    return main


def pick(at, values):
    e = values[-1]
    for i in range(len(values) - 1):
        e = T.if_then_else(at == i, values[i], e)
    return e


# Rows in groups of any length, each with a matrix of its own.
@tilelang.jit
def grouped(sizes=(20, 33, 5), N=32, K=48, bm=32, bk=16):
    total, G = sum(sizes), len(sizes)
    starts = [sum(sizes[:g]) for g in range(G)]

    @T.prim_func
    def main(A: T.Tensor((total, K), "float16"), B: T.Tensor((G, K, N), "float16"), C: T.Tensor((total, N), "float32")):
        with T.Kernel(T.ceildiv(max(sizes), bm), G, threads=64) as (bx, bg):
            a = T.alloc_shared((bm, bk), "float16")
            b = T.alloc_shared((bk, N), "float16")
            c = T.alloc_fragment((bm, N), "float32")
            first = pick(bg, starts)
            rows = pick(bg, sizes)
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=2):
                T.copy(A[first + bx * bm, k * bk], a)
                T.copy(B[bg, k * bk, 0], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(bm, N):
                if bx * bm + i < rows:
                    C[first + bx * bm + i, j] = c[i, j]

    return main


# Blocks of keys picked by an index tensor; some picks are beyond the last row's reach.
@tilelang.jit
def selected(S=32, D=32, b=16, picks=3):
    @T.prim_func
    def main(Q: T.Tensor((S, D), "float16"), K: T.Tensor((64, D), "float16"), P: T.Tensor((picks,), "int32"), O: T.Tensor((S, b), "float32")):
        with T.Kernel(1, threads=128) as bx:
            q = T.alloc_shared((S, D), "float16")
            k = T.alloc_shared((b, D), "float16")
            acc = T.alloc_fragment((S, b), "float32")
            T.copy(Q, q)
            T.clear(acc)
            for i in T.Pipelined(picks, num_stages=2):
                at = T.max(T.min(P[i], 3), 0) * b
                T.copy(K[at, 0], k)
                T.gemm(q, k, acc, transpose_B=True)
            T.copy(acc, O)

    return main


# Fewer iterations than the fragment has elements.
@tilelang.jit
def short_loop(N=100, n=37):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((N,), "float32")
            T.fill(f, 1)
            for i in T.Parallel(n):
                f[i] = A[i] * 3
            for i in T.Parallel(N - n):
                f[i + n] += A[i]
            T.copy(f, B)

    return main


@tilelang.jit
def per_thread(N=128):
    @T.prim_func
    def main(A: T.Tensor((2 * N,), "float32"), B: T.Tensor((2 * N,), "float32")):
        with T.Kernel(2, threads=N) as bx:
            t = T.get_thread_binding()
            x = T.alloc_local((1,), "float32")
            x[0] = A[bx * N + t] + t
            B[bx * N + t] = x[0] * 2

    return main


@tilelang.jit
def odd_fragment(M=3, N=5, threads=128):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((M, N), "float32"), R: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((M, N), "float32")
            r = T.alloc_fragment((N,), "float32")
            T.copy(A, f)
            T.reduce_max(f, r, dim=0)
            for i, j in T.Parallel(M, N):
                f[i, j] = f[i, j] - r[j]
            T.copy(f, B)
            T.copy(r, R)

    return main
