import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.Parallel(8):
            for k in T.serial(2):
                for j in T.Parallel(4):  # error: parallel-nesting
                    A[i, k * 4 + j] = 1
