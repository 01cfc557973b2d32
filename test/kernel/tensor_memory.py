# Accumulators in tensor memory, products that announce themselves at a barrier.
# verify: :product --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
# verify: :product M=64 N=32 K=96 --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
# verify: :specialised --sm_80=unsupported-here --sm_90a=unsupported-here --sm_120a=unsupported-here --template=unsupported-here --hip=unsupported-here
# verify: :cluster_of_one
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=128, N=64, K=128, bk=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, bk), "float16")
            b = T.alloc_shared((N, bk), "float16")
            c = T.alloc_tmem([M, N], "float32")
            out = T.alloc_fragment((M, N), "float32")
            done = T.alloc_barrier(1)
            for k in T.serial(K // bk):
                T.copy(A[0, k * bk], a)
                T.copy(B[0, k * bk], b)
                T.tcgen05_gemm(a, b, c, transpose_B=True, mbar=done, clear_accum=k == 0)
                T.mbarrier_wait_parity(done, k % 2)
            T.copy(c, out)
            T.copy(out, C)

    return main


# One group loads, one multiplies, both hand over at barriers.
@tilelang.jit
def specialised(M=64, N=64, K=128, bk=32, stages=2):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=256) as bx:
            a = T.alloc_shared((stages, M, bk), "float16")
            b = T.alloc_shared((stages, bk, N), "float16")
            c = T.alloc_tmem([M, N], "float32")
            out = T.alloc_fragment((M, N), "float32")
            loaded = T.alloc_barrier([128] * stages)
            consumed = T.alloc_barrier([1] * stages)
            finished = T.alloc_barrier(1)
            with T.ws(0):
                for k in T.serial(K // bk):
                    T.mbarrier_wait_parity(consumed[k % stages], ((k // stages) & 1) ^ 1)
                    T.tma_copy(A[0, k * bk], a[k % stages, :, :], barrier=loaded[k % stages])
                    T.tma_copy(B[k * bk, 0], b[k % stages, :, :], barrier=loaded[k % stages])
                    T.mbarrier_arrive(loaded[k % stages])
            with T.ws(1):
                for k in T.serial(K // bk):
                    T.mbarrier_wait_parity(loaded[k % stages], (k // stages) & 1)
                    T.tcgen05_gemm(a[k % stages, :, :], b[k % stages, :, :], c, mbar=consumed[k % stages], clear_accum=k == 0)
                T.tcgen05_mma_arrive(finished)
            T.mbarrier_wait_parity(finished, 0)
            T.sync_threads()
            T.copy(c, out)
            T.copy(out, C)

    return main


@tilelang.jit
def cluster_of_one(n=64):
    @T.prim_func
    def main(A: T.Tensor((4, n), "float32"), B: T.Tensor((4, n), "float32")):
        with T.ClusterKernel(4, cluster_dims=1, threads=32) as bx:
            s = T.alloc_shared((n,), "float32")
            T.copy(A[bx, 0], s)
            T.cluster_sync()
            for i in T.Parallel(n):
                s[i] = s[i] + T.block_rank_in_cluster()
            T.copy(s, B[bx, 0])

    return main
