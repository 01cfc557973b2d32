import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(4, threads=128) as bx:
        for i, j in T.Parallel((64, 64)):  # error: not-a-number
            A[i, j] = 1.0
