# What the block has done is waited for before the first of several roles: between two of them the first may wait
# for the second in memory.  A wait for MMAs says of what it waits, also where a branch needs no barrier.
# verify: :weights
# verify: :weights n=7 slots=3
# verify: :weights n=5 branch=True
# verify: :weights n=5 between=True
# verify: :rounds
# verify: :products --sm_80=unsupported-here --hip=tile-threads
# verify: :products M=100 N=72 K=40 --sm_80=unsupported-here --hip=tile-threads
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def weights(n=3, slots=2, R=32, D=64, branch=False, between=False):
    """All threads bring the weights, some of them the bias; the role that loads is written first, and waits for the one that multiplies."""

    @T.prim_func
    def main(
        X: T.Tensor((n, R, D), "float16"),
        W: T.Tensor((D, D), "float16"),
        B: T.Tensor((D,), "float32"),
        Y: T.Tensor((n, R, D), "float32"),
    ):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((slots, R, D), "float16")
            w = T.alloc_shared((D, D), "float16")
            b = T.alloc_shared((D,), "float32")
            c = T.alloc_fragment((R, D), "float32")
            full = T.alloc_barrier([128] * slots)
            free = T.alloc_barrier([128] * slots)
            T.copy(W, w)
            T.copy(B, b)
            if branch:
                if tx >= 128:
                    for k in range(n):
                        T.barrier_wait(free[k % slots], (k // slots) % 2 ^ 1)
                        for i in T.serial(R * D // 128):
                            x[k % slots, (i * 128 + tx - 128) // D, tx % D] = X[k, (i * 128 + tx - 128) // D, tx % D]
                        T.barrier_arrive(full[k % slots])
            else:
                with T.ws(1):
                    for k in range(n):
                        T.barrier_wait(free[k % slots], (k // slots) % 2 ^ 1)
                        T.copy(X[k, 0, 0], x[k % slots, :, :])
                        T.barrier_arrive(full[k % slots])
            last = n - 1
            if between:
                last = T.alloc_var("int32", init=n - 1)
            with T.ws(0):
                for k in range(last + 1):
                    T.barrier_wait(full[k % slots], (k // slots) % 2)
                    T.clear(c)
                    T.gemm(x[k % slots, :, :], w, c)
                    T.barrier_arrive(free[k % slots])
                    for i, d in T.Parallel(R, D):
                        Y[k, i, d] = c[i, d] + b[d]

    return main


@tilelang.jit(out_idx=[-1])
def rounds(n=3, N=128, rounds=2):
    """The block changes a table before each round of the two roles."""

    @T.prim_func
    def main(X: T.Tensor((rounds, n, N), "float32"), Y: T.Tensor((rounds, n, N), "float32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((N,), "float32")
            table = T.alloc_shared((256,), "float32")
            full = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            for r in T.serial(rounds):
                for i in T.Parallel(256):
                    table[255 - i] = i + r
                with T.ws(1):
                    for k in T.serial(n):
                        T.barrier_wait(free, (r * n + k) % 2 ^ 1)
                        x[tx - 128] = X[r, k, tx - 128]
                        T.barrier_arrive(full)
                with T.ws(0):
                    for k in T.serial(n):
                        T.barrier_wait(full, (r * n + k) % 2)
                        Y[r, k, tx] = x[tx] + table[tx]
                        T.barrier_arrive(free)

    return main


@tilelang.jit(out_idx=[-1])
def products(M=64, N=64, K=96, slots=3, bm=64, bn=64, bk=32):
    """One thread copies; nothing in the branch of the others needs a barrier but their wait for the products."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=160) as (bx, by):
            tx = T.get_thread_binding()
            a = T.alloc_shared((slots, bm, bk), "bfloat16")
            b = T.alloc_shared((slots, bk, bn), "bfloat16")
            c = T.alloc_fragment((bm, bn), "float32")
            full = T.alloc_barrier([1] * slots)
            free = T.alloc_barrier([128] * slots)
            if tx >= 128:
                if tx == 128:
                    for k in range(T.ceildiv(K, bk)):
                        T.mbarrier_wait_parity(free[k % slots], (k // slots) % 2 ^ 1)
                        T.tma_copy(A[by * bm, k * bk], a[k % slots, :, :], barrier=full[k % slots])
                        T.tma_copy(B[k * bk, bx * bn], b[k % slots, :, :], barrier=full[k % slots])
                        T.mbarrier_arrive(full[k % slots])
            else:
                T.clear(c)
                for k in range(T.ceildiv(K, bk)):
                    T.mbarrier_wait_parity(full[k % slots], (k // slots) % 2)
                    T.wgmma_gemm(a[k % slots, :, :], b[k % slots, :, :], c)
                    T.wait_wgmma(0)
                    T.mbarrier_arrive(free[k % slots])
                T.copy(c, C[by * bm, bx * bn])

    return main
