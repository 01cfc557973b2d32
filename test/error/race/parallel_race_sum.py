import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        acc = T.alloc_fragment((64,), "float32")
        T.clear(acc)
        for i, j in T.Parallel(64, 64):
            acc[i] += A[i, j]  # warning: parallel-race
        T.copy(acc, X)
