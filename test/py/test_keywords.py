"""Arguments that a function does not have are refused on every way to call it."""

import numpy as np
import tilelang
import tilelang.language as T
from check import raises


@tilelang.jit(target="cpu")
def scale(A, blk: int = 32, by: float = 2.0):
    N = T.const("N")
    A: T.Tensor[[N], T.float32]
    C = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, blk)) as bx:
        for i in T.Parallel(blk):
            C[bx * blk + i] = A[bx * blk + i] * by
    return C


@tilelang.jit(target="cpu", out_idx=[1])
def lazy(N, blk=32, by=2.0):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, blk)) as bx:
            for i in T.Parallel(blk):
                C[bx * blk + i] = A[bx * blk + i] * by

    return main


ONES = np.ones(5, "float32")


def test_eager_keywords():
    assert (scale(ONES, by=3.0) == 3).all()
    with raises(TypeError, "scale() got an unexpected keyword argument 'bye'", "did you mean 'by'?"):
        scale(ONES, bye=3.0)
    with raises(TypeError, "unexpected keyword argument 'block'"):
        scale(ONES, block=7)
    with raises(TypeError, "unexpected keyword argument 'bye'"):
        scale.compile(ONES, bye=3.0)
    with raises(TypeError, "unexpected keyword argument 'bye'"):
        scale.compile(N=5, bye=3.0)
    with raises(TypeError, "unexpected keyword argument 'bye'"):
        scale.get_kernel_source(ONES, bye=3.0)
    assert (scale.compile(N=5, by=4.0)(ONES) == 4).all()  # the name of a T.const is one


def test_surplus_positionals():
    with raises(TypeError, "too many positional arguments"):
        scale(ONES, 32, 3.0, 99, 98)
    with raises(TypeError):
        lazy(5, 32, 3.0, 99)


def test_lazy_keywords():
    with raises(TypeError, "unexpected keyword argument 'block'"):
        lazy(5, block=7)
    with raises(TypeError, "unexpected keyword argument 'block'"):
        lazy.compile(5, block=7)


def test_kernel_calls():
    kernel = lazy(5)
    with raises(TypeError):
        kernel(ONES, by=3.0)
    with raises(Exception):
        kernel(ONES, ONES, ONES, ONES)


def test_tuned_functions():
    @tilelang.autotune(configs=[{"blok": 16}, {"blok": 32}], warmup=1, rep=1)
    @tilelang.jit(target="cpu")
    def tuned(A, blk: int = 32):
        N = T.const("N")
        A: T.Tensor[[N], T.float32]
        C = T.empty((N,), T.float32)
        with T.Kernel(T.ceildiv(N, blk)) as bx:
            for i in T.Parallel(blk):
                C[bx * blk + i] = A[bx * blk + i] * 2
        return C

    with raises(Exception, "blok"):
        tuned(ONES)
