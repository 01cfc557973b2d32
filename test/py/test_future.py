"""Under `from __future__ import annotations` every annotation is a text: it means what it says."""

from __future__ import annotations

import numpy as np
import tilelang
import tilelang.language as T


@tilelang.jit(target="cpu")
def scale(A, hidden: int, by: float = 2.0, dtype: str = "float32", more: int | None = None):
    N = T.const("N")
    A: T.Tensor[[N], T.float32]
    C = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, hidden)) as bx:
        tile = T.alloc_shared((hidden,), dtype)
        T.copy(A[bx * hidden], tile)
        for i in T.Parallel(hidden):
            C[bx * hidden + i] = tile[i] * by
    return C


@tilelang.jit(target="cpu")
def add(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), n: int, m: T.int32, x: "float32"):
    with T.Kernel(1, threads=32):
        tile = T.alloc_fragment((n,), "float32")
        T.clear(tile)
        for i in T.Parallel(64):
            B[i] = A[i] * n + m + x


def factory(M, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M,), dtype), B: T.Tensor((M,), dtype), n: T.int32, f: "float32"):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(M):
                B[i] = A[i] * n + f

    return main


@tilelang.jit(target="cpu", out_idx=[1])
def lazy(M: int, block: int = 32):
    @T.prim_func
    def main(A: T.Tensor((M,), "float32"), B: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, block), threads=32) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * 2

    return main


def test_eager():
    assert (scale(np.ones(5, "float32"), 32, 3.0) == 3).all()
    assert (scale(np.ones(5, "float32"), hidden=16) == 2).all()


def test_eager_scalars():
    a, b = np.ones(64, "float32"), np.zeros(64, "float32")
    add(a, b, 3, 4, 0.5)
    assert (b == 7.5).all()
    kernel = add.compile(a, b, 3, 4, 0.5)  # n is fixed, m and x are not
    assert [p.name for p in kernel.params] == ["A", "B", "m", "x"], kernel.params


def test_prim_func():
    a, b = np.ones(8, "float32"), np.zeros(8, "float32")
    tilelang.compile(factory(8), target="cpu")(a, b, 2, 0.25)
    assert (b == 2.25).all()


def test_lazy():
    assert (lazy(8)(np.ones(8, "float32")) == 2).all()
