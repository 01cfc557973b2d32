"""Inclusive prefix sums along the rows, forward or from the end."""
import tilelang
import tilelang.language as T


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

    X = normal(M, N)
    return check(cumsum(M, N), [X], X.cumsum(1))


def bench(M=4096, N=1024):
    from tilelang.script import normal, timed

    X = normal(M, N)
    timed(cumsum(M, N), [X], M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
