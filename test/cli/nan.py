"""What is no number is wrong, and JSON has no word for it."""

import tilelang.language as T


@T.prim_func
def reference(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            B[i] = 0.0


@T.prim_func
def root(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            B[i] = T.sqrt(A[i])
