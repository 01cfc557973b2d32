import tilelang
import tilelang.language as T


import math


@tilelang.jit
def factory(N=100, block=32):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32")):
        with T.Kernel(N / block, threads=32) as bx:  # error: kernel-extent
            X[bx] = 1.0

    return main
