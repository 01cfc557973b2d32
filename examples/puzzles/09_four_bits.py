"""9. Two in a byte.

Weights of 4 bits: byte k of a row of W has weight 2k in its low half and weight 2k + 1 in its high
half, each a code from 0 to 15 that stands for (code - 8) * scale of its row.  Unpack W to B.  `&`,
`>>` and `%` work on elements as they do on numbers; `T.cast(x, "float32")` makes a float.
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def four_bits(N=40, K=128):
    @T.prim_func
    def main(W: T.Tensor((N, K // 2), "uint8"), scale: T.Tensor((N,), "float32"), B: T.Tensor((N, K), "float32")):
        with T.Kernel(T.ceildiv(N, 16), threads=128) as bx:
            w = T.alloc_shared((16, K // 2), "uint8")
            b = T.alloc_fragment((16, K), "float32")
            T.copy(W[bx * 16, 0], w)
            for i, j in T.Parallel(16, K):
                # ---- your turn: weight j of row i
                b[i, j] = 0
                # ---- end
            T.copy(b, B[bx * 16, 0])

    return main


def check():
    import numpy as np
    from tilelang.script import check, integers, normal

    W, scale = integers(0, 256, 40, 64, dtype="uint8"), normal(40)
    want = (np.stack([W & 15, W >> 4], 2).reshape(40, 128) - 8.0) * scale[:, None]
    return check(four_bits(), [W, scale, np.zeros((40, 128), "float32")], want)


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
