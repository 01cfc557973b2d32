import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        T.annotate_layout({"S": T.Layout((64,), lambda i: i)})  # error: argument-type
        X[0] = 1.0
