"""A kernel to ship: C = s * A for matrices of any size.  doc/bundles.md makes a bundle of it."""

import tilelang
import tilelang.language as T


@tilelang.jit
def scale(block=16):
    m, n = T.dynamic("m"), T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((m, n), "float32"), s: T.float32, C: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, block), m, threads=64) as (bx, by):
            for j in T.Parallel(block):
                if bx * block + j < n:
                    C[by, bx * block + j] = A[by, bx * block + j] * s

    return main
