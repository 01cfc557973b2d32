"""Grouped GEMM: rows of A in groups, each with a matrix of its own, as the experts of a mixture have.

    tl verify examples/grouped_gemm.py rows=200 G=3

Group g is rows start[g] to start[g + 1] of A; any may be empty.  B is G x N x K.
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def grouped_gemm(rows=300, N=256, K=256, G=4, dtype="float16", block_M=128, block_N=256, block_K=64, num_stages=4,
                 threads=256):
    tiles = T.ceildiv(rows, block_M) + G  # a group may end in the midst of a tile

    @T.prim_func
    def main(
        A: T.Tensor((rows, K), dtype),
        B: T.Tensor((G, N, K), dtype),
        start: T.Tensor((G + 1,), "int32"),
        C: T.Tensor((rows, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), tiles, threads=threads) as (bx, by):
            A_s = T.alloc_shared((block_M, block_K), dtype)
            B_s = T.alloc_shared((block_N, block_K), dtype)
            C_s = T.alloc_shared((block_M, block_N), dtype)
            C_l = T.alloc_fragment((block_M, block_N), "float32")
            group = T.alloc_var("int32")  # of this block, with its first row, and the row behind its last
            row0 = T.alloc_var("int32")
            end = T.alloc_var("int32")
            before = T.alloc_var("int32")  # tiles of the groups so far
            group = 0
            row0 = 0
            end = 0
            before = 0
            for g in T.serial(G):
                here = T.ceildiv(start[g + 1] - start[g], block_M)
                if by >= before and by < before + here:
                    group = g
                    row0 = start[g] + (by - before) * block_M
                    end = start[g + 1]
                before += here
            T.clear(C_l)
            for k in T.Pipelined(T.if_then_else(row0 < end, T.ceildiv(K, block_K), 0), num_stages=num_stages):
                T.copy(A[row0, k * block_K], A_s)
                T.copy(B[group, bx * block_N, k * block_K], B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=True)
            T.copy(C_l, C_s)
            for i, j in T.Parallel(block_M, block_N):
                if row0 + i < end and bx * block_N + j < N:  # the rows behind are another group's
                    C[row0 + i, bx * block_N + j] = C_s[i, j]

    return main


# ---- python3 examples/grouped_gemm.py ------------------------------------------------------------

def starts(rows, G):
    """Groups of very different sizes: each half of what is left."""
    import numpy as np

    ends = [rows - (rows >> (g + 1)) for g in range(G - 1)] + [rows]
    return np.array([0, *ends], "int32")


def verify(rows=300, N=256, K=256, G=4, dtype=None):
    import numpy as np
    from tilelang.script import best_dtype, check, normal

    dtype = dtype or best_dtype()
    A, B, start = normal(rows, K, dtype=dtype), normal(G, N, K, dtype=dtype), starts(rows, G)
    want = np.concatenate([A[a:b].astype("float64") @ B[g].T for g, (a, b) in enumerate(zip(start, start[1:]))])
    return check(grouped_gemm(rows, N, K, G, dtype), [A, B, start], want)


def bench(rows=1024, N=1024, K=512, G=8, dtype=None):
    from tilelang.script import best_dtype, normal, timed

    dtype = dtype or best_dtype()
    A, B = normal(rows, K, dtype=dtype), normal(G, N, K, dtype=dtype)
    timed(grouped_gemm(rows, N, K, G, dtype), [A, B, starts(rows, G)], 2 * rows * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
