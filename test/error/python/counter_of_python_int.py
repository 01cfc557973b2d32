import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        count = 0
        for i in T.serial(4):
            count += 1  # warning: compile-time-update
        X[0] = count
