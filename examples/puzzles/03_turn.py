"""3. By way of a tile.

`T.alloc_shared` makes a tile that all threads of a block see; `T.copy` fills it or empties it, given
the tile and where its first element is: `T.copy(A[row, col], tile)`.  Turn a matrix round: B[j, i] =
A[i, j].  Read a tile, make the transposed tile from it, write that one where it belongs.
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def turn(M=100, N=70):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((N, M), "float32")):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32), threads=128) as (bx, by):
            tile = T.alloc_shared((32, 32), "float32")
            transposed = T.alloc_shared((32, 32), "float32")
            # ---- your turn: three steps
            pass
            # ---- end

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    A = normal(100, 70)
    return check(turn(), [A, np.zeros((70, 100), "float32")], A.T)


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
