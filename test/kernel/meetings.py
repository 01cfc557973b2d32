# Threads meet where they share memory, whether or not the kernel says so.
# verify: :reversed_row
# verify: :counters
# verify: :rounds
# verify: :until_small
# verify: :first_writes
# verify: :boxes_in_turn
import tilelang
import tilelang.language as T


@tilelang.jit
def reversed_row(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((n,), "float32")
            s[t] = A[t]
            B[t] = s[n - 1 - t]

    return main


@tilelang.jit
def counters(n=16, m=8):
    @T.prim_func
    def main(A: T.Tensor((m, n), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=(n, m)) as bx:
            t = T.get_thread_binding(0)
            r = T.get_thread_binding(1)
            s = T.alloc_shared((n,), "float32")
            if r == 0:
                s[t] = 0
            T.atomic_add(s[t], A[r, t])
            B[t] = s[t]

    return main


# What one round reads the next overwrites.
@tilelang.jit
def rounds(n=32, k=5):
    @T.prim_func
    def main(A: T.Tensor((k, n), "int32"), B: T.Tensor((n,), "int32")):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((n,), "int32")
            own = T.alloc_local((1,), "int32")
            own[0] = 0
            for i in T.serial(k):
                s[t] = A[i, t] % 16 + own[0] % 4
                own[0] += s[(t + 1) % n]
            B[t] = own[0]

    return main


@tilelang.jit
def until_small(n=32):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), B: T.Tensor((n,), "int32")):
        with T.Kernel(1, threads=n) as bx:
            t = T.get_thread_binding()
            top = T.alloc_shared((1,), "int32")
            s = T.alloc_shared((n,), "int32")
            if t == 0:
                top[0] = 9
            s[t] = A[t] % 10
            while top[0] > 0:
                x = s[(t + top[0]) % n]
                s[t] = s[t] + x
                if t == 0:
                    top[0] = top[0] - 2
            B[t] = s[t]

    return main


@tilelang.jit
def first_writes(n=128):
    @T.prim_func
    def main(out: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=n) as bx:
            s = T.alloc_shared((32,), "float32")
            t = T.get_thread_binding()
            if t < 32:
                s[t] = t * 2
            out[t] = s[(t * 7) % 32]

    return main


@tilelang.jit
def boxes_in_turn(M=48, N=48, K=32):
    """In the first turn threads meet about sums, in the others about B: A must be met about in all."""

    @T.prim_func
    def main(A: T.Tensor((4 * M, 8), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32"), D: T.Tensor((M, 85), "float32")):
        with T.Kernel(1, threads=128) as bx:
            sums = T.alloc_shared((M, 85), "float32")
            a = T.alloc_shared((M, 8), "float32")
            b = T.alloc_shared((8, N), "float32")
            c = T.alloc_fragment((M, N), "float32")
            T.clear(sums)
            T.clear(c)
            for k in T.serial(K // 8):
                T.copy(A[k * M, 0], a)
                T.copy(B[k * 8, 0], b)
                T.gemm(a, b, c)
                for i, j in T.Parallel(M, 85):
                    sums[i, j] = sums[i, j] - b[i % 8, j % N] * 0.25
            T.copy(c, C)
            T.copy(sums, D)

    return main
