# Roles that wait for each other by hand fill more of shared memory than is left for the result, which lies where their tiles were.
import tilelang
import tilelang.language as T


# fault: what keeps the tiles from being known to be free. 1: the last loads are waited for by nobody; 2: an MMA comes after the commit;
# 3: a tile is read later; 4: loads come in more turns than waits; 5: another commit at the barrier; 6: a thread arrives too often.
@tilelang.jit
def product(M=128, N=256, K=512, bk=64, stages=4, threads=128, fault=0):
    steps = K // bk

    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), C: T.Tensor((M, N), "bfloat16")):
        with T.Kernel(M // 128, N // 256, threads=threads) as (bx, by):
            a = T.alloc_shared((stages, 128, bk), "bfloat16")
            b = T.alloc_shared((stages, bk, 256), "bfloat16")
            c = T.alloc_tmem([128, 256], "float32")
            out = T.alloc_fragment((128, 256), "float32")
            staged = T.alloc_shared((128, 256), "bfloat16")
            loaded = T.alloc_barrier([32] * stages)
            free = T.alloc_barrier([1] * stages)
            done = T.alloc_barrier([1])
            tx = T.get_thread_binding()
            if tx < 32:
                for k in T.serial(steps + (1 if fault == 1 else 0)):
                    T.mbarrier_wait_parity(free[k % stages], ((k // stages) & 1) ^ 1)
                    s = k % (stages - 1) if fault == 4 else k % stages
                    T.tma_copy(A[bx * 128 : bx * 128 + 128, k * bk : k * bk + bk], a[k % stages, :, :], barrier=loaded[s])
                    T.tma_copy(B[k * bk : k * bk + bk, by * 256 : by * 256 + 256], b[k % stages, :, :], barrier=loaded[s])
                    T.mbarrier_arrive(loaded[s])
                    if fault == 6 and k == 0:
                        T.mbarrier_arrive(loaded[k % stages])
            elif tx < 64:
                for k in T.serial(steps - (1 if fault == 2 else 0)):
                    T.mbarrier_wait_parity(loaded[k % stages], (k // stages) & 1)
                    T.tcgen05_gemm(a[k % stages, :, :], b[k % stages, :, :], c, mbar=free[k % stages], clear_accum=k == 0)
                T.tcgen05_mma_arrive(done)
                if fault == 2:
                    T.tcgen05_gemm(a[0, :, :], b[0, :, :], c, mbar=free[0])
                if fault == 5:
                    T.tcgen05_mma_arrive(done)
            T.mbarrier_wait_parity(done, 0)
            T.copy(c, out)
            T.copy(out, staged)
            T.copy(staged, C[bx * 128, by * 256])
            if fault == 3 and tx == 0:
                C[0, 0] = a[0, 0, 0] + b[0, 0, 0]

    return main


# The same by pairs of blocks: the first one issues the MMAs of both.  all_commit: both blocks commit, so that the wait may see the wrong one.
@tilelang.jit
def pair(M=256, N=256, K=384, bk=64, stages=6, all_commit=False):
    steps = K // bk

    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), C: T.Tensor((M, N), "bfloat16")):
        with T.ClusterKernel(M // 128, N // 256, threads=128, cluster_dims=2) as (bx, by):
            a = T.alloc_shared((stages, 128, bk), "bfloat16")
            b = T.alloc_shared((stages, bk, 128), "bfloat16")
            c = T.alloc_tmem([128, 256], "float32")
            out = T.alloc_fragment((128, 256), "float32")
            staged = T.alloc_shared((128, 256), "bfloat16")
            loaded = T.alloc_cluster_barrier([32 * 2] * stages)
            free = T.alloc_cluster_barrier([1] * stages)
            done = T.alloc_barrier([1])
            tx = T.get_thread_binding()
            rank = T.block_rank_in_cluster()
            first = (by * 2 + rank) * 128
            if tx < 32:
                for k in T.serial(steps):
                    T.mbarrier_wait_parity(free[k % stages], ((k // stages) & 1) ^ 1)
                    T.tma_copy(A[bx * 128 : bx * 128 + 128, k * bk : k * bk + bk], a[k % stages, :, :], barrier=loaded[k % stages])
                    T.tma_copy(B[k * bk : k * bk + bk, first : first + 128], b[k % stages, :, :], barrier=loaded[k % stages])
                    T.mbarrier_arrive(loaded[k % stages], 0)
            elif tx < 64 and rank == 0:
                for k in T.serial(steps):
                    T.mbarrier_wait_parity(loaded[k % stages], (k // stages) & 1)
                    T.tcgen05_gemm(a[k % stages, :, :], b[k % stages, :, :], c, mbar=free[k % stages], clear_accum=k == 0, use_2cta=True)
                if not all_commit:
                    T.tcgen05_mma_arrive(done, arrive_2cta=True)
            if all_commit and tx < 64 and tx >= 32:
                T.tcgen05_mma_arrive(done, arrive_2cta=True)
            T.mbarrier_wait_parity(done, 0)
            T.copy(c, out)
            T.copy(out, staged)
            T.copy(staged, C[bx * 128, by * 256])

    return main
