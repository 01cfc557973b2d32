# Missing or misplaced synchronisation, races, hangs.
# gpu: TL#2612 :branch
# gpu: TL#2556 :few_threads threads=48
# gpu: TL#2556 :few_threads threads=100
# right: TL#2613 :product stages=0
# right: TL#2613 :product stages=1
# right: TL#2699 :cleared
# right: TL#2703 :cleared N=200
# right: TL#1257 :counted
# right: TL#1822 :conditional_write
# right: TL#1604 :conditional_write N=33
# right: TL#1026 :after_branch
# right: TL#2416 :reused
# right: TL#2566 :product K=32 stages=3
# right: TL#2566 :product K=20 stages=2
# right: TL#2559 :product blocks=2 stages=2
# right: TL#2567 examples/flash_attention.py S=50 H=1 D=16 block_M=16 block_N=32 causal=True dtype=float16
# right: TileOPs#1900 :product dtype=float8_e4m3fn stages=3
# gpu: TL#374 :guarded_wait
# warns: TL#1560 :racy [parallel-race]
# silent: TL#1615 :not_racy
# silent: TL#2851 :not_racy N=77
import tilelang
import tilelang.language as T


# Half the threads hand values to each other inside the branch that only they enter.
@tilelang.jit
def branch(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "float32")
            if t < N:
                for i in T.Parallel(N):
                    s[i] = A[i] * 2
                for i in T.Parallel(N):
                    B[i] = s[N - 1 - i]

    return main


@tilelang.jit
def few_threads(threads=48):
    @T.prim_func
    def main(A: T.Tensor((threads,), "float32"), B: T.Tensor((threads,), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((threads,), "float32")
            s[t] = A[t]
            B[t] = s[threads - 1 - t]

    return main


@tilelang.jit
def product(M=128, N=64, K=96, bm=64, bn=64, bk=32, stages=2, blocks=0, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bn, bk), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            if blocks:
                T.annotate_min_blocks_per_sm(blocks)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], a)
                T.copy(B[bx * bn, k * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * bm, bx * bn])

    return main


# Shared memory that is cleared in bulk, then added to by others.
@tilelang.jit
def cleared(N=96):
    @T.prim_func
    def main(A: T.Tensor((3, N), "float32"), B: T.Tensor((3, N), "float32")):
        with T.Kernel(1, threads=96) as bx:
            s = T.alloc_shared((N,), "float32")
            for k in T.serial(3):
                T.clear(s)
                for i in T.Parallel(N):
                    s[N - 1 - i] += A[k, i]
                for i in T.Parallel(N):
                    B[k, i] = s[i] + s[N - 1 - i]

    return main


@tilelang.jit
def counted(N=200, bins=8):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), B: T.Tensor((bins,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((bins,), "int32")
            T.clear(s)
            for i in T.Parallel(N):
                T.atomic_add(s[A[i] & (bins - 1)], 1)
            for i in T.Parallel(bins):
                B[i] = s[bins - 1 - i]

    return main


@tilelang.jit
def conditional_write(N=64):
    @T.prim_func
    def main(A: T.Tensor((4, N), "float32"), B: T.Tensor((4, N), "float32")):
        with T.Kernel(4, threads=64) as bx:
            s = T.alloc_shared((N,), "float32")
            T.fill(s, 1)
            if bx % 2 == 0:
                T.copy(A[bx, 0], s)
            for i in T.Parallel(N):
                B[bx, i] = s[N - 1 - i]

    return main


# Not all threads take the branch; the barrier that follows is for all.
@tilelang.jit
def after_branch(N=96):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "float32")
            s[t] = 0
            if A[t] > 0:
                s[t] = A[t]
            B[t] = s[(t + 7) % N]

    return main


# Tiles that never live at once.
@tilelang.jit
def reused(N=64):
    @T.prim_func
    def main(A: T.Tensor((N, N), "float32"), B: T.Tensor((N, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((N, N), "float32")
            u = T.alloc_shared((N, N), "float32")
            f = T.alloc_fragment((N, N), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(N, N):
                f[i, j] = s[j, i]
            T.copy(f, u)
            for i, j in T.Parallel(N, N):
                B[i, j] = u[j, i] * 2

    return main


# A wait whose condition calls something.
@tilelang.jit
def guarded_wait(N=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=N) as bx:
            t = T.get_thread_binding()
            s = T.alloc_shared((N,), "float32")
            full = T.alloc_barrier(N)
            s[t] = A[t]
            T.mbarrier_arrive(full)
            if T.shuffle_elect(N):
                T.mbarrier_wait_parity(full, 0)
            T.mbarrier_wait_parity(full, 0)
            B[t] = s[N - 1 - t]

    return main


@tilelang.jit
def racy(N=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(N):
                B[i // 2] = A[i]

    return main


@tilelang.jit
def not_racy(N=64):
    @T.prim_func
    def main(A: T.Tensor((2 * N,), "float32"), B: T.Tensor((2 * N,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i, j in T.Parallel(N, 2):
                B[i * 2 + (1 - j)] = A[i * 2 + j]

    return main
