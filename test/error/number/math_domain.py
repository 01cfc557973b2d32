import tilelang
import tilelang.language as T
import math


@tilelang.jit
def factory(size=64):
    n = math.sqrt(-1)  # error: math-domain

    @T.prim_func
    def main(A: T.Tensor((size,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            A[bx] = 0.0

    return main
