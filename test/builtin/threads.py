"""Per-thread code: indices, barriers, shuffles, votes, warp roles."""
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128,), "float32"), S: T.Tensor((128,), "float32"), N: T.Tensor((4,), "int32"),
         P: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        tx = T.get_thread_binding(0)
        s = T.alloc_shared((128,), "float32")
        s[tx] = A[127 - tx]
        T.sync_threads()
        S[tx] = s[127 - tx] + T.shfl_xor(A[tx], 1)
        even = T.syncthreads_count(tx % 2 == 0)
        if tx == 0:
            N[0] = even
            N[1] = T.get_warp_idx() + T.get_lane_idx()
        w = T.warp_reduce_max(tx)
        if tx == 64:
            N[2] = w
        m = T.alloc_barrier(64)
        if tx < 64:
            s[tx] = A[tx] * 2
            T.mbarrier_arrive(m)
        else:
            T.mbarrier_wait_parity(m, 0)
            P[tx - 64] = s[tx - 64]
        if tx == 127:
            N[3] = T.block_rank_in_cluster()


@T.prim_func
def reference(A: T.Tensor((128,), "float32"), S: T.Tensor((128,), "float32"), N: T.Tensor((4,), "int32"),
              P: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        for i in T.serial(128):
            S[i] = A[i] + A[i ^ 1]
        for i in T.serial(64):
            P[i] = A[i] * 2
        N[0] = 64
        N[1] = 0
        N[2] = 95
        N[3] = 0
