# Roles, barriers and bulk copies written by hand: T.ws, T.alloc_barrier, T.tma_copy.
# verify: :two_roles
# verify: :two_roles M=100 N=72 K=40
# verify: :two_roles K=160 slots=3
# verify: :in_step N=96 M=40
# verify: :one_arrives
# verify: :one_arrives K=65 n=5
# verify: :one_arrives K=33 role=1
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def two_roles(M=128, N=64, K=96, slots=2, bm=64, bn=64, bk=32):
    """Warpgroup 1 copies, warpgroup 0 multiplies."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=256) as (bx, by):
            a = T.alloc_shared((slots, bm, bk), "float16")
            b = T.alloc_shared((slots, bn, bk), "float16")
            c = T.alloc_fragment((bm, bn), "float32")
            full = T.alloc_barrier([128] * slots)
            empty = T.alloc_barrier([128] * slots)
            with T.ws(0):
                T.clear(c)
            for k in T.serial(T.ceildiv(K, bk)):
                with T.ws(1):
                    T.barrier_wait(empty[k % slots], (k // slots + 1) % 2)
                    T.tma_copy(A[by * bm, k * bk], a[k % slots, :, :], barrier=full[k % slots])
                    T.tma_copy(B[bx * bn, k * bk], b[k % slots, :, :], barrier=full[k % slots])
                    T.barrier_arrive(full[k % slots])
                with T.ws(0):
                    T.barrier_wait(full[k % slots], k // slots % 2)
                    T.gemm(a[k % slots, :, :], b[k % slots, :, :], c, transpose_B=True)
                    T.barrier_arrive(empty[k % slots])
            with T.ws(0):
                T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit(out_idx=[-1])
def in_step(M=64, N=64):
    """All threads wait for what one of them asked for."""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32), threads=64) as (bx, by):
            a = T.alloc_shared((32, 32), "float32")
            here = T.alloc_barrier(64)
            T.tma_copy(A[by * 32, bx * 32], a, barrier=here)
            T.barrier_arrive(here)
            T.barrier_wait(here, 0)
            for i, j in T.Parallel(32, 32):
                a[i, j] = a[i, j] * 2 + 1
            T.copy(a, B[by * 32, bx * 32])

    return main


@tilelang.jit(out_idx=[-1])
def one_arrives(M=64, K=64, n=3, role=0):
    """One thread arrives for those that copied: rows that no bulk copy takes are copied by threads."""

    @T.prim_func
    def main(A: T.Tensor((n, M, K), "float16"), B: T.Tensor((n, M, K), "float16")):
        with T.Kernel(1, threads=256) as bx:
            tx = T.get_thread_binding()
            a = T.alloc_shared((2, M, K), "float16")
            full = T.alloc_barrier([1, 1])
            free = T.alloc_barrier([128, 128])
            with T.ws(role):
                for k in T.serial(n):
                    T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                    T.tma_copy(A[k, 0, 0], a[k % 2, :, :], barrier=full[k % 2])
                    if tx == role * 128:
                        T.barrier_arrive(full[k % 2])
            with T.ws(1 - role):
                for k in T.serial(n):
                    T.barrier_wait(full[k % 2], k // 2 % 2)
                    for i, j in T.Parallel(M, K):
                        B[k, i, j] = a[k % 2, M - 1 - i, K - 1 - j]
                    T.barrier_arrive(free[k % 2])

    return main
