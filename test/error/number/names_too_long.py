# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:  # error: too-deep
        for i in T.Parallel(64):
            v = X[i]
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            v = v * v + v
            X[i] = v
