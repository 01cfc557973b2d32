# target: cpu
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64):
        last = T.alloc_local((1,), "int32")
        for i in T.Parallel(64):
            last[0] = A[i]
        for i in T.Parallel(64):  # error: tile-threads
            B[i] = last[0]
