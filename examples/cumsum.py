"""Inclusive prefix sums along the rows, forward or from the end; of long rows in two steps.

    tl verify examples/cumsum.py M=9 N=65
    tl verify examples/cumsum.py:cumsum_long M=3 N=2048
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def cumsum_long(M=64, N=4096, each=256, dtype="float32", threads=256):
    """A row to a block: sums inside of lines, then the sums of the lines before."""
    lines = N // each

    @T.prim_func
    def main(X: T.Tensor((M, lines, each), dtype), Y: T.Tensor((M, lines, each), dtype)):
        with T.Kernel(M, threads=threads) as bx:
            x = T.alloc_fragment((lines, each), dtype)
            total = T.alloc_fragment((lines,), dtype)
            before = T.alloc_fragment((lines,), dtype)
            T.copy(X[bx, 0, 0], x)
            T.reduce_sum(x, total, dim=1)
            T.cumsum(total, before, dim=0)
            T.cumsum(x, dim=1)
            for i, j in T.Parallel(lines, each):
                Y[bx, i, j] = x[i, j] + (before[i] - total[i])

    return main


@tilelang.jit(out_idx=[-1])
def cumsum(M=256, N=512, block_M=32, reverse=False, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=128) as bx:
            x = T.alloc_shared((block_M, N), dtype)
            T.copy(X[bx * block_M, 0], x)
            T.cumsum(x, dim=1, reverse=reverse)
            T.copy(x, Y[bx * block_M, 0])

    return main


# ---- python3 examples/cumsum.py ------------------------------------------------------------------

def verify(M=256, N=512):
    from tilelang.script import check, normal

    X, long = normal(M, N), normal(8, 16, 256)
    fine = check(cumsum(M, N), [X], X.cumsum(1))
    return check(cumsum_long(8, 4096), [long], long.reshape(8, 4096).cumsum(1).reshape(8, 16, 256)) and fine


def bench(M=4096, N=1024):
    from tilelang.script import normal, timed

    X = normal(M, N)
    timed(cumsum(M, N), [X], M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
