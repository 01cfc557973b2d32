import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=128) as bx:
        for k in T.Pipelined(4, num_stages=2.5):  # error: argument-type
            X[k] = 1.0
