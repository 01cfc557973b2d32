"""Y = silu(A) * B, element by element: the gate of a feed-forward layer.

    tl verify examples/swiglu.py M=100 N=33
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def swiglu(M=1024, N=1024, block_M=16, block_N=256, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            a = T.alloc_fragment((block_M, block_N), dtype)
            b = T.alloc_fragment((block_M, block_N), dtype)
            T.copy(A[by * block_M, bx * block_N], a)
            T.copy(B[by * block_M, bx * block_N], b)
            for i, j in T.Parallel(block_M, block_N):
                x = T.cast(a[i, j], "float32")
                a[i, j] = x / (1 + T.exp(-x)) * T.cast(b[i, j], "float32")
            T.copy(a, Y[by * block_M, bx * block_N])

    return main


# ---- python3 examples/swiglu.py ------------------------------------------------------------------

def verify(M=1024, N=1024):
    import numpy as np
    from tilelang.script import check, normal

    A, B = normal(M, N), normal(M, N)
    return check(swiglu(M, N), [A, B], A / (1 + np.exp(-A)) * B)


def bench(M=4096, N=4096):
    from tilelang.script import normal, timed

    A, B = normal(M, N), normal(M, N)
    timed(swiglu(M, N), [A, B], 4 * M * N)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
