"""C = A @ B in the developer style: tiles, a pipelined loop, an epilogue.

    tl bench examples/gemm.py M=1024 N=1024 K=1024 --peer openblas
    tl verify examples/gemm.py dtype=bfloat16
    tl run examples/gemm.py:gemm_relu M=1000 N=300 K=77

Tiles that are not given come from tilelang.recommend_gemm, a function of shape, dtype and target.
"""
import tilelang
import tilelang.language as T

accum_of = {"float64": "float64", "int8": "int32"}


def tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages=None, threads=None, nt=False):
    bm, bn, bk, stages, nthread = tilelang.recommend_gemm(M, N, K, dtype, transpose_B=nt)
    if block_M or block_N or block_K:  # tiles of one's own: stages and threads that suit most
        stages, nthread = 3, 128
    return block_M or bm, block_N or bn, block_K or bk, num_stages or stages, threads or nthread


@tilelang.jit(out_idx=[-1])
def gemm(M=1024, N=1024, K=1024, dtype="float32", out_dtype=None, block_M=None, block_N=None, block_K=None,
         num_stages=None, threads=None):
    accum = accum_of.get(dtype, "float32")
    out = out_dtype or accum
    bm, bn, bk, stages, nthread = tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages, threads)

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), out)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=nthread) as (bx, by):
            A_s = T.alloc_shared((bm, bk), dtype)
            B_s = T.alloc_shared((bk, bn), dtype)
            C_l = T.alloc_fragment((bm, bn), accum)
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], A_s)
                T.copy(B[k * bk, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * bm, bx * bn])

    return main


@tilelang.jit(out_idx=[-1])
def gemm_nt(M=1024, N=1024, K=1024, dtype="float32", out_dtype=None, block_M=None, block_N=None, block_K=None,
         num_stages=None, threads=None):
    """B is stored N x K."""
    accum = accum_of.get(dtype, "float32")
    out = out_dtype or accum
    bm, bn, bk, stages, nthread = tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages, threads, nt=True)

    row = tilelang.aligned_row(K, dtype)

    @T.macro
    def widen(src, dst, rows):
        """Rows of a length that the target copies fast, zeros at their end."""
        with T.Kernel(rows, threads=256) as r:
            for j in T.Parallel(row):
                dst[r, j] = T.if_then_else(j < K, src[r, j], T.cast(0, dtype))

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), out)):
        if row != K:
            A_w = T.alloc_global((M, row), dtype)
            B_w = T.alloc_global((N, row), dtype)
            widen(A, A_w, M)
            widen(B, B_w, N)
        else:
            A_w, B_w = A, B
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=nthread) as (bx, by):
            A_s = T.alloc_shared((bm, bk), dtype)
            B_s = T.alloc_shared((bn, bk), dtype)
            C_l = T.alloc_fragment((bm, bn), accum)
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A_w[by * bm, k * bk], A_s)
                T.copy(B_w[bx * bn, k * bk], B_s)
                T.gemm(A_s, B_s, C_l, transpose_B=True)
            T.copy(C_l, C[by * bm, bx * bn])

    return main


@tilelang.jit(out_idx=[-1])
def gemm_relu(M=1024, N=1024, K=1024, dtype="float32", block_M=None, block_N=None, block_K=None,
         num_stages=None, threads=None):
    """ReLU on the accumulator before it is stored."""
    bm, bn, bk, stages, nthread = tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages, threads)

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=nthread) as (bx, by):
            A_s = T.alloc_shared((bm, bk), dtype)
            B_s = T.alloc_shared((bk, bn), dtype)
            C_l = T.alloc_fragment((bm, bn), "float32")
            T.use_swizzle(panel_size=10)
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], A_s)
                T.copy(B[k * bk, bx * bn], B_s)
                T.gemm(A_s, B_s, C_l)
            for i, j in T.Parallel(bm, bn):
                C_l[i, j] = T.max(C_l[i, j], 0)
            T.copy(C_l, C[by * bm, bx * bn])

    return main
