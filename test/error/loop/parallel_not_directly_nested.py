import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(4, threads=128) as bx:
        for i in T.Parallel(8):
            for k in T.serial(4):
                for j in T.Parallel(8):  # error: parallel-nesting
                    A[i * 8 + j, k] = 1.0
