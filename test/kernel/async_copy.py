# T.async_copy: groups closed by each copy, waited for by hand.
# verify: :two_groups
# verify: :two_groups dtype=int8 n=48
# verify: :two_groups dtype=float16 n=33
# verify: :two_groups dtype=float64 n=10
# verify: :double_buffer
# verify: :ragged M=20
# verify: :by_thread
import tilelang
import tilelang.language as T


@tilelang.jit
def two_groups(n=64, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype), C: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((n,), dtype)
            b = T.alloc_shared((n,), dtype)
            acc = T.alloc_fragment((n,), "float32")
            T.async_copy(A, a)
            T.async_copy(B, b)
            T.ptx_wait_group(1)
            for i in T.Parallel(n):
                acc[i] = a[n - 1 - i]
            T.ptx_wait_group(0)
            for i in T.Parallel(n):
                acc[i] += b[n - 1 - i] * 3
            T.copy(acc, C)

    return main


@tilelang.jit
def double_buffer(n=5, b=64):
    @T.prim_func
    def main(A: T.Tensor((n, b), "float32"), C: T.Tensor((b,), "float32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((2, b), "float32")
            acc = T.alloc_fragment((b,), "float32")
            T.clear(acc)
            T.async_copy(A[0, 0:b], a[0, 0:b])
            for k in T.serial(n):
                if k + 1 < n:
                    T.sync_threads()
                    T.async_copy(A[k + 1, 0:b], a[(k + 1) % 2, 0:b])
                    T.ptx_wait_group(1)
                else:
                    T.ptx_wait_group(0)
                for i in T.Parallel(b):
                    acc[i] += a[k % 2, b - 1 - i] * (k + 1)
            T.copy(acc, C)

    return main


@tilelang.jit
def ragged(M=20, N=40, bm=16, bn=32):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=32) as (bx, by):
            a = T.alloc_shared((bm, bn), "float16")
            T.async_copy(A[by * bm, bx * bn], a)
            T.ptx_wait_group(0)
            for i, j in T.Parallel(bm, bn):
                if by * bm + i < M and bx * bn + j < N:
                    C[by * bm + i, bx * bn + j] = a[i, j] * 2

    return main


@tilelang.jit
def by_thread(M=8, N=64, dtype="float16"):
    """Each thread names what it copies; the last row is zeros."""

    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((M, N), dtype)
            tx = T.get_thread_binding(0)
            row = tx // 8
            col = tx % 8 * 8
            T.ptx_cp_async(T.address_of(a[row, col]), T.address_of(A[row, col]), 8, row < M - 1)
            T.ptx_commit_group()
            T.ptx_wait_group(0)
            T.sync_threads()
            for i, j in T.Parallel(M, N):
                C[i, j] = a[M - 1 - i, j] * 2

    return main
