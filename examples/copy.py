"""B = A through a shared tile.

    tl verify examples/copy.py M=100 N=33
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def copy(M=1024, N=1024, block_M=64, block_N=128, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            tile = T.alloc_shared((block_M, block_N), dtype)
            T.copy(A[by * block_M, bx * block_N], tile)
            T.copy(tile, B[by * block_M, bx * block_N])

    return main


# ---- python3 examples/copy.py --------------------------------------------------------------------

def verify(M=1024, N=1024):
    from tilelang.script import check, normal

    A = normal(M, N)
    return check(copy(M, N), [A], A)


def bench(M=4096, N=4096):
    from tilelang.script import normal, timed

    A = normal(M, N)
    timed(copy(M, N), [A])


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
