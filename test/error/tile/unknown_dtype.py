import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float33")):  # error: unknown-dtype
    with T.Kernel(4, threads=32) as bx:
        A[bx] = 0.0
