import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32")):
    with T.ClusterKernel(2, cluster_dims=2, threads=64) as bx:
        a = T.alloc_shared((32, 64), "float32")
        here = T.alloc_barrier(64)
        T.tma_copy(A[bx * 32, 0], a, barrier=here, cluster_mask=3)  # error: cluster-mask
        T.barrier_arrive(here)
        T.barrier_wait(here, 0)
