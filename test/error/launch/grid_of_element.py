# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), I: T.Tensor((1,), "int32")):
    with T.Kernel(I[0], threads=32) as bx:  # error: grid-load
        X[bx] = 1.0
