"""2. Everything with everything.

A grid may have two dimensions: bx counts tiles of 64 columns, by tiles of 32 rows.  Make
C[i, j] = A[i] + B[j].
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def outer_sum(M=100, N=200):
    @T.prim_func
    def main(A: T.Tensor((M,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 32), threads=128) as (bx, by):
            # ---- your turn: a T.Parallel over the rows and columns of the tile
            pass
            # ---- end

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    A, B = normal(100), normal(200)
    C = np.zeros((100, 200), "float32")
    return check(outer_sum(), [A, B, C], A[:, None] + B)


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
