"""7. A matrix product.

`T.gemm(a, b, c)` adds the product of two tiles to a third.  For one tile of C, go through k in steps
of 32, with `T.Pipelined` in place of `T.serial`: on a GPU the next tiles are then on their way while
these are multiplied.
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def product(M=100, N=90, K=80):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float32")
            b = T.alloc_shared((32, 64), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                # ---- your turn: two tiles and their product
                pass
                # ---- end
            T.copy(c, C[by * 64, bx * 64])

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    A, B = normal(100, 80), normal(80, 90)
    return check(product(), [A, B, np.zeros((100, 90), "float32")], A @ B)


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
