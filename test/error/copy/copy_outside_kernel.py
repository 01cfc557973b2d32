import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
    T.copy(X, Y)  # error: outside-kernel
    with T.Kernel(1, threads=32) as bx:
        T.copy(Y, X)
