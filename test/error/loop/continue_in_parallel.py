import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        for i in T.Parallel(64):
            if X[i] > 0:
                continue  # error: break-parallel
            X[i] = 1.0
