import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, threads=32) as (bx, by):  # error: unpack-count
        A[bx] = 0.0
