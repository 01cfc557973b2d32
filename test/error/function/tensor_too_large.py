import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((2**40, 2**40), "float32")):  # error: bad-extent
    with T.Kernel(1, threads=32):
        A[0, 0] = 1.0
