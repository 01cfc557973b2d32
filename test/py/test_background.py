"""Kernels built in the background: calls go on meanwhile, and nothing is lost or built twice."""

import logging
import os
import sys
import tempfile
import textwrap
import threading
import time

import numpy as np

import tilelang
import tilelang.language as T
from check import near, raises
from test_process import alone
from tilelang.jit.background import BackgroundKernel


class Logged(logging.Handler):
    """What was logged in the block."""

    def __enter__(self):
        self.lines = []
        logging.getLogger("tilelang").addHandler(self)
        return self

    def emit(self, record):
        self.lines.append(record.getMessage())

    def __exit__(self, *why):
        logging.getLogger("tilelang").removeHandler(self)


def eager():
    @tilelang.jit(target="cpu", background=True)
    def scale(A, by=2.0):
        N = T.const("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((N,), "float32")
        with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
            for i in T.Parallel(64):
                B[bx * 64 + i] = A[bx * 64 + i] * by
        return B

    return scale


def lazy(background=True, refused=None):
    @tilelang.jit(out_idx=[-1], target="cpu", background=background)
    def scale(N, by=2.0):
        if N is refused:
            raise ValueError("no kernel of %d" % N)

        @T.prim_func
        def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
            with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
                for i in T.Parallel(64):
                    if bx * 64 + i < N:
                        B[bx * 64 + i] = A[bx * 64 + i] * by

        return main

    return scale


def ramp(n):
    return np.arange(n, dtype="float32")


def test_eager():
    scale = eager()
    for n in (10, 100, 1000, 10):
        assert (scale(ramp(n)) == 2 * ramp(n)).all()
    assert (scale(ramp(10), by=3.0) == 3 * ramp(10)).all()
    assert tilelang.wait(60)
    shapes = sorted(tuple(k.params[0].shape) for k in scale._kernels.values())
    assert shapes == [(10,), (10,), (100,), (1000,)], shapes
    before = dict(scale._kernels)
    assert (scale(ramp(100)) == 2 * ramp(100)).all() and scale._kernels == before
    assert len(scale._generics) == 2  # one for each value of `by`


def test_lazy():
    scale = lazy()
    first = scale(100)
    assert isinstance(first, BackgroundKernel) and scale(100) is first
    other = scale(70)
    assert other._generic is first._generic
    for k, n in ((first, 100), (other, 70)):
        assert (k(ramp(n)) == 2 * ramp(n)).all()
        assert list(k.wait(60).params[0].shape) == [n] and k.ready and k.failure is None
        assert (k(ramp(n)) == 2 * ramp(n)).all()
    assert "ready" in repr(first) and first.get_kernel_source() == first.wait().get_kernel_source()
    with raises(ValueError, "dimension 0"):
        first(ramp(7))
    named = lazy(["N"])
    assert (named(5)(ramp(5)) == 2 * ramp(5)).all()
    with raises(ValueError, "no parameter", "'M'"):
        lazy(["M"])
    with raises(TypeError, "True or a list"):
        lazy("N")


def test_failure_is_logged_once():
    scale = lazy(refused=13)
    assert (scale(12)(ramp(12)) == 2 * ramp(12)).all()
    assert tilelang.wait(60)
    with Logged() as log:
        k = scale(13)
        for _ in range(3):
            assert (k(ramp(13)) == 2 * ramp(13)).all()
            assert tilelang.wait(60)
    assert len(log.lines) == 1 and "no kernel of 13" in log.lines[0], log.lines
    assert not k.ready and "no kernel of 13" in str(k.failure) and "failed" in repr(k)
    with raises(ValueError, "no kernel of 13"):
        k.wait()


def test_without_a_generic_kernel():
    @tilelang.jit(target="cpu", background=True)
    def rows(A):
        N = T.const("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((N,), "float32")
        with T.Kernel(1, threads=32):
            tile = T.alloc_fragment((N,), "float32")
            T.copy(A, tile)
            T.copy(tile, B)
        return B

    with Logged() as log:
        for n in (16, 32):
            assert (rows(ramp(n)) == ramp(n)).all()
    assert len(log.lines) == 1 and "no generic kernel" in log.lines[0], log.lines


def function(n, by):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i] = A[i] * by

    return main


def test_compile_async():
    k = tilelang.compile_async(function(32, 5.0), out_idx=[1], target="cpu")
    assert (k(ramp(32)) == 5 * ramp(32)).all() and k.ready  # it has waited
    k = tilelang.compile_async(function(32, 6.0), out_idx=[1], target="cpu", generic=k)
    assert k(ramp(32))[1] in (5.0, 6.0)
    assert k.wait(60)(ramp(32))[1] == k(ramp(32))[1] == 6.0
    with raises(TypeError, "generic="):
        tilelang.compile_async(function(32, 5.0), generic=3)
    with raises(TypeError, "needs a @T.prim_func"):
        tilelang.compile_async(3)
    with raises(ValueError, "Invalid execution backend"):
        tilelang.compile_async(function(32, 5.0), execution_backend="none")
    with raises(ValueError, "compile_async"):
        tilelang.jit(function(32, 5.0), background=True)
    bad = tilelang.compile_async(function(32, 5.0), pass_configs={"tl.no_such": 1}, target="cpu")
    with raises(Exception, "tl.no_such"):
        bad(ramp(32), ramp(32))


def test_traces_that_give_way():
    """Hooks find the GIL, whatever they do: values, calls, kernels inside, exceptions."""
    from tilelang import _core

    def helper(tile, by):
        inner = function(8, by)  # traced inside of a trace
        assert inner.params[0].name == "A"
        return tile * by

    def fails():
        raise KeyError("from Python")

    def make(bad):
        @T.prim_func
        def main(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(32):
                    B[i] = helper(A[i], 2.0) if not bad else fails()

        return main

    wrong = []

    def work():
        _core.give_way(True)
        try:
            for _ in range(10):
                k = tilelang.compile(make(False), out_idx=[1], target="cpu")
                assert (k(ramp(32)) == 2 * ramp(32)).all()
                with raises(KeyError, "from Python"):
                    make(True)
                with raises(NameError, "nothing"):
                    @T.prim_func
                    def main(A: T.Tensor((32,), "float32")):
                        with T.Kernel(1, threads=32):
                            A[0] = nothing  # noqa: F821
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong


def test_threads_build_a_shape_once():
    scale, wrong = eager(), []

    def work(seed):
        for n in [64 + (i * seed) % 5 for i in range(40)]:
            if not (scale(ramp(n)) == 2 * ramp(n)).all():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert tilelang.wait(60) and not wrong
    assert len(scale._kernels) == 5 == len(scale._pending) and len(scale._generics) == 1


def test_only_calls_that_need_a_generic_kernel_wait_for_it():
    begun, go = threading.Event(), threading.Event()

    @tilelang.jit(out_idx=[-1], target="cpu", background=True)
    def scale(N, by=2):
        if by == 5:
            begun.set()
            assert go.wait(60)

        @T.prim_func
        def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
            with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
                for i in T.Parallel(64):
                    if bx * 64 + i < N:
                        B[bx * 64 + i] = A[bx * 64 + i] * by

        return main

    near(scale(20)(ramp(20)), 2 * ramp(20))
    assert tilelang.wait(60)
    slow = threading.Thread(target=lambda: scale(20, by=5))  # its generic kernel takes as long as we say
    slow.start()
    assert begun.wait(60)
    done = threading.Event()

    def others():
        near(scale(20)(ramp(20)), 2 * ramp(20))  # a shape that is there
        near(scale(21)(ramp(21)), 2 * ramp(21))  # a new one, whose generic kernel is there
        done.set()

    threading.Thread(target=others, daemon=True).start()
    came = done.wait(20)
    go.set()
    slow.join()
    assert came, "a call waited for a kernel that it does not need"
    assert tilelang.wait(60)


def test_fork_and_exit():
    text = """
import os, sys
sys.path.insert(0, %r)
os.environ["TILELANG_BACKGROUND_THREADS"] = "1"
import tilelang, test_background as t
scale = t.eager()
for n in (10, 20, 30, 40):
    scale(t.ramp(n))
child = os.fork()
if child == 0:
    ok = tilelang.wait(60) and len(scale._kernels) == 4 and (scale(t.ramp(20))[3] == 6)
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
assert tilelang.wait(60) and len(scale._kernels) == 4
for n in range(50, 60):
    scale(t.ramp(n))
print("end")  # with builds under way
""" % os.path.dirname(os.path.abspath(__file__))
    assert "end" in alone(text)


def test_the_switch_interval_is_set_back():
    before, seen = sys.getswitchinterval(), []

    @tilelang.jit(out_idx=[-1], target="cpu", background=True)
    def scale(N):
        seen.append(sys.getswitchinterval())

        @T.prim_func
        def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
            with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
                for i in T.Parallel(64):
                    if bx * 64 + i < N:
                        B[bx * 64 + i] = A[bx * 64 + i] * 7

        return main

    near(scale(33)(ramp(33)), 7 * ramp(33))
    assert tilelang.wait(60)
    until = time.monotonic() + 10
    while sys.getswitchinterval() != before and time.monotonic() < until:
        time.sleep(0.01)  # by the thread that built it, when it looks for another job
    assert sys.getswitchinterval() == before and min(seen) < before, (before, seen)


def test_timeout_and_number_of_threads():
    assert tilelang.wait(0) is True
    with raises(Exception, "TILELANG_BACKGROUND_THREADS"):
        tilelang.env.env.TILELANG_BACKGROUND_THREADS = "none"
        try:
            lazy()(9)
        finally:
            del tilelang.env.env.TILELANG_BACKGROUND_THREADS
    near(lazy()(9)(ramp(9)), 2 * ramp(9))


def test_compilers_have_a_lower_priority():
    """CC is a program that notes its own."""
    with tempfile.TemporaryDirectory() as folder:
        cc, notes = os.path.join(folder, "cc"), os.path.join(folder, "notes")
        with open(cc, "w") as f:
            f.write('#!/bin/sh\nsleep 0.3\nnice >>%s\nexec cc "$@"\n' % notes)
        os.chmod(cc, 0o755)
        alone(textwrap.dedent("""
            import os
            import tilelang
            import tilelang.language as T

            def scale(by):
                @T.prim_func
                def main(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
                    with T.Kernel(1, threads=8):
                        for i in T.Parallel(8):
                            B[i] = A[i] * by
                return main

            tilelang.compile(scale(3.0), target="cpu")
            own = open(%r).read().split()
            tilelang.compile_async(scale(4.0), target="cpu").wait()
            all = open(%r).read().split()
            assert set(own) == {str(os.nice(0))}, own
            assert all[len(own):] and set(all[len(own):]) == {str(max(10, os.nice(0)))}, all
        """) % (notes, notes), env=dict(os.environ, CC=cc, TILELANG_CACHE_DIR=folder))
