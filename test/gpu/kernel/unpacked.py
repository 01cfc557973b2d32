# 4-bit elements beside 8-bit ones: 16 of them lie in 16 bytes of shared memory.  `by_threads`: refused, as only bulk copies leave the gaps.
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=256, N=64, K=256, bk=128, right=False, both=False, dtype="float8_e4m3fn", stages=2, by_threads=False):
    narrow = (not right or both, right or both)
    given = ["float4_e2m1fn" if n else dtype for n in narrow]
    kept = ["float4_e2m1_unpacked" if n else dtype for n in narrow]

    @T.prim_func
    def main(A: T.Tensor((M, K), given[0]), B: T.Tensor((N, K), given[1]), C: T.Tensor((M, N), "float32")):
        with T.Kernel(M // 128, threads=128) as bx:
            a = T.alloc_shared((stages, 128, bk), kept[0])
            b = T.alloc_shared((stages, N, bk), kept[1])
            sum = T.alloc_tmem([128, N], "float32")
            own = T.alloc_fragment((128, N), "float32")
            loaded = T.alloc_barrier([32] * stages)
            free = T.alloc_barrier([1] * stages)
            done = T.alloc_barrier([1])
            tx = T.get_thread_binding()
            if tx < 32:
                for k in T.serial(K // bk):
                    T.mbarrier_wait_parity(free[k % stages], (k // stages & 1) ^ 1)
                    if by_threads:
                        for i, j in T.Parallel(128, bk):
                            a[k % stages, i, j] = A[bx * 128 + i, k * bk + j]
                        T.fence_proxy_async()
                    else:
                        T.tma_copy(A[bx * 128:bx * 128 + 128, k * bk:k * bk + bk], a[k % stages, :, :], barrier=loaded[k % stages])
                    T.tma_copy(B[0:N, k * bk:k * bk + bk], b[k % stages, :, :], barrier=loaded[k % stages])
                    T.mbarrier_arrive(loaded[k % stages])
            elif tx < 64:
                for k in T.serial(K // bk):
                    T.mbarrier_wait_parity(loaded[k % stages], k // stages & 1)
                    T.tcgen05_gemm(a[k % stages, :, :], b[k % stages, :, :], sum, transpose_B=True, mbar=free[k % stages], clear_accum=k == 0)
                T.tcgen05_mma_arrive(done)
            T.mbarrier_wait_parity(done, 0)
            T.copy(sum, own)
            T.copy(own, C[bx * 128, 0])

    return main


# The same, by the compiler's own pipeline; tile="float4_e2m1fn": the compiler gives each element a byte.
@tilelang.jit
def pipelined(M=256, N=128, K=512, bk=128, num_stages=2, right=False, both=False, dtype="float8_e4m3fn", tile="float4_e2m1_unpacked"):
    narrow = (not right or both, right or both)
    given = ["float4_e2m1fn" if n else dtype for n in narrow]
    kept = [tile if n else dtype for n in narrow]

    @T.prim_func
    def main(A: T.Tensor((M, K), given[0]), B: T.Tensor((N, K), given[1]), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, 128), T.ceildiv(N, 128), threads=128) as (bx, by):
            a = T.alloc_shared((128, bk), kept[0])
            b = T.alloc_shared((128, bk), kept[1])
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=num_stages):
                T.copy(A[bx * 128, k * bk], a)
                T.copy(B[by * 128, k * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[bx * 128, by * 128])

    return main


# Threads see an element a byte, which a bulk copy does not give them.  own: they copy it themselves.
@tilelang.jit
def reads(K=256, own=False):
    @T.prim_func
    def main(A: T.Tensor((128, K), "float4_e2m1fn"), C: T.Tensor((128, K), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 128), "float4_e2m1_unpacked")
            bar = T.alloc_barrier([1])
            for k in T.serial(K // 128):
                if own:
                    T.copy(A[0:128, k * 128:k * 128 + 128], a)
                else:
                    if T.get_thread_binding() == 0:
                        T.tma_copy(A[0:128, k * 128:k * 128 + 128], a, barrier=bar)
                        T.mbarrier_arrive(bar)
                    T.mbarrier_wait_parity(bar, k % 2)
                for i, j in T.Parallel(128, 128):
                    C[i, k * 128 + j] = T.cast(a[i, j], "float32")
                T.sync_threads()

    return main


# The tensor has a byte for each element: a bulk copy brings them without gaps, so MMAs of tensor memory would read others.
@tilelang.jit
def from_bytes(K=256, num_stages=2, back=False):
    @T.prim_func
    def main(
        A: T.Tensor((128, K), "float4_e2m1_unpacked"),
        B: T.Tensor((64, K), "float8_e4m3fn"),
        C: T.Tensor((128, 64), "float32"),
        D: T.Tensor((128, K), "float4_e2m1_unpacked"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 128), "float4_e2m1_unpacked")
            b = T.alloc_shared((64, 128), "float8_e4m3fn")
            c = T.alloc_fragment((128, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(K // 128, num_stages=num_stages):
                T.copy(A[0, k * 128], a)
                T.copy(B[0, k * 128], b)
                if back:
                    T.copy(a, D[0, k * 128])
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    return main
