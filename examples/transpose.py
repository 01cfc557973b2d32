"""B = A transposed: rows are read, columns are written, through two shared tiles."""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def transpose(M=1024, N=768, block_M=64, block_N=64, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((N, M), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            rows = T.alloc_shared((block_M, block_N), dtype)
            cols = T.alloc_shared((block_N, block_M), dtype)
            T.copy(A[by * block_M, bx * block_N], rows)
            T.transpose(rows, cols)
            T.copy(cols, B[bx * block_N, by * block_M])

    return main


# ---- python3 examples/transpose.py ---------------------------------------------------------------

def verify(M=1024, N=768):
    from tilelang.script import check, normal

    A = normal(M, N)
    return check(transpose(M, N), [A], A.T)


def bench(M=4096, N=4096):
    from tilelang.script import normal, timed

    A = normal(M, N)
    timed(transpose(M, N), [A])


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
