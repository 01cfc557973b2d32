# T.Pipelined on GPUs: what runs ahead and what must not.
# verify: :late_start
# verify: :product K=96 S=1
# verify: :product K=96 S=2
# verify: :product K=96 S=3
# verify: :product K=104 S=4
# verify: :product K=16 S=3
# verify: :product K=8 S=4
# verify: :product K=32 S=5
# verify: :product K=33 S=3
# verify: :product K=48 S=3 dtype=float32
# verify: :rounds n=0
# verify: :rounds n=1
# verify: :rounds n=2
# verify: :rounds n=3
# verify: :rounds n=4
# verify: :run_time
# verify: :guarded_body
# verify: :guarded_copy
# verify: :guarded_both
# verify: :shared_by_two first=2 second=4
# verify: :shared_by_two first=3 second=2
# verify: :nested
# verify: :inner_only
# verify: :pages
# verify: :pages_named
# verify: :dequantised
# verify: :schedule
# verify: :used_after
# verify: :used_before
# verify: :written_source
# verify: :two_parts
# verify: :reduced
# verify: :some_narrow
# verify: :outer_loop
# verify: :both_arms
# verify: :filled
# verify: :filled dtype=float32
# verify: :filled dtype=float16 N=37
# verify: :turned
# verify: :pinned
# verify: :viewed
# verify: :safe
# verify: :roles
# verify: :three
# verify: :transposed_copy
# verify: :carried_var
# verify: :long_rounds n=0
# verify: :long_rounds n=1 S=4
# verify: :long_rounds n=5 S=3
# verify: :long_rounds n=4 S=5
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=40, N=32, K=96, bm=32, bn=16, bk=16, S=3, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=64) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=S):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[k * bk, bx * bn], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def rounds(n=3, b=64, S=3):
    @T.prim_func
    def main(A: T.Tensor((8, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[k, 0], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def run_time(b=32, S=3):
    """How many rounds there are is read from memory, per block: none, one, more."""

    @T.prim_func
    def main(L: T.Tensor((6,), "int32"), A: T.Tensor((6, 8, b), "float32"), C: T.Tensor((6, b), "float32")):
        with T.Kernel(6, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined((L[bx] & 3) + bx % 3, num_stages=S):
                T.copy(A[bx, k, 0], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * (k + 1)
            T.copy(acc, C[bx, 0])

    return main


@tilelang.jit
def guarded_body(n=6, b=32, S=3):
    """Rounds that are left out whole, by a mask in memory."""

    @T.prim_func
    def main(P: T.Tensor((n,), "int32"), A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                if P[k] % 2 == 0:
                    T.copy(A[k, 0], a)
                    for i in T.Parallel(b):
                        acc[i] += a[i] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def guarded_copy(n=6, b=32, S=3):
    """A round without a copy sees the tile of the round before."""

    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            T.clear(a)
            for k in T.Pipelined(n, num_stages=S):
                if k % 3 == 1:
                    T.copy(A[k, 0], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def guarded_both(n=7, b=32, S=3):
    """The condition comes from what the rounds compute."""

    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            turn = T.alloc_shared((1,), "int32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            T.clear(turn)
            for k in T.Pipelined(n, num_stages=S):
                if turn[0] % 2 == 0:
                    T.copy(A[k, 0], a)
                    for i in T.Parallel(b):
                        acc[i] += a[i] * (k + 1)
                for i in T.Parallel(1):
                    turn[i] = turn[i] + 1
            T.copy(acc, C)

    return main


@tilelang.jit
def shared_by_two(n=5, b=32, first=2, second=4):
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), B: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=first):
                T.copy(A[k, 0], a)
                for i in T.Parallel(b):
                    acc[i] += a[b - 1 - i]
            for k in T.Pipelined(n, num_stages=second):
                T.copy(B[k, 0], a)
                for i in T.Parallel(b):
                    acc[i] += a[b - 1 - i] * 2
            T.copy(acc, C)

    return main


@tilelang.jit
def nested(n=3, m=4, b=32):
    """Both loops have copies that run ahead."""

    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), B: T.Tensor((n, m, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((b,), "float32")
            y = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for i in T.Pipelined(n, num_stages=2):
                T.copy(A[i, 0], x)
                for j in T.Pipelined(m, num_stages=3):
                    T.copy(B[i, j, 0], y)
                    for l in T.Parallel(b):
                        acc[l] += x[b - 1 - l] * y[b - 1 - l]
            T.copy(acc, C)

    return main


@tilelang.jit
def inner_only(n=3, m=4, b=32):
    @T.prim_func
    def main(B: T.Tensor((n, m, b), "float32"), C: T.Tensor((n, b), "float32")):
        with T.Kernel(1, threads=64) as bx:
            y = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            for i in T.serial(n):
                T.clear(acc)
                for j in T.Pipelined(m, num_stages=3):
                    T.copy(B[i, j, 0], y)
                    for l in T.Parallel(b):
                        acc[l] += y[b - 1 - l]
                T.copy(acc, C[i, 0])

    return main


@tilelang.jit
def pages(n=6, b=32, S=3):
    @T.prim_func
    def main(P: T.Tensor((n,), "int32"), A: T.Tensor((8, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[P[k] & 7, 0], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def pages_named(n=6, b=32, S=3):
    """The page has a name that the round uses too."""

    @T.prim_func
    def main(P: T.Tensor((n,), "int32"), A: T.Tensor((8, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            at = T.alloc_var("int32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                page = P[k] & 7
                at = page + 1
                T.copy(A[page, 0], a)
                for i in T.Parallel(b):
                    acc[i] += a[i] * at
            T.copy(acc, C)

    return main


@tilelang.jit
def dequantised(M=32, N=32, K=64, b=16, S=3):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "int8"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((M, b), "float16")
            q = T.alloc_shared((b, N), "int8")
            w = T.alloc_shared((b, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.clear(c)
            for k in T.Pipelined(K // b, num_stages=S):
                T.copy(A[0, k * b], a)
                T.copy(B[k * b, 0], q)
                for i, j in T.Parallel(b, N):
                    w[i, j] = T.cast(q[i, j], "float16") * T.float16(0.5)
                T.gemm(a, w, c)
            T.copy(c, C)

    return main


@tilelang.jit
def schedule(n=7, b=32):
    """Copies that run ahead by different numbers of rounds."""

    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), B: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((b,), "float32")
            y = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, order=[0, 1, 2, 3], stage=[0, 2, 3, 3]):
                T.copy(A[k, 0], x)
                T.copy(B[k, 0], y)
                for i in T.Parallel(b):
                    acc[i] += x[b - 1 - i]
                for i in T.Parallel(b):
                    acc[i] += y[b - 1 - i] * k
            T.copy(acc, C)

    return main


@tilelang.jit
def used_after(n=5, b=32, S=3):
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[k, 0], x)
                for i in T.Parallel(b):
                    acc[i] += x[i]
            for i in T.Parallel(b):
                acc[i] += x[b - 1 - i] * 10
            T.copy(acc, C)

    return main


@tilelang.jit
def used_before(n=5, b=32, S=3):
    """The first round reads what stood there before the loop."""

    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            T.fill(x, 3)
            for k in T.Pipelined(n, num_stages=S):
                for i in T.Parallel(b):
                    acc[i] += x[b - 1 - i] * (k + 1)
                T.copy(A[k, 0], x)
            T.copy(acc, C)

    return main


@tilelang.jit
def written_source(n=5, b=32, S=3):
    """Each round copies what the round before wrote."""

    @T.prim_func
    def main(A: T.Tensor((n + 1, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[k, 0], x)
                for i in T.Parallel(b):
                    acc[i] += x[i]
                T.copy(acc, A[k + 1, 0])
                T.sync_threads()
            T.copy(acc, C)

    return main


@tilelang.jit
def two_parts(n=5, b=32, S=3):
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[k, 0 : b // 2], x[0 : b // 2])
                T.copy(A[k, b // 2 : b], x[b // 2 : b])
                for i in T.Parallel(b):
                    acc[i] += x[i]
            T.copy(acc, C)

    return main


@tilelang.jit
def reduced(n=5, m=8, b=32, S=3):
    @T.prim_func
    def main(A: T.Tensor((n, m, b), "float32"), C: T.Tensor((n, m), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((m, b), "float32")
            s = T.alloc_fragment((m,), "float32")
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[k, 0, 0], x)
                T.reduce_sum(x, s, dim=1)
                T.copy(s, C[k, 0])

    return main


@tilelang.jit
def some_narrow(n=5, b=32, S=3):
    """One source can be copied 16 bytes at a time, the other 2."""

    @T.prim_func
    def main(A: T.Tensor((n, b), "float16"), B: T.Tensor((n, b + 1), "float16"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((b,), "float16")
            y = T.alloc_shared((b,), "float16")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[k, 0], x)
                T.copy(B[k, 0], y)
                for i in T.Parallel(b):
                    acc[i] += x[i] * y[b - 1 - i]
            T.copy(acc, C)

    return main


@tilelang.jit
def outer_loop(n=4, b=32):
    """A pipelined loop around one that reads its tile in parts."""

    @T.prim_func
    def main(A: T.Tensor((n, b, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((b, b), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[k, 0, 0], x)
                for r in T.serial(b):
                    for i in T.Parallel(b):
                        acc[i] += x[r, i] * (r + k)
            T.copy(acc, C)

    return main


@tilelang.jit
def both_arms(n=5, b=32):
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), B: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=3):
                if k % 2 == 0:
                    T.copy(A[k, 0], x)
                else:
                    T.copy(B[k, 0], x)
                for i in T.Parallel(b):
                    acc[i] += x[b - 1 - i] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def filled(n=5, m=16, N=40, b=32, S=3, dtype="float16"):
    """Tiles filled by T.Parallel, with zeros past an edge that is not the tensor's."""

    @T.prim_func
    def main(A: T.Tensor((n, m, N), dtype), L: T.Tensor((n,), "int32"), C: T.Tensor((m, b), "float32")):
        with T.Kernel(T.ceildiv(N, b), threads=64) as bx:
            x = T.alloc_shared((m, b), dtype)
            acc = T.alloc_fragment((m, b), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                for i, j in T.Parallel(m, b):
                    at = bx * b + j
                    x[i, j] = T.if_then_else(i < (L[k] & 15), A[k, i, at], 0)
                for i, j in T.Parallel(m, b):
                    acc[i, j] += x[m - 1 - i, b - 1 - j] * (k + 1)
            if bx == 0:
                T.copy(acc, C)

    return main


@tilelang.jit
def turned(n=5, m=16, b=32):
    """Across the rows of the source; filled from one that the loop writes; filled in part."""

    @T.prim_func
    def main(
        A: T.Tensor((n, b, m), "float16"),
        B: T.Tensor((n + 1, m, b), "float32"),
        C: T.Tensor((m, b), "float32"),
    ):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((m, b), "float16")
            y = T.alloc_shared((m, b), "float32")
            z = T.alloc_shared((m, b), "float32")
            acc = T.alloc_fragment((m, b), "float32")
            T.clear(acc)
            T.fill(z, 2)
            for k in T.Pipelined(n, num_stages=3):
                for i, j in T.Parallel(m, b):
                    x[i, j] = A[k, j, i]
                for i, j in T.Parallel(m, b):
                    y[i, j] = B[k, i, j]
                for i, j in T.Parallel(m, b // 2):
                    z[i, j] = B[k, i, j]
                for i, j in T.Parallel(m, b):
                    acc[i, j] += x[m - 1 - i, b - 1 - j] + y[i, j] + z[m - 1 - i, b - 1 - j]
                for i, j in T.Parallel(m, b):
                    B[k + 1, i, j] = acc[i, j]
                T.sync_threads()
            T.copy(acc, C)

    return main


@tilelang.jit
def long_rounds(n=5, m=64, b=96, S=3):
    """Copies that are started at the end of a round; two loops, tiles shared by both."""

    @T.prim_func
    def main(
        A: T.Tensor((n + 1, m, b), "float32"),
        B: T.Tensor((n + 1, m, b), "float32"),
        C: T.Tensor((m, b), "float32"),
    ):
        with T.Kernel(1, threads=128) as bx:
            x = T.alloc_shared((m, b), "float32")
            y = T.alloc_shared((m, b), "float32")
            acc = T.alloc_fragment((m, b), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=S):
                T.copy(A[k, 0, 0], x)
                T.copy(B[k, 0, 0], y)
                for i, j in T.Parallel(m, b):
                    acc[i, j] += x[m - 1 - i, j] * y[i, b - 1 - j]
            for k in T.Pipelined(n, num_stages=S):
                T.copy(B[k, 0, 0], x)
                for i, j in T.Parallel(m, b):
                    acc[i, j] += x[i, b - 1 - j] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def pinned(n=5, m=32, b=64):
    @T.prim_func
    def main(A: T.Tensor((n, m, b), "float16"), C: T.Tensor((m, b), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((m, b), "float16")
            acc = T.alloc_fragment((m, b), "float32")
            T.annotate_layout({x: tilelang.layout.make_swizzled_layout(x)})
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[k, 0, 0], x)
                for i, j in T.Parallel(m, b):
                    acc[i, j] += x[m - 1 - i, b - 1 - j] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def viewed(n=5, m=32, b=64):
    @T.prim_func
    def main(A: T.Tensor((n, m, b), "float16"), C: T.Tensor((m, b), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((m, b), "float16")
            y = T.reshape(x, (m * b,))
            acc = T.alloc_fragment((m, b), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[k, 0, 0], x)
                for i, j in T.Parallel(m, b):
                    acc[i, j] += y[i * b + j] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def safe(n=5, m=32, b=64):
    @T.prim_func
    def main(A: T.Tensor((n, m - 3, b), "float32"), C: T.Tensor((m, b), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((m, b), "float32")
            acc = T.alloc_fragment((m, b), "float32")
            T.annotate_safe_value({A: 3.0})
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[k, 0, 0], x)
                for i, j in T.Parallel(m, b):
                    acc[i, j] += x[m - 1 - i, b - 1 - j] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def roles(n=5, b=128):
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((2, b), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            y = T.alloc_shared((b,), "float32")
            u = T.alloc_fragment((b,), "float32")
            v = T.alloc_fragment((b,), "float32")
            with T.ws(0):
                T.clear(u)
                for k in T.Pipelined(n, num_stages=3):
                    T.copy(A[k, 0], x)
                    for i in T.Parallel(b):
                        u[i] += x[b - 1 - i]
                T.copy(u, C[0, 0])
            with T.ws(1):
                T.clear(v)
                for k in T.Pipelined(n, num_stages=2):
                    T.copy(A[k, 0], y)
                    for i in T.Parallel(b):
                        v[i] += y[b - 1 - i] * 2
                T.copy(v, C[1, 0])

    return main


@tilelang.jit
def three(n=4):
    @T.prim_func
    def main(A: T.Tensor((n, 4, 8, 16), "float32"), C: T.Tensor((4, 8, 16), "float32")):
        with T.Kernel(1, threads=64) as bx:
            x = T.alloc_shared((4, 8, 16), "float32")
            acc = T.alloc_fragment((4, 8, 16), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=4):
                T.copy(A[k, 0, 0, 0], x)
                for h, i, j in T.Parallel(4, 8, 16):
                    acc[h, i, j] += x[3 - h, 7 - i, 15 - j] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def transposed_copy(n=4, m=32, b=16):
    @T.prim_func
    def main(A: T.Tensor((n, m, b), "float16"), B: T.Tensor((n, m, b), "float16"), C: T.Tensor((b, b), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((m, b), "float16")
            y = T.alloc_shared((m, b), "float16")
            acc = T.alloc_fragment((b, b), "float32")
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[k, 0, 0], x)
                T.copy(B[k, 0, 0], y)
                T.gemm(x, y, acc, transpose_A=True)
            T.copy(acc, C)

    return main


@tilelang.jit
def carried_var(n=6, b=64):
    @T.prim_func
    def main(P: T.Tensor((8,), "int32"), A: T.Tensor((8, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            x = T.alloc_shared((b,), "float32")
            acc = T.alloc_fragment((b,), "float32")
            at = T.alloc_var("int32")
            at = 0
            T.clear(acc)
            for k in T.Pipelined(n, num_stages=3):
                T.copy(A[at & 7, 0], x)
                for i in T.Parallel(b):
                    acc[i] += x[b - 1 - i]
                at = at + P[k]
            T.copy(acc, C)

    return main


@tilelang.jit
def late_start(M=128, N=128, K=256, bk=32, from_turn=3):
    """The first turns bring nothing: no product is under way when the next one begins."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), P: T.Tensor((K // bk,), "int32"),
             C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, bk), "float16")
            b = T.alloc_shared((bk, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.clear(c)
            for k in T.Pipelined(K // bk, num_stages=2):
                if P[k] % 8 != 7 and k >= from_turn:
                    T.copy(A[0, k * bk], a)
                    T.copy(B[k * bk, 0], b)
                    T.gemm(a, b, c)
            T.copy(c, C)

    return main
