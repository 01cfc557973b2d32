import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, 2, threads=32) as (bx, by, bz):  # error: unpack-count
        X[bx] = 1.0
