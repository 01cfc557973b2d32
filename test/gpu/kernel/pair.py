# Two blocks of a cluster multiply together: each has 128 rows of A and half of the columns of B, the first one issues the MMAs.
import tilelang
import tilelang.language as T


# fault=1: the first block does not come by; 2: the second block is not told that it may load again; 3: it does not wait for the product;
# 4: one product of the kernel is for one block.
@tilelang.jit
def product(M=512, N=128, K=192, bn=64, bk=64, stages=2, dtype="bfloat16", accum="float32", trans_B=False, fault=0):
    steps = K // bk

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K) if trans_B else (K, N), dtype), C: T.Tensor((M, N), accum)):
        with T.ClusterKernel(M // 128, N // bn, threads=128, cluster_dims=2) as (bx, by):
            a = T.alloc_shared((stages, 128, bk), dtype)
            b = T.alloc_shared((stages, bn // 2, bk) if trans_B else (stages, bk, bn // 2), dtype)
            c = T.alloc_tmem([128, bn], accum)
            out = T.alloc_fragment((128, bn), accum)
            loaded = T.alloc_cluster_barrier([32 * 2] * stages)
            free = T.alloc_cluster_barrier([1] * stages)
            done = T.alloc_barrier([1])
            tx = T.get_thread_binding()
            rank = T.block_rank_in_cluster()
            T.use_swizzle(4)
            first = (by * 2 + rank) * (bn // 2)
            if tx < 32:
                for k in T.serial(steps):
                    T.mbarrier_wait_parity(free[k % stages], ((k // stages) & 1) ^ 1)
                    T.tma_copy(A[bx * 128 : bx * 128 + 128, k * bk : k * bk + bk], a[k % stages, :, :], barrier=loaded[k % stages])
                    if trans_B:
                        T.tma_copy(B[first : first + bn // 2, k * bk : k * bk + bk], b[k % stages, :, :], barrier=loaded[k % stages])
                    else:
                        T.tma_copy(B[k * bk : k * bk + bk, first : first + bn // 2], b[k % stages, :, :], barrier=loaded[k % stages])
                    T.mbarrier_arrive(loaded[k % stages], 0)
            elif tx < 64 and rank == (1 if fault == 1 else 0):
                for k in T.serial(steps):
                    if fault != 1:
                        T.mbarrier_wait_parity(loaded[k % stages], (k // stages) & 1)
                    T.tcgen05_gemm(a[k % stages, :, :], b[k % stages, :, :], c, transpose_B=trans_B, clear_accum=k == 0, use_2cta=True)
                    T.tcgen05_mma_arrive(free[k % stages], arrive_2cta=fault != 2)
                if fault == 4:
                    T.tcgen05_gemm(a[0, :, 0:32], a[0, 0:64, 0:32], c, transpose_B=True)
                T.tcgen05_mma_arrive(done, arrive_2cta=True)
            if fault != 3:
                T.mbarrier_wait_parity(done, 0)
            T.copy(c, out)
            T.copy(out, C[bx * 128, by * bn])

    return main


# Blocks that stay: two accumulators, one is stored while the next is computed.
@tilelang.jit
def persistent(M=512, N=256, K=128, bn=64, bk=64, stages=2, clusters=2, dtype="float16"):
    steps, tiles = K // bk, M // 256 * (N // bn)

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.ClusterKernel(clusters * 2, threads=256, cluster_dims=2) as block:
            a = T.alloc_shared((stages, 128, bk), dtype)
            b = T.alloc_shared((stages, bk, bn // 2), dtype)
            c = T.alloc_tmem([2, 128, bn], "float32")
            out = T.alloc_fragment((128, bn), "float32")
            staged = T.alloc_shared((128, bn), dtype)
            loaded = T.alloc_cluster_barrier([32 * 2] * stages)
            free = T.alloc_cluster_barrier([1] * stages)
            full = T.alloc_cluster_barrier([1] * 2)
            empty = T.alloc_cluster_barrier([128 * 2] * 2)
            tx = T.get_thread_binding()
            rank = T.block_rank_in_cluster()
            if tx < 32:
                for t in T.serial(tiles // clusters):
                    tile = t * clusters + block // 2
                    for k in T.serial(steps):
                        n = t * steps + k
                        row, col = (tile // (N // bn) * 2 + rank) * 128, (tile % (N // bn) * 2 + rank) * (bn // 2)
                        T.mbarrier_wait_parity(free[n % stages], ((n // stages) & 1) ^ 1)
                        T.tma_copy(A[row : row + 128, k * bk : k * bk + bk], a[n % stages, :, :], barrier=loaded[n % stages])
                        T.tma_copy(B[k * bk : k * bk + bk, col : col + bn // 2], b[n % stages, :, :], barrier=loaded[n % stages])
                        T.mbarrier_arrive(loaded[n % stages], 0)
            elif rank == 0 and tx < 64:
                for t in T.serial(tiles // clusters):
                    T.mbarrier_wait_parity(empty[t & 1], ((t // 2) & 1) ^ 1)
                    for k in T.serial(steps):
                        n = t * steps + k
                        T.mbarrier_wait_parity(loaded[n % stages], (n // stages) & 1)
                        T.tcgen05_gemm(a[n % stages, :, :], b[n % stages, :, :], c[t & 1, :, :], mbar=free[n % stages], clear_accum=k == 0, use_2cta=True)
                    T.tcgen05_mma_arrive(full[t & 1], arrive_2cta=True)
            elif 128 <= tx < 256:
                for t in T.serial(tiles // clusters):
                    tile = t * clusters + block // 2
                    T.mbarrier_wait_parity(full[t & 1], (t // 2) & 1)
                    T.copy(c[t & 1, :, :], out)
                    T.mbarrier_arrive(empty[t & 1], 0)
                    T.copy(out, staged)
                    T.copy(staged, C[(tile // (N // bn) * 2 + rank) * 128, tile % (N // bn) * bn])

    return main


# Threads of both blocks write the operands, the blocks meet, and both come by the product, which the first one issues; lanes: A goes by
# way of tensor memory.
@tilelang.jit
def meeting(N=64, K=64, dtype="bfloat16", lanes=False, steps=False):
    @T.prim_func
    def main(A: T.Tensor((256, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((256, N), "float32")):
        with T.ClusterKernel(2, threads=128, cluster_dims=2) as bx:
            rank = T.block_rank_in_cluster()
            a = T.alloc_shared((128, K), dtype)
            b = T.alloc_shared((K, N // 2), dtype)
            own = T.alloc_fragment((128, K), dtype)
            own_a = T.alloc_tmem([128, K], dtype)
            c = T.alloc_tmem([128, N], "float32")
            out = T.alloc_fragment((128, N), "float32")
            done = T.alloc_cluster_barrier([1])
            T.copy(A[rank * 128, 0], a)
            T.copy(B[0, rank * (N // 2)], b)
            if lanes:
                T.copy(a, own)
                T.copy(own, own_a)
                T.tcgen05_before_thread_sync()
            if steps:
                T.cluster_arrive()
                T.cluster_wait()
            else:
                T.cluster_sync()
            if lanes:
                T.tcgen05_after_thread_sync()
                T.tcgen05_gemm(own_a, b, c, mbar=done, clear_accum=True, use_2cta=True)
            else:
                T.tcgen05_gemm(a, b, c, mbar=done, clear_accum=True, use_2cta=True)
            T.mbarrier_wait_parity(done, 0)
            T.copy(c, out)
            T.copy(out, C[rank * 128, 0])

    return main
