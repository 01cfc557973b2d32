import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    for bx in T.Kernel(4, threads=32):  # error: for-iterable
        X[bx] = 1.0
