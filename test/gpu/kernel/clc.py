# Cluster launch control: a block that is done takes over one that has not started.
import tilelang
import tilelang.language as T


# cluster=1: each block asks for itself; 2: the first of two blocks asks for both.  fault=1: it goes on before the answer has come.
@tilelang.jit
def doubled(M=1024, N=64, cluster=1, fault=0):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.ClusterKernel(M // 32, threads=64, cluster_dims=cluster) as block:
            answer = T.alloc_shared((4,), "uint32")
            arrived = T.alloc_cluster_barrier([1])
            read = T.alloc_cluster_barrier([64 * cluster])
            tx = T.get_thread_binding()
            rank = T.block_rank_in_cluster()
            tile = T.alloc_var("int32", init=block)
            for n in T.serial(M // 32):
                if tx == 0:
                    if n > 0 and rank == 0:
                        T.mbarrier_wait_parity(read, (n - 1) & 1)
                    T.mbarrier_arrive_expect_tx(arrived, 16)
                    if rank == 0:
                        if cluster == 1:
                            T.clc_try_cancel(answer, arrived)
                        else:
                            T.clc_try_cancel_multicast(answer, arrived)
                for i in T.serial(32):
                    C[tile * 32 + i, tx] = A[tile * 32 + i, tx] * 2
                if fault != 1:
                    T.mbarrier_wait_parity(arrived, n & 1)
                if T.clc_is_canceled(answer) == 0:
                    break
                tile = T.cast(T.clc_get_first_ctaid_x(answer), "int32") + rank
                T.mbarrier_arrive(read, 0)

    return main
