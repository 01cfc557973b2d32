# target: cpu
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((128,), "int32"), B: T.Tensor((128,), "int32")):
    with T.Kernel(2, threads=64) as bx:
        tx = T.get_thread_binding()
        for i in T.Parallel(64):  # error: tile-threads
            B[bx * 64 + i] = A[bx * 64 + i] + tx
