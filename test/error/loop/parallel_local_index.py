import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        r = T.alloc_local((64,), "float32")
        for i in T.Parallel(64):
            r[i] = X[i]  # error: parallel-local
