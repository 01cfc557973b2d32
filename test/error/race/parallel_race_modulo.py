import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        for i in T.Parallel(64):
            X[i % 8] = A[0, i]  # warning: parallel-race
