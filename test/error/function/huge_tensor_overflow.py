import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((1 << 62, 1 << 62), "float32")):  # error: bad-extent
    with T.Kernel(1, threads=32) as bx:
        X[0, 0] = 1.0
