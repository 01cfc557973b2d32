import tilelang
import tilelang.language as T


@T.prim_func
def main(X: 64, Y: T.Tensor((64,), "float32")):  # error: annotation
    with T.Kernel(1, threads=32) as bx:
        Y[0] = 1.0
