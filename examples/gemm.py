"""C = A @ B in the developer style: tiles, a pipelined loop, an epilogue.

    tl bench examples/gemm.py M=1024 N=1024 K=1024 --peer openblas
    tl verify examples/gemm.py dtype=bfloat16
    tl run examples/gemm.py:gemm_relu M=1000 N=300 K=77

Tiles that are not given come from tilelang.recommend_gemm, a function of shape, dtype and target.
"""
import tilelang
import tilelang.language as T

accum_of = {"float64": "float64", "int8": "int32"}


def tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages=None, threads=None, nt=False, split=None, swap=None,
          widen=None, tn=False):
    bm, bn, bk, stages, nthread, parts, swapped, wide = tilelang.recommend_gemm(
        M, N, K, dtype, transpose_A=tn, transpose_B=nt)
    if block_M or block_N or block_K:  # tiles of one's own: stages and threads that suit most
        stages, nthread, parts, swapped, wide = 3, 128, 1, False, 2
    return (block_M or bm, block_N or bn, block_K or bk, num_stages or stages, threads or nthread, split or parts,
            swapped if swap is None else swap, wide if widen is None else widen)


# A is M x K, or K x M (tn); B is K x N, or N x K (nt).  On GPUs, where there are few tiles, `parts` blocks of a cluster share the
# steps of k of each, and where there are few rows the tile is transposed: rows of B are its rows.
def product(M, N, K, dtype, out_dtype, nt, knobs, tn=False):
    bm, bn, bk, stages, nthread, parts, swapped, widen = knobs
    accum = accum_of.get(dtype, "float32")
    out = out_dtype or accum
    nx, ny, steps = T.ceildiv(N, bn), T.ceildiv(M, bm), T.ceildiv(T.ceildiv(K, bk), parts)
    own = T.ceildiv(bm, parts)  # rows of the tile that a block adds up
    A_rows, A_cols = (K, M) if tn else (M, K)
    B_rows, B_cols = (N, K) if nt else (K, N)
    A_wide = tilelang.aligned_row(A_cols, dtype) if widen in (1, 2) else A_cols
    B_wide = tilelang.aligned_row(B_cols, dtype) if widen == 2 else B_cols

    @T.macro
    def widened(src, dst, rows, cols, wide):
        """Rows of a length that the target copies fast, zeros at their end."""
        with T.Kernel(rows, threads=256) as r:
            for j in T.Parallel(wide):
                dst[r, j] = T.if_then_else(j < cols, src[r, j], T.cast(0, dtype))

    @T.macro
    def multiply(A, B, C_l, bx, by, first):
        A_s = T.alloc_shared((bk, bm) if tn else (bm, bk), dtype)
        B_s = T.alloc_shared((bn, bk) if nt else (bk, bn), dtype)
        T.clear(C_l)
        for k in T.Pipelined(steps, num_stages=stages):
            if tn:
                T.copy(A[(first + k) * bk, by * bm], A_s)
            else:
                T.copy(A[by * bm, (first + k) * bk], A_s)
            if nt:
                T.copy(B[bx * bn, (first + k) * bk], B_s)
            else:
                T.copy(B[(first + k) * bk, bx * bn], B_s)
            if swapped:
                T.gemm(B_s, A_s, C_l, transpose_A=not nt, transpose_B=not tn)
            else:
                T.gemm(A_s, B_s, C_l, transpose_A=tn, transpose_B=nt)

    @T.macro
    def store(C_l, C, top, left):
        if swapped:
            for i, j in T.Parallel(bn, bm):
                C[top + j, left + i] = C_l[i, j]
        else:
            for i, j in T.Parallel(bm, bn):
                C[top + i, left + j] = C_l[i, j]

    @T.macro
    def tile_each(A, B, C):
        with T.Kernel(nx, ny, threads=nthread) as (bx, by):
            C_l = T.alloc_fragment((bn, bm) if swapped else (bm, bn), accum)
            multiply(A, B, C_l, bx, by, 0)
            if swapped:  # by way of a tile that stands the right way up: whole rows go out
                C_s = T.alloc_shared((bm, bn), out)
                store(C_l, C_s, 0, 0)
                T.copy(C_s, C[by * bm, bx * bn])
            else:
                T.copy(C_l, C[by * bm, bx * bn])

    @T.macro
    def tile_shared(A, B, C):
        P = T.alloc_global((nx * ny * parts * bm, bn), accum)
        with T.ClusterKernel(nx, ny, parts, cluster_dims=(1, 1, parts), threads=nthread) as (bx, by, bz):
            C_l = T.alloc_fragment((bn, bm) if swapped else (bm, bn), accum)
            S = T.alloc_fragment((own, bn), accum)
            multiply(A, B, C_l, bx, by, bz * steps)
            top = (by * nx + bx) * parts * bm
            store(C_l, P, top + bz * bm, 0)
            T.cluster_sync()
            T.clear(S)
            for p in T.unroll(parts):  # always in the same order
                for i, j in T.Parallel(own, bn):
                    if bz * own + i < bm:
                        S[i, j] += P[top + p * bm + bz * own + i, j]
            for i, j in T.Parallel(own, bn):
                if bz * own + i < bm:
                    C[by * bm + bz * own + i, bx * bn + j] = S[i, j]

    # Few rows or few columns that no fast copy takes: threads add up products of their own elements of the long operand's
    # rows, of which a block has one or two; what a thread reads ahead is unrolled.
    if widen == 3 and (tn or min(M, N) > 8):
        raise ValueError("widen=3 is for at most 8 rows or columns, and A stored M x K")
    A_long = N <= 8 and (M >= N or not nt)
    rows = 2 if max(M, N) >= 2048 else 1
    dm, dn = (rows, N) if A_long else (M, rows)
    lanes = 256 if K >= 512 else 128
    unroll = 4 if K >= 4 * lanes else 2

    @T.macro
    def dots(A, B, C):
        with T.Kernel(T.ceildiv(N, dn), T.ceildiv(M, dm), threads=lanes) as (bx, by):
            P = T.alloc_fragment((dm, dn, lanes), accum)
            S = T.alloc_fragment((dm, dn), accum)
            T.clear(P)
            for k in T.serial(T.ceildiv(K, unroll * lanes)):
                for u in T.unroll(unroll):
                    for i, j, t in T.Parallel(dm, dn, lanes):
                        at = (k * unroll + u) * lanes + t
                        b = B[bx * dn + j, at] if nt else B[at, bx * dn + j]
                        P[i, j, t] += T.cast(A[by * dm + i, at], accum) * T.cast(b, accum)
            T.reduce_sum(P, S, dim=2)
            for i, j in T.Parallel(dm, dn):
                C[by * dm + i, bx * dn + j] = S[i, j]

    @T.prim_func
    def main(A: T.Tensor((A_rows, A_cols), dtype), B: T.Tensor((B_rows, B_cols), dtype), C: T.Tensor((M, N), out)):
        if widen == 3:
            dots(A, B, C)
            return
        if A_wide != A_cols:
            A_w = T.alloc_global((A_rows, A_wide), dtype)
            widened(A, A_w, A_rows, A_cols, A_wide)
        else:
            A_w = A
        if B_wide != B_cols:
            B_w = T.alloc_global((B_rows, B_wide), dtype)
            widened(B, B_w, B_rows, B_cols, B_wide)
        else:
            B_w = B
        if parts > 1:
            tile_shared(A_w, B_w, C)
        else:
            tile_each(A_w, B_w, C)

    return main


