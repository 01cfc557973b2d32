import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, thread=128) as bx:  # error: argument-name
        X[bx] = 1.0
