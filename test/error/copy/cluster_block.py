import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.ClusterKernel(2, cluster_dims=(2, 1, 1), threads=64) as bx:
        a = T.alloc_shared((64,), "float32")
        b = T.alloc_shared((64,), "float32")
        T.copy(A, a)
        T.copy_cluster(a, b, dst_block=2)  # error: cluster-mask
