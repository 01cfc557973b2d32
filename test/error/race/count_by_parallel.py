import tilelang
import tilelang.language as T


@T.prim_func
def main(H: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=64) as bx:
        for i in T.Parallel(64):
            H[0] += 1  # warning: parallel-race
