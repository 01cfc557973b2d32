# A barrier that still waits for bytes and gets more arrivals than it counts.
# refused: [barrier-count]
# verify:
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        b = T.alloc_barrier(1)
        tx = T.get_thread_binding()
        if tx == 0:
            T.mbarrier_expect_tx(b[0], 16)
            T.barrier_arrive(b[0])
            T.barrier_arrive(b[0])
        A[tx] = 1
