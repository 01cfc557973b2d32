import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(T.ceildiv(64, 32, threads=32) as bx:  # error: syntax
        X[0] = 1.0
