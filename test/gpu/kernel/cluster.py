# Loads for several blocks of a cluster, written by hand; of kernels.sh.
# verify: :one_for_all --sm_80=unsupported-here
# verify: :one_for_all mask=1 --sm_80=unsupported-here
# verify: :one_for_all mask=6 n=4 --sm_80=unsupported-here
import tilelang
import tilelang.language as T


# By hand: one block of the mask loads for all of them, the others for themselves.
@tilelang.jit(out_idx=[-1])
def one_for_all(M=64, N=64, n=2, mask=3):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((n * M, N), "float32")):
        with T.ClusterKernel(n, T.ceildiv(M, 32), cluster_dims=(n, 1, 1), threads=64) as (bx, by):
            a = T.alloc_shared((32, N), "float32")
            here = T.alloc_barrier(64)
            T.tma_copy(A[by * 32, 0], a, barrier=here, cluster_mask=mask)
            T.barrier_arrive(here)
            T.barrier_wait(here, 0)
            for i, j in T.Parallel(32, N):
                a[i, j] = a[i, j] + bx
            T.copy(a, B[bx * M + by * 32, 0])
            T.cluster_sync()

    return main
