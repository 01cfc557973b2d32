# T.Pipelined around T.ws: stages of tiles and barriers, and loops that must stay as written.
# verify: :product
# verify: :product S=3 K=80
# verify: :product K=16 S=4
# verify: :product S=2 flip=True
# verify: :offset
# verify: :by_stores
# verify: :three
# verify: :twice
# verify: :late
# verify: :kept
# verify: :odd_count
# verify: :used_after
# verify: :in_a_loop
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=64, N=32, K=128, bk=16, S=2, flip=False):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            a = T.alloc_shared((M, bk), "float16")
            b = T.alloc_shared((bk, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            full = T.alloc_barrier(arrive_count=128)
            free = T.alloc_barrier(arrive_count=128)
            with T.ws(0):
                T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=S):
                with T.ws(1):
                    T.barrier_wait(free, (k & 1) ^ 1 if flip else (k + 1) % 2)
                    T.tma_copy(A[0, k * bk], a, barrier=full)
                    T.tma_copy(B[k * bk, 0], b, barrier=full)
                    T.barrier_arrive(full)
                with T.ws(0):
                    T.barrier_wait(full, k & 1 if flip else k % 2)
                    T.gemm(a, b, c)
                    T.barrier_arrive(free)
            with T.ws(0):
                T.copy(c, C)

    return main


@tilelang.jit
def offset(n=7, b=128):  # a loop that does not start at 0
    @T.prim_func
    def main(A: T.Tensor((n + 3, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            u = T.alloc_fragment((b,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            with T.ws(1):
                T.clear(u)
            for k in T.Pipelined(3, n + 3, num_stages=3):
                with T.ws(0):
                    T.barrier_wait(free, k % 2)
                    T.copy(A[k, 0], x)
                    T.barrier_arrive(full)
                with T.ws(1):
                    T.barrier_wait(full, (k + 1) % 2)
                    for i in T.Parallel(b):
                        u[i] += x[b - 1 - i]
                    T.barrier_arrive(free)
            with T.ws(1):
                T.copy(u, C)

    return main


@tilelang.jit
def by_stores(n=5, b=128):  # a tile whole by T.copy, by the role's own threads
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            u = T.alloc_fragment((b,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            with T.ws(1):
                T.clear(u)
            for k in T.Pipelined(n, num_stages=2):
                with T.ws(0):
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(A[k, 0], x)
                    T.barrier_arrive(full)
                with T.ws(1):
                    T.barrier_wait(full, k % 2)
                    for i in T.Parallel(b):
                        u[i] += x[b - 1 - i]
                    T.barrier_arrive(free)
            with T.ws(1):
                T.copy(u, C)

    return main


@tilelang.jit
def three(n=6, b=128):  # a chain of three roles, two tiles
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=384) as bx:
            x = T.alloc_shared((b,), "float32")
            y = T.alloc_shared((b,), "float32")
            u = T.alloc_fragment((b,), "float32")
            v = T.alloc_fragment((b,), "float32")
            full = T.alloc_barrier(128)
            mid = T.alloc_barrier(128)
            free = T.alloc_barrier(256)
            with T.ws(2):
                T.clear(u)
            for k in T.Pipelined(n, num_stages=3):
                with T.ws(0):
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(A[k, 0], x)
                    T.barrier_arrive(full)
                with T.ws(1):
                    T.barrier_wait(full, k % 2)
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(x, v)
                    for i in T.Parallel(b):
                        v[i] = v[i] * 3
                    T.copy(v, y)
                    T.barrier_arrive(mid)
                    T.barrier_arrive(free)
                with T.ws(2):
                    T.barrier_wait(mid, k % 2)
                    for i in T.Parallel(b):
                        u[i] += y[b - 1 - i]
                    T.barrier_arrive(free)
            with T.ws(2):
                T.copy(u, C)

    return main


@tilelang.jit
def twice(n=5, b=128):  # two tiles, one for each half of an iteration
    @T.prim_func
    def main(A: T.Tensor((2 * n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            y = T.alloc_shared((b,), "float32")
            u = T.alloc_fragment((b,), "float32")
            first = T.alloc_barrier(128)
            second = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            with T.ws(0):
                T.clear(u)
            for k in T.Pipelined(n, num_stages=2):
                with T.ws(1):
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(A[2 * k, 0], x)
                    T.barrier_arrive(first)
                    T.copy(A[2 * k + 1, 0], y)
                    T.barrier_arrive(second)
                with T.ws(0):
                    T.barrier_wait(first, k % 2)
                    for i in T.Parallel(b):
                        u[i] += x[b - 1 - i]
                with T.ws(0):
                    T.barrier_wait(second, k % 2)
                    for i in T.Parallel(b):
                        u[i] -= y[b - 1 - i] * 2
                    T.barrier_arrive(free)
            with T.ws(0):
                T.copy(u, C)

    return main


@tilelang.jit
def late(n=5, b=128):  # what is read came in the iteration before: it stays
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((n, b), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            for k in T.Pipelined(n, num_stages=2):
                with T.ws(1):
                    T.barrier_wait(full, (k + 1) % 2)
                    for i in T.Parallel(b):
                        C[k, i] = T.if_then_else(k == 0, 1.0, x[b - 1 - i])
                    T.barrier_arrive(free)
                with T.ws(0):
                    T.barrier_wait(free, k % 2)
                    T.copy(A[k, 0], x)
                    T.barrier_arrive(full)

    return main


@tilelang.jit
def kept(n=5, b=128):  # a sum from iteration to iteration between two roles: it stays
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((n, b), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            for k in T.Pipelined(n, num_stages=2):
                with T.ws(0):
                    T.barrier_wait(free, (k + 1) % 2)
                    if k == 0:
                        T.fill(x, 0)
                    for i in T.Parallel(b):
                        x[i] += A[k, i]
                    T.barrier_arrive(full)
                with T.ws(1):
                    T.barrier_wait(full, k % 2)
                    for i in T.Parallel(b):
                        C[k, i] = x[b - 1 - i]
                    T.barrier_arrive(free)

    return main


@tilelang.jit
def odd_count(n=6, b=128):  # two arrivals of each thread in an iteration, as the barrier counts
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((n, b), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(256)
            for k in T.Pipelined(n, num_stages=2):
                with T.ws(0):
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(A[k, 0], x)
                    T.barrier_arrive(full)
                with T.ws(1):
                    T.barrier_wait(full, k % 2)
                    for i in T.Parallel(b):
                        C[k, i] = x[b - 1 - i]
                    T.barrier_arrive(free)
                    T.barrier_arrive(free)

    return main


@tilelang.jit
def used_after(n=5, b=128):  # the last tile is read behind the loop
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            u = T.alloc_fragment((b,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            with T.ws(1):
                T.clear(u)
            for k in T.Pipelined(n, num_stages=2):
                with T.ws(0):
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(A[k, 0], x)
                    T.barrier_arrive(full)
                with T.ws(1):
                    T.barrier_wait(full, k % 2)
                    for i in T.Parallel(b):
                        u[i] += x[b - 1 - i]
                    T.barrier_arrive(free)
            with T.ws(1):
                for i in T.Parallel(b):
                    C[i] = u[i] + x[i]

    return main


@tilelang.jit
def in_a_loop(n=4, m=3, b=128):  # phases go on from one run of the loop to the next
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=256) as bx:
            x = T.alloc_shared((b,), "float32")
            u = T.alloc_fragment((b,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            with T.ws(1):
                T.clear(u)
            for j in T.serial(m):
                for k in T.Pipelined(n, num_stages=3):
                    with T.ws(0):
                        T.barrier_wait(free, (k + 1) % 2)
                        T.copy(A[k, 0], x)
                        T.barrier_arrive(full)
                    with T.ws(1):
                        T.barrier_wait(full, k % 2)
                        for i in T.Parallel(b):
                            u[i] += x[b - 1 - i] * (j + 1)
                        T.barrier_arrive(free)
            with T.ws(1):
                T.copy(u, C)

    return main
