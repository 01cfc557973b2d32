# T.async_copy in a loop that the kernel pipelines itself: so many groups stay in flight while it computes.
# verify: :product
# verify: :product ahead=3 K=200 M=100 N=70
# verify: :product dtype=bfloat16 threads=256 bk=64 K=256
# verify: :product dtype=int8 acc=int32 bk=64 K=192
# verify: :product M=33 N=65 K=40 ahead=1
# verify: :rows
# verify: :rows N=250 threads=192
# verify: :sometimes
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=128, N=128, K=160, ahead=2, bm=64, bn=64, bk=32, dtype="float16", acc="float32", threads=128):
    slots = ahead + 1
    steps = (K + bk - 1) // bk

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), acc)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((slots, bm, bk), dtype)
            b = T.alloc_shared((slots, bn, bk), dtype)
            c = T.alloc_fragment((bm, bn), acc)
            T.clear(c)
            for s in T.unroll(ahead):
                T.async_copy(A[by * bm, s * bk], a[s, :, :])
                T.async_copy(B[bx * bn, s * bk], b[s, :, :])
            for k in T.serial(steps):
                T.sync_threads()
                T.async_copy(A[by * bm, (k + ahead) * bk], a[(k + ahead) % slots, :, :])
                T.async_copy(B[bx * bn, (k + ahead) * bk], b[(k + ahead) % slots, :, :])
                T.ptx_wait_group(2 * ahead)
                T.sync_threads()
                T.gemm(a[k % slots, :, :], b[k % slots, :, :], c, transpose_B=True)
            T.ptx_wait_group(0)
            T.copy(c, C[by * bm, bx * bn])

    return main


@tilelang.jit
def rows(M=9, N=256, threads=128):
    """One row ahead of the one that is summed."""
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((M,), "float32")):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared((2, N), "float32")
            x = T.alloc_fragment((1, N), "float32")
            s = T.alloc_fragment((1,), "float32")
            T.async_copy(A[0, 0:N], a[0, 0:N])
            for m in T.serial(M):
                T.sync_threads()
                if m + 1 < M:
                    T.async_copy(A[m + 1, 0:N], a[(m + 1) % 2, 0:N])
                    T.ptx_wait_group(1)
                else:
                    T.ptx_wait_group(0)
                T.sync_threads()
                for i, j in T.Parallel(1, N):
                    x[i, j] = a[m % 2, j]
                T.reduce_sum(x, s, dim=1)
                C[m] = s[0]

    return main


@tilelang.jit
def sometimes(N=256, rounds=6):
    """Copies that only some rounds issue: what is waited for is what every path has issued."""
    @T.prim_func
    def main(A: T.Tensor((rounds, N), "float32"), F: T.Tensor((rounds,), "int32"), C: T.Tensor((rounds, N), "float32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((2, N), "float32")
            T.clear(a)
            for k in T.serial(rounds):
                T.sync_threads()
                if F[k] > 0:
                    T.async_copy(A[k, 0:N], a[0, 0:N])
                T.async_copy(A[k, 0:N], a[1, 0:N])
                T.ptx_wait_group(0)
                T.sync_threads()
                for i in T.Parallel(N):
                    C[k, i] = a[0, N - 1 - i] * 2 + a[1, i]

    return main