@tilelang.jit(out_idx=[2])
def gemm(M=1024, N=1024, K=1024, dtype="float32", out_dtype=None, block_M=None, block_N=None, block_K=None,
         num_stages=None, threads=None, split=None, swap=None, widen=None):
    knobs = tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages, threads, False, split, swap,
                  widen)
    return product(M, N, K, dtype, out_dtype, False, knobs)


@tilelang.jit(out_idx=[2])
def gemm_nt(M=1024, N=1024, K=1024, dtype="float32", out_dtype=None, block_M=None, block_N=None, block_K=None,
            num_stages=None, threads=None, split=None, swap=None, widen=None):
    """B is stored N x K."""
    knobs = tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages, threads, True, split, swap,
                  widen)
    return product(M, N, K, dtype, out_dtype, True, knobs)


@tilelang.jit(out_idx=[2])
def gemm_tn(M=1024, N=1024, K=1024, dtype="float32", out_dtype=None, block_M=None, block_N=None, block_K=None,
            num_stages=None, threads=None, split=None, swap=None, widen=None):
    """A is stored K x M."""
    knobs = tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages, threads, False, split, swap,
                  widen, tn=True)
    return product(M, N, K, dtype, out_dtype, False, knobs, tn=True)


@tilelang.jit(out_idx=[-1])
def gemm_relu(M=1024, N=1024, K=1024, dtype="float32", block_M=None, block_N=None, block_K=None,
         num_stages=None, threads=None):
    """ReLU on the accumulator before it is stored."""
    bm, bn, bk, stages, nthread, _, _, _ = tiles(M, N, K, dtype, block_M, block_N, block_K, num_stages, threads)

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


# ---- python3 examples/gemm.py --------------------------------------------------------------------

def verify(M=512, N=512, K=512, dtype=None):
    from tilelang.script import best_dtype, check, normal

    dtype = dtype or best_dtype()
    A, B = normal(M, K, dtype=dtype), normal(K, N, dtype=dtype)
    return check(gemm(M, N, K, dtype), [A, B], A.astype("float64") @ B.astype("float64"))


def bench(M=1024, N=1024, K=1024, dtype=None):
    from tilelang.script import best_dtype, normal, timed

    dtype = dtype or best_dtype()
    A, B = normal(M, K, dtype=dtype), normal(K, N, dtype=dtype)
    timed(gemm(M, N, K, dtype), [A, B], 2 * M * N * K)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
