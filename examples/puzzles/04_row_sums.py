"""4. Many to one.

`T.alloc_fragment` makes a tile that lives in registers, spread over the threads.  `T.reduce_sum(tile,
out, dim=1)` adds up its rows.  Each block has 16 rows; leave their sums in Y.
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def row_sums(M=50, N=96):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, 16), threads=128) as bx:
            x = T.alloc_fragment((16, N), "float32")
            total = T.alloc_fragment((16,), "float32")
            # ---- your turn: read, add up, write
            pass
            # ---- end

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    X = normal(50, 96)
    return check(row_sums(), [X, np.zeros(50, "float32")], X.sum(1))


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
