"""Computations of templates in tiles: the kernel that a hint describes.  The model of tilelang.tune ranks hints by it."""

import math

from .. import language as T
from .function import element, extents


def _cdiv(a, b):
    return -(-a // b)


def matmul(M, N, K, trans_A, trans_B, in_dtype, out_dtype, accum_dtype, with_bias, bm, bn, bk, stages, threads, plan):
    shape_a, shape_b = ((K, M) if trans_A else (M, K)), ((N, K) if trans_B else (K, N))
    tile_a, tile_b = ((bk, bm) if trans_A else (bm, bk)), ((bn, bk) if trans_B else (bk, bn))

    panel, order = plan.panel_width, plan.order

    @T.macro
    def product(A, B, tile, bx, by):
        if panel:
            T.use_swizzle(panel, order=order)
        A_s = T.alloc_shared(tile_a, in_dtype)
        B_s = T.alloc_shared(tile_b, in_dtype)
        T.clear(tile)
        for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
            if trans_A:
                T.copy(A[k * bk, by * bm], A_s)
            else:
                T.copy(A[by * bm, k * bk], A_s)
            if trans_B:
                T.copy(B[bx * bn, k * bk], B_s)
            else:
                T.copy(B[k * bk, bx * bn], B_s)
            T.gemm(A_s, B_s, tile, transpose_A=trans_A, transpose_B=trans_B)

    @T.prim_func
    def plain(A: T.Tensor(shape_a, in_dtype), B: T.Tensor(shape_b, in_dtype), C: T.Tensor((M, N), out_dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            tile = T.alloc_fragment((bm, bn), accum_dtype)
            product(A, B, tile, bx, by)
            T.copy(tile, C[by * bm, bx * bn])

    @T.prim_func
    def biased(A: T.Tensor(shape_a, in_dtype), B: T.Tensor(shape_b, in_dtype), Bias: T.Tensor((N,), out_dtype),
               C: T.Tensor((M, N), out_dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            tile = T.alloc_fragment((bm, bn), accum_dtype)
            row = T.alloc_fragment((bn,), out_dtype)
            product(A, B, tile, bx, by)
            T.copy(Bias[bx * bn], row)
            for i, j in T.Parallel(bm, bn):
                tile[i, j] += T.cast(row[j], accum_dtype)
            T.copy(tile, C[by * bm, bx * bn])

    return biased if with_bias else plain


def gemv(N, K, trans_B, in_dtype, out_dtype, accum_dtype, with_bias, bn, bk, threads):
    shape_b = (N, K) if trans_B else (K, N)

    @T.macro
    def sums(A, B, total, bx):
        part = T.alloc_fragment((bn, bk), accum_dtype)
        T.clear(part)
        for k in T.serial(T.ceildiv(K, bk)):
            for i, j in T.Parallel(bn, bk):
                b = B[bx * bn + i, k * bk + j] if trans_B else B[k * bk + j, bx * bn + i]
                part[i, j] += T.cast(A[0, k * bk + j], accum_dtype) * T.cast(b, accum_dtype)
        T.reduce_sum(part, total, dim=1)

    @T.prim_func
    def plain(A: T.Tensor((1, K), in_dtype), B: T.Tensor(shape_b, in_dtype), C: T.Tensor((1, N), out_dtype)):
        with T.Kernel(T.ceildiv(N, bn), threads=threads) as bx:
            total = T.alloc_fragment((bn,), accum_dtype)
            sums(A, B, total, bx)
            for i in T.Parallel(bn):
                C[0, bx * bn + i] = total[i]

    @T.prim_func
    def biased(A: T.Tensor((1, K), in_dtype), B: T.Tensor(shape_b, in_dtype), Bias: T.Tensor((N,), out_dtype),
               C: T.Tensor((1, N), out_dtype)):
        with T.Kernel(T.ceildiv(N, bn), threads=threads) as bx:
            total = T.alloc_fragment((bn,), accum_dtype)
            sums(A, B, total, bx)
            for i in T.Parallel(bn):
                C[0, bx * bn + i] = total[i] + T.cast(Bias[bx * bn + i], accum_dtype)

    return biased if with_bias else plain


def elementwise(shape, dtype, tile, threads):
    n = math.prod(shape)

    @T.prim_func
    def increment(A: T.Tensor(shape, dtype), B: T.Tensor(shape, dtype)):
        with T.Kernel(T.ceildiv(n, tile), threads=threads) as bx:
            a = T.view(A, (n,))
            b = T.view(B, (n,))
            for i in T.Parallel(tile):
                if bx * tile + i < n:
                    b[bx * tile + i] = a[bx * tile + i] + T.cast(1, dtype)

    return increment


def reduction(structure, shape, dtype, tile, step, threads):
    kept, rows, steps = extents(structure, shape)

    @T.prim_func
    def sums(A: T.Tensor(shape, dtype), B: T.Tensor(kept, dtype)):
        with T.Kernel(T.ceildiv(rows, tile), threads=threads) as bx:
            a = T.view(A, (rows * steps,))
            b = T.view(B, (rows,))
            part = T.alloc_fragment((tile, step), "float32")
            total = T.alloc_fragment((tile,), "float32")
            T.clear(part)
            for k in T.serial(T.ceildiv(steps, step)):
                for i, j in T.Parallel(tile, step):
                    if bx * tile + i < rows and k * step + j < steps:
                        part[i, j] += T.cast(a[element(structure, shape, bx * tile + i, k * step + j)], "float32")
            T.reduce_sum(part, total, dim=1)
            for i in T.Parallel(tile):
                if bx * tile + i < rows:
                    b[bx * tile + i] = total[i]

    return sums


def attention(batch, heads, seq, kv, dim, is_causal, in_dtype, out_dtype, accum_dtype, bm, bn, stages, threads):
    """Online softmax; rows of the last, partial block of keys are masked."""
    scale = math.log2(math.e) / math.sqrt(dim)
    ragged = kv % bn != 0
    last = _cdiv(kv, bn)

    @T.prim_func
    def attend(Q: T.Tensor((batch, heads, seq, dim), in_dtype), K: T.Tensor((batch, heads, kv, dim), in_dtype),
               V: T.Tensor((batch, heads, kv, dim), in_dtype), O: T.Tensor((batch, heads, seq, dim), out_dtype)):
        with T.Kernel(T.ceildiv(seq, bm), heads, batch, threads=threads) as (bx, h, b):
            Q_s = T.alloc_shared((bm, dim), in_dtype)
            K_s = T.alloc_shared((bn, dim), in_dtype)
            V_s = T.alloc_shared((bn, dim), in_dtype)
            S = T.alloc_fragment((bm, bn), accum_dtype)
            P = T.alloc_fragment((bm, bn), in_dtype)
            R = T.alloc_fragment((bm, dim), accum_dtype)
            top = T.alloc_fragment((bm,), accum_dtype)
            before = T.alloc_fragment((bm,), accum_dtype)
            factor = T.alloc_fragment((bm,), accum_dtype)
            one = T.alloc_fragment((bm,), accum_dtype)
            total = T.alloc_fragment((bm,), accum_dtype)
            T.copy(Q[b, h, bx * bm, 0], Q_s)
            T.fill(R, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity(accum_dtype))
            for k in T.Pipelined(T.min(last, T.ceildiv((bx + 1) * bm, bn)) if is_causal else last, num_stages=stages):
                T.copy(K[b, h, k * bn, 0], K_s)
                T.clear(S)
                T.gemm(Q_s, K_s, S, transpose_B=True)
                if is_causal or ragged:
                    for i, j in T.Parallel(bm, bn):
                        seen = (k * bn + j < kv) & (bx * bm + i >= k * bn + j if is_causal else True)
                        S[i, j] = T.if_then_else(seen, S[i, j], -T.infinity(accum_dtype))
                T.copy(top, before)
                T.reduce_max(S, top, dim=1, clear=False)
                for i in T.Parallel(bm):
                    factor[i] = T.exp2((before[i] - top[i]) * scale)
                for i, j in T.Parallel(bm, bn):
                    S[i, j] = T.exp2((S[i, j] - top[i]) * scale)
                T.reduce_sum(S, one, dim=1)
                for i in T.Parallel(bm):
                    total[i] = total[i] * factor[i] + one[i]
                for i, j in T.Parallel(bm, dim):
                    R[i, j] *= factor[i]
                T.copy(S, P)
                T.copy(V[b, h, k * bn, 0], V_s)
                T.gemm(P, V_s, R)
            for i, j in T.Parallel(bm, dim):
                R[i, j] /= total[i]
            T.copy(R, O[b, h, bx * bm, 0])

    return attend
