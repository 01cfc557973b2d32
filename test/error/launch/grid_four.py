import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, 2, 3, 4, threads=32) as (a, b, c, d):  # error: kernel-extent
        X[a] = 1.0
