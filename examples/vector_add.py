"""C = A + B, one tile of elements a block.

    tl run examples/vector_add.py N=1000003
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def vector_add(N=1 << 20, block_N=4096, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), threads=256) as bx:
            for i in T.Parallel(block_N):
                C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]

    return main


# ---- python3 examples/vector_add.py --------------------------------------------------------------

def verify(N=1 << 20):
    from tilelang.script import check, normal

    A, B = normal(N), normal(N)
    return check(vector_add(N), [A, B], A + B)


def bench(N=1 << 24):
    from tilelang.script import normal, timed

    A, B = normal(N), normal(N)
    timed(vector_add(N), [A, B], N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
