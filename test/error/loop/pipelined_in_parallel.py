import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1, threads=32) as bx:
        for i in T.Parallel(8):
            for k in T.Pipelined(8, num_stages=2):  # error: pipelined-in-parallel
                A[i, k] = 1
