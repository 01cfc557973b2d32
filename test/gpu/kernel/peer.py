# Tiles of other blocks of a cluster; of kernels.sh.
# verify: :send --sm_80=unsupported-here
# verify: :send N=127 --sm_80=unsupported-here
# verify: :no_barrier dtype=float16 --sm_80=unsupported-here
# verify: :no_barrier N=72 dtype=float8_e4m3fn --sm_80=unsupported-here
# verify: :rows --sm_80=unsupported-here
# verify: :rows N=31 dtype=bfloat16 --sm_80=unsupported-here
# verify: :ring --sm_80=unsupported-here
# verify: :ring n=2 N=48 --sm_80=unsupported-here
# verify: :role --sm_80=unsupported-here
# verify: :split_k --sm_80=unsupported-here
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def send(N=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.ClusterKernel(2, threads=128, cluster_dims=(2, 1, 1)) as pid:
            here = T.alloc_shared((N,), "float32")
            there = T.alloc_shared((N,), "float32")
            came = T.alloc_cluster_barrier([1])
            T.fill(here, 0.0)
            T.fill(there, 0.0)
            T.cluster_sync()
            if pid == 0:
                for i in T.Parallel(N):
                    here[i] = A[i]
                T.copy_cluster(here, there, dst_block=1, remote_barrier=came[0])
            if pid == 1:
                T.mbarrier_wait_parity(came[0], 0)
                for i in T.Parallel(N):
                    B[i] = there[i]

    return main


@tilelang.jit(out_idx=[-1])
def no_barrier(N=200, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.ClusterKernel(2, threads=128, cluster_dims=(2, 1, 1)) as pid:
            here = T.alloc_shared((N,), dtype)
            there = T.alloc_shared((N,), dtype)
            T.cluster_sync()
            if pid == 0:
                T.copy(A, here)
                T.copy_cluster(here, there, dst_block=1)
            T.cluster_sync()
            if pid == 1:
                T.copy(there, B)

    return main


@tilelang.jit(out_idx=[-1])
def rows(M=4, N=32, whole=64, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((2, M, N), dtype), B: T.Tensor((2, M, N), dtype)):
        with T.ClusterKernel(2, threads=128, cluster_dims=(2, 1, 1)) as pid:
            here = T.alloc_shared((2, M, whole), dtype)
            there = T.alloc_shared((2, M, whole), dtype)
            came = T.alloc_cluster_barrier([1])
            T.cluster_sync()
            if pid == 0:
                for d, i, j in T.Parallel(2, M, N):
                    here[d, i, j] = A[d, i, j]
                T.copy_cluster(here[0:2, 0:M, 0:N], there[0:2, 0:M, 0:N], dst_block=1, remote_barrier=came[0])
            if pid == 1:
                T.mbarrier_wait_parity(came[0], 0)
                for d, i, j in T.Parallel(2, M, N):
                    B[d, i, j] = there[d, i, j]

    return main


# Every block to the next one, again and again: which block it is comes from the rank.
@tilelang.jit(out_idx=[-1])
def ring(n=4, N=64, steps=3):
    @T.prim_func
    def main(A: T.Tensor((n, N), "int32"), B: T.Tensor((n, N), "int32")):
        with T.ClusterKernel(n, threads=64, cluster_dims=(n, 1, 1)) as bx:
            mine = T.alloc_shared((N,), "int32")
            left = T.alloc_shared((2, N), "int32")
            came = T.alloc_cluster_barrier([1, 1])
            rank = T.block_rank_in_cluster()
            T.copy(A[bx, 0:N], mine)
            for s in T.serial(steps):
                T.cluster_sync()
                T.copy_cluster(mine, left[s % 2, 0:N], dst_block=(rank + 1) % n, remote_barrier=came[s % 2])
                T.mbarrier_wait_parity(came[s % 2], s // 2 % 2)
                for i in T.Parallel(N):
                    mine[i] = mine[i] + left[s % 2, i]
            T.copy(mine, B[bx, 0:N])
            T.cluster_sync()

    return main


# One group of warps sends, the other one waits.
@tilelang.jit(out_idx=[-1])
def role(N=256):
    @T.prim_func
    def main(A: T.Tensor((2, N), "float32"), B: T.Tensor((2, N), "float32")):
        with T.ClusterKernel(2, threads=256, cluster_dims=(2, 1, 1)) as bx:
            here = T.alloc_shared((N,), "float32")
            there = T.alloc_shared((N,), "float32")
            came = T.alloc_cluster_barrier([1])
            T.cluster_sync()
            with T.ws(1):
                for i in T.Parallel(N):
                    here[i] = A[bx, i] * 2
                T.copy_cluster(here, there, dst_block=1 - bx, remote_barrier=came[0])
            with T.ws(0):
                T.mbarrier_wait_parity(came[0], 0)
                for i in T.Parallel(N):
                    B[bx, i] = there[i]
            T.cluster_sync()

    return main


@tilelang.jit(out_idx=[-1])
def split_k(M=64, N=64, K=128):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.ClusterKernel(2, threads=128, cluster_dims=(2, 1, 1)) as bx:
            a = T.alloc_shared((M, 32), "float16")
            b = T.alloc_shared((32, N), "float16")
            c = T.alloc_fragment((M, N), "float32")
            parts = T.alloc_shared((2, M, N), "float32")
            came = T.alloc_cluster_barrier([1])
            rank = T.block_rank_in_cluster()
            T.clear(c)
            for k in T.Pipelined(K // 64, num_stages=2):
                T.copy(A[0, (rank + k * 2) * 32], a)
                T.copy(B[(rank + k * 2) * 32, 0], b)
                T.gemm(a, b, c)
            T.copy(c, parts[rank, 0:M, 0:N])
            T.cluster_sync()
            if rank != 0:
                T.copy_cluster(parts[rank, 0:M, 0:N], parts[rank, 0:M, 0:N], dst_block=0, remote_barrier=came[0])
            if rank == 0:
                T.mbarrier_wait_parity(came[0], 0)
                for i, j in T.Parallel(M, N):
                    C[i, j] = parts[0, i, j] + parts[1, i, j]

    return main
