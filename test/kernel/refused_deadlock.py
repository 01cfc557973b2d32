# A barrier that some threads never reach.
# refused: [deadlock]
# verify:
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        b = T.alloc_barrier(64)
        tx = T.get_thread_binding()
        if tx < 10:
            T.barrier_arrive(b[0])
        T.barrier_wait(b[0], 0)
        A[tx] = 1
