import tilelang
import tilelang.language as T


m = T.dynamic("m")


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as bx:
        A[bx] = m  # error: dynamic-unknown
