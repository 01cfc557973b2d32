import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    for i in T.Parallel(64):  # error: outside-kernel
        X[i] = 1.0
