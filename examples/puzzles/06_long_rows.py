"""6. Rows that do not fit.

A loop that is not parallel is a plain `for k in T.serial(n)`.  Read each row 128 elements at a time
and keep the largest seen so far.  `T.reduce_max(..., clear=False)` takes what the result holds
already as one more element; `T.fill(tile, value)` gives it something to start from, and what lies
behind the end of a row must not win: it reads as the value of `T.annotate_safe_value`.
"""
import tilelang
import tilelang.language as T


@tilelang.jit
def long_rows(M=20, N=1000):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, 4), threads=128) as bx:
            T.annotate_safe_value({X: -T.infinity("float32")})
            part = T.alloc_fragment((4, 128), "float32")
            top = T.alloc_fragment((4,), "float32")
            # ---- your turn: a start, and a loop over the parts of the rows
            T.fill(top, 0)
            # ---- end
            T.copy(top, Y[bx * 4])

    return main


def check():
    import numpy as np
    from tilelang.script import check, normal

    X = normal(20, 1000) - 10  # nothing above 0
    return check(long_rows(), [X, np.zeros(20, "float32")], X.max(1))


if __name__ == "__main__":
    from tilelang import script

    script.main(check)
