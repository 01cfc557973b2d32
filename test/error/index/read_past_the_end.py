import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32"), X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        X[0] = A[64, 0]  # warning: out-of-bounds
