"""Calls whose tensors share memory give what a GPU gives."""

import ctypes
import os
import pathlib
import tempfile
import threading

import numpy as np
import tilelang
import tilelang.language as T
from check import near, raises, settings

CPUS = ("cpu", "cpu -mcpu=x86-64-v3")
ALL = CPUS + ("sim -arch=sm_80", "sim -arch=sm_90a")


def randn(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def product(n, dtype="float32", trans=False):
    @T.prim_func
    def main(A: T.Tensor((n, n), dtype), B: T.Tensor((n, n), dtype), C: T.Tensor((n, n), dtype)):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((n, n), dtype)
            b = T.alloc_shared((n, n), dtype)
            c = T.alloc_fragment((n, n), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c, transpose_B=trans)
            T.copy(c, C)

    return main


def test_products_in_place():
    for n, dtype, trans in ((64, "float32", False), (100, "float32", True), (64, "float16", False)):
        a, b = randn(n, n, dtype=dtype), randn(n, n, dtype=dtype, seed=1)
        want = a.astype("float32") @ (b.T if trans else b).astype("float32")
        tol = 1e-4 if dtype == "float32" else 1e-2
        for target in ALL if n == 64 and dtype == "float32" else CPUS:
            k = tilelang.compile(product(n, dtype, trans), target=target)
            x, y = a.copy(), b.copy()
            k(x, y, x)
            near(x, want, 2e-2 if "sim" in target else tol)
            x, y = a.copy(), b.copy()
            k(x, y, y)
            near(y, want, 2e-2 if "sim" in target else tol)
            out = np.zeros_like(a)
            k(a, b, out)
            near(out, want, 2e-2 if "sim" in target else tol)


def test_an_accumulator_does_not_live_in_an_operand():
    n = 192

    @T.prim_func
    def main(A: T.Tensor((n, n), "float32"), B: T.Tensor((n, n), "float32"), C: T.Tensor((n, n), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((n, n), "float32")
            b = T.alloc_shared((n, n), "float32")
            c = T.alloc_fragment((n, n), "float32")
            T.clear(c)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c)
            T.copy(c, C)

    for target in CPUS:
        a, b = randn(n, n), randn(n, n, seed=1)
        want = a @ b
        tilelang.compile(main, target=target)(a, b, a)
        near(a, want)


def test_one_parameter_read_and_written():
    n = 64

    @T.prim_func
    def main(A: T.Tensor((n, n), "float32"), B: T.Tensor((n, n), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((n, n), "float32")
            b = T.alloc_shared((n, n), "float32")
            c = T.alloc_fragment((n, n), "float32")
            for _ in T.serial(2):
                T.copy(A, a)
                T.copy(B, b)
                T.clear(c)
                T.gemm(a, b, c)
                T.copy(c, A)

    for target in CPUS:
        a, b = randn(n, n), randn(n, n, seed=1)
        want = a @ b @ b
        tilelang.compile(main, target=target)(a, b)
        near(a, want)


def test_rows_that_were_fused():
    """The rows move by one: what is read before it is written has to be read first."""
    m, n = 33, 70

    @T.prim_func
    def main(X: T.Tensor((m, n), "float32"), Y: T.Tensor((m, n), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_fragment((m, n), "float32")
            s = T.alloc_fragment((m,), "float32")
            T.copy(X, x)
            T.reduce_sum(x, s, dim=1)
            for i, j in T.Parallel(m, n):
                x[i, j] = x[i, j] - s[i]
            T.copy(x, Y)

    for target in ALL:
        k = tilelang.compile(main, target=target)
        for shift in (0, 1, -1):
            memory = randn(m + 2, n)
            x, y = memory[1 : m + 1], memory[1 + shift : m + 1 + shift]
            want = x - x.sum(1, keepdims=True)
            k(x, y)
            near(y, want)


def test_strided_views_of_one_tensor():
    m, n, s = 8, 32, T.dynamic("s")

    @T.prim_func
    def main(X: T.StridedTensor((m, n), (s, 1), "float32"), Y: T.StridedTensor((m, n), (s, 1), "float32")):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(m, n):
                Y[i, j] = X[i, j] * 2

    for target in ALL:
        memory = randn(m, 2 * n)
        want = memory[:, :n] * 2
        tilelang.compile(main, target=target)(memory[:, :n], memory[:, n:])
        near(memory[:, n:], want)


def test_what_no_target_defines():
    m, n = 8, 32
    s, t = T.dynamic("s"), T.dynamic("t")

    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Y: T.StridedTensor((m, n), (s, t), "float32")):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(m, n):
                Y[i, j] = X[j] * 2

    for target in ("cpu", "sim -arch=sm_80"):
        k = tilelang.compile(main, target=target)
        x, memory = randn(n), np.zeros(m * n + n + 1, "float32")
        strided = np.lib.stride_tricks.as_strided
        k(x, strided(memory, (m, n), (4 * n, 4)))
        with raises(Exception, "'Y' is written, and elements of it share memory", "[argument-overlap]"):
            k(x, strided(memory, (m, n), (0, 4)))
        with raises(Exception, "[argument-overlap]"):
            k(x, strided(memory, (m, n), (4, 4)))
        cut = np.frombuffer(memory.view("uint8").data, "float32", n, offset=2)
        with raises(Exception, "'Y' and 'X' overlap", "[argument-overlap]"):
            k(cut, strided(memory, (m, n), (4 * n, 4)))


def test_views_that_start_apart():
    """Element by element, in no order: refused.  One tensor, tensors side by side and one block that reads first are not."""
    n, m = 64, T.dynamic("m")

    @T.prim_func
    def each(X: T.Tensor((m,), "float32"), Y: T.Tensor((m,), "float32")):
        with T.Kernel(T.ceildiv(m, 32), threads=32) as bx:
            for i in T.Parallel(32):
                Y[bx * 32 + i] = X[bx * 32 + i] * 2

    @T.prim_func
    def rows(X: T.Tensor((n, 8), "float32"), Y: T.Tensor((n, 8), "float32")):
        with T.Kernel(n // 8, threads=32) as bx:
            x = T.alloc_shared((8, 8), "float32")
            T.copy(X[bx * 8, 0], x)
            T.copy(x, Y[bx * 8, 0])

    @T.prim_func
    def straight(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            T.copy(X, Y)

    @T.prim_func
    def first(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32"), most: T.int32):
        with T.Kernel(n // 32, threads=32) as bx:
            for i in T.Parallel(32):
                if bx * 32 + i < most:
                    Y[bx * 32 + i] = X[bx * 32 + i] * 2

    for target in ("cpu", "sim -arch=sm_80"):
        for kernel, width in ((each, 1), (rows, 8), (straight, 1)):
            k = tilelang.compile(kernel, target=target)
            for x, y in ((0, 1), (1, 0), (5, 40)):
                memory = np.zeros((2 * n, 8) if width > 1 else 2 * n, "float32")
                with raises(Exception, "'Y' and 'X' overlap and start %d bytes apart" % (4 * width * abs(x - y)), "[argument-overlap]"):
                    k(memory[x : x + n], memory[y : y + n])
            memory = randn(2 * n, 8) if width > 1 else randn(2 * n)
            want = memory[:n] * (2 if kernel is each else 1)
            k(memory[:n], memory[n:])
            near(memory[n:], want)
            k(memory[:n], memory[:n])
            near(memory[:n], want)
        memory = randn(n + 8)
        want = memory[:8] * 2
        tilelang.compile(first, target=target)(memory[:n], memory[8:], 8)
        near(memory[8:16], want)


def made(folder):
    """Kernels that the compiler made into a cache."""
    return sorted(str(p) for p in pathlib.Path(folder).rglob("kernel.so"))


def test_the_second_kernel_is_made_when_a_call_needs_it():
    n = 64
    a, b = randn(n, n), randn(n, n, seed=1)
    with tempfile.TemporaryDirectory() as folder, settings(TILELANG_CACHE_DIR=folder):
        k = tilelang.compile(product(n), target="cpu")
        assert "tl_entry_overlap" not in k.get_kernel_source() and "return TL_OVERLAP;" in k.get_kernel_source()
        out = np.zeros_like(a)
        k(a, b, out)
        near(out, a @ b)
        assert len(made(folder)) == 1, made(folder)
        for _ in range(2):
            x = a.copy()
            k(x, b, x)
            near(x, a @ b)
            assert len(made(folder)) == 2, made(folder)
        before = [os.stat(p).st_mtime_ns for p in made(folder)]
        again, x = tilelang.compile(product(n), target="cpu"), a.copy()
        again(x, b, x)
        near(x, a @ b)
        assert [os.stat(p).st_mtime_ns for p in made(folder)] == before


def test_several_threads_need_it_at_once():
    n = 64
    a, b = randn(n, n), randn(n, n, seed=1)
    with tempfile.TemporaryDirectory() as folder, settings(TILELANG_CACHE_DIR=folder):
        k = tilelang.compile(product(n), target="cpu")
        xs = [a.copy() for _ in range(6)]
        outs = [np.zeros_like(a) for _ in range(6)]

        def work(i):
            k(xs[i], b, xs[i])
            k(a, b, outs[i])

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for x in xs + outs:
            near(x, a @ b)
        assert len(made(folder)) == 2, made(folder)


def test_a_bundle_has_both():
    n = 64
    a, b = randn(n, n), randn(n, n, seed=1)
    k = tilelang.compile(product(n), target="cpu")
    with tempfile.TemporaryDirectory() as folder:
        k.export_library(folder + "/one")
        (library,) = pathlib.Path(folder, "one").glob("lib*.so")
        call = getattr(ctypes.CDLL(str(library)), library.stem[3:])
        at = lambda t: ctypes.c_void_p(t.ctypes.data)
        x, y, out = a.copy(), b.copy(), np.zeros_like(a)
        assert call(at(x), at(b), at(x)) == 0 and call(at(a), at(y), at(y)) == 0 and call(at(a), at(b), at(out)) == 0
        for got in (x, y, out):
            near(got, a @ b)
