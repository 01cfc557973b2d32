"""1. One more.

A kernel is a grid of blocks.  Block `bx` of this one has the elements bx * 128 to bx * 128 + 127 of
a vector, and `T.Parallel(128)` names them, each by its number within the block.  Make B = A + 1.
(1000 is no multiple of 128: what falls outside of a tensor is neither read nor written.)
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def add_one(N=1000):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 128), threads=128) as bx:
            for i in T.Parallel(128):
                # ---- your turn: one element of B
                pass
                # ---- end

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    A = normal(1000)
    return check(add_one(), [A, np.zeros_like(A)], A + 1)


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
