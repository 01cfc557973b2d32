"""Sums of a few thousands in float16: near enough for their size, and off by more than 1e-3."""

import tilelang.language as T


@T.prim_func
def reference(A: T.Tensor((64,), "float16"), B: T.Tensor((64,), "float16")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            B[i] = A[i] * 1000.5


@T.prim_func
def rough(A: T.Tensor((64,), "float16"), B: T.Tensor((64,), "float16")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            B[i] = A[i] * 1000 + T.cast(A[i] * 1000, "float16") * 0.0001
