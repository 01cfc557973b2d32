"""Computations of templates as kernels, written plainly: what a tuned one is to be compared with."""

import math

from .. import language as T


def matmul(M, N, K, trans_A, trans_B, in_dtype, out_dtype, accum_dtype, with_bias=False):
    shape_a, shape_b = ((K, M) if trans_A else (M, K)), ((N, K) if trans_B else (K, N))

    if with_bias:
        @T.prim_func
        def product(A: T.Tensor(shape_a, in_dtype), B: T.Tensor(shape_b, in_dtype),
                    Bias: T.Tensor((N,), out_dtype), C: T.Tensor((M, N), out_dtype)):
            with T.Kernel(T.ceildiv(N, 64), M, threads=64) as (bx, i):
                for j in T.Parallel(64):
                    if bx * 64 + j < N:
                        total = T.alloc_var(accum_dtype, init=0)
                        for k in T.serial(K):
                            a = A[k, i] if trans_A else A[i, k]
                            b = B[bx * 64 + j, k] if trans_B else B[k, bx * 64 + j]
                            total += T.cast(a, accum_dtype) * T.cast(b, accum_dtype)
                        C[i, bx * 64 + j] = T.cast(total, out_dtype) + Bias[bx * 64 + j]

        return product

    @T.prim_func
    def product(A: T.Tensor(shape_a, in_dtype), B: T.Tensor(shape_b, in_dtype),
                C: T.Tensor((M, N), out_dtype)):
        with T.Kernel(T.ceildiv(N, 64), M, threads=64) as (bx, i):
            for j in T.Parallel(64):
                if bx * 64 + j < N:
                    total = T.alloc_var(accum_dtype, init=0)
                    for k in T.serial(K):
                        a = A[k, i] if trans_A else A[i, k]
                        b = B[bx * 64 + j, k] if trans_B else B[k, bx * 64 + j]
                        total += T.cast(a, accum_dtype) * T.cast(b, accum_dtype)
                    C[i, bx * 64 + j] = total

    return product


def elementwise(shape, dtype):
    """B = A + 1, all elements in a row."""
    n = math.prod(shape)

    @T.prim_func
    def increment(A: T.Tensor(shape, dtype), B: T.Tensor(shape, dtype)):
        with T.Kernel(T.ceildiv(n, 256), threads=128) as bx:
            a = T.view(A, (n,))
            b = T.view(B, (n,))
            for i in T.Parallel(256):
                if bx * 256 + i < n:
                    b[bx * 256 + i] = a[bx * 256 + i] + T.cast(1, dtype)

    return increment


def extents(structure, shape):
    """(the axes called S, how many elements they have, how many those called R have)"""
    letters = structure.upper()
    if len(letters) != len(shape) or set(letters) - {"S", "R"}:
        raise ValueError("%r does not say S or R of each of %d axes" % (structure, len(shape)))
    kept = [n for n, s in zip(shape, letters) if s == "S"] or [1]
    return kept, math.prod(kept), math.prod(n for n, s in zip(shape, letters) if s == "R")


def element(structure, shape, row, step):
    """The element that is the step-th of a row's sum, in the flat tensor."""
    at, scale = 0, 1
    for n, s in zip(reversed(list(shape)), reversed(structure.upper())):
        if s == "S":
            at, row = at + row % n * scale, row // n
        else:
            at, step = at + step % n * scale, step // n
        scale *= n
    return at


def reduction(structure, shape, dtype):
    """The sum along the axes called R; rows are what is left of the others."""
    kept, rows, steps = extents(structure, shape)

    @T.prim_func
    def sums(A: T.Tensor(shape, dtype), B: T.Tensor(kept, dtype)):
        with T.Kernel(T.ceildiv(rows, 64), threads=64) as bx:
            a = T.view(A, (rows * steps,))
            b = T.view(B, (rows,))
            for i in T.Parallel(64):
                if bx * 64 + i < rows:
                    total = T.alloc_var("float32", init=0)
                    for k in T.serial(steps):
                        total += T.cast(a[element(structure, shape, bx * 64 + i, k)], "float32")
                    b[bx * 64 + i] = total

    return sums


def attention(batch, heads, seq, kv, dim, is_causal, in_dtype, out_dtype, accum_dtype):
    """softmax(Q K^T / sqrt(dim)) V, row by row."""
    scale = 1.0 / math.sqrt(dim)

    @T.prim_func
    def attend(Q: T.Tensor((batch, heads, seq, dim), in_dtype),
               K: T.Tensor((batch, heads, kv, dim), in_dtype),
               V: T.Tensor((batch, heads, kv, dim), in_dtype),
               O: T.Tensor((batch, heads, seq, dim), out_dtype)):
        with T.Kernel(seq, heads, batch, threads=64) as (row, h, b):
            S = T.alloc_fragment((1, kv), accum_dtype)
            top = T.alloc_fragment((1,), accum_dtype)
            total = T.alloc_fragment((1,), accum_dtype)
            W = T.alloc_shared((kv,), accum_dtype)
            for i, j in T.Parallel(1, kv):
                S[i, j] = 0
                for d in T.serial(dim):
                    S[i, j] += T.cast(Q[b, h, row, d], accum_dtype) * T.cast(K[b, h, j, d], accum_dtype)
                S[i, j] = T.if_then_else(is_causal and j > row, -T.infinity(accum_dtype),
                                         S[i, j] * scale)
            T.reduce_max(S, top, dim=1)
            for i, j in T.Parallel(1, kv):
                S[i, j] = T.exp(S[i, j] - top[i])
            T.reduce_sum(S, total, dim=1)
            for i, j in T.Parallel(1, kv):
                W[j] = S[i, j] / total[i]
            for d in T.Parallel(dim):
                one = T.alloc_var(accum_dtype, init=0)
                for j in T.serial(kv):
                    one += W[j] * T.cast(V[b, h, j, d], accum_dtype)
                O[b, h, row, d] = one

    return attend
