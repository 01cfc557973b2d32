# stage: compile
import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(4, threads=128) as bx:
        for i in T.unroll(n, explicit=True):  # error: unroll-length
            X[i] = 1.0
