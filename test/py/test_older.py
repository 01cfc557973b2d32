"""Names of older scripts, and of 0.1.15, that are Python's and not the kernel's."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import tilelang
import tilelang.language as T
from check import raises
from tilelang.autotuner import autotune, jit
from tilelang.language.kernel import (is_kernel_launch_factory, kernel_launch_factory,
                                      launch_kernel)
from tilelang.profiler import cached, do_bench


def plus_one(n, b=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, b), threads=b) as bx:
            for i in T.Parallel(b):
                B[bx * b + i] = A[bx * b + i] + 1

    return main


def test_cached_compiles_once():
    k = cached(plus_one, [1], 100, target="cpu")
    assert (k(np.ones(100, "float32")) == 2).all()
    assert cached(plus_one, [1], 100, target="cpu") is k
    assert cached(plus_one, [1], 100, 32, target="cpu") is not k


def test_jit_of_the_tuner_gives_results():
    def tuned(**told):
        @autotune(configs=[{"b": 32}, {"b": 64}], warmup=1, rep=1, keys=["b"])
        @jit(out_idx=[1], supply_type=tilelang.TensorSupplyType.Auto, target="cpu", profiler="auto",
             max_mismatched_ratio=0.05, **told)
        def kernel(b=None):
            return plus_one(128, b)

        return kernel

    found = tuned(ref_prog=lambda a: a + 1)()
    assert found.config in ([32], [64]) and found.latency > 0
    assert (found.kernel(np.zeros(128, "float32")) == 1).all()
    with raises(RuntimeError):
        tuned(ref_prog=lambda a: a + 2)()
    with raises(ValueError, "'c'"):
        autotune(configs=[{"b": 32}], keys=["c"])(jit(out_idx=[1])(plus_one))


def test_wall_clock():
    assert do_bench(lambda: sum(range(1000)), backend="wall", n_warmup=1, n_repeat=3) > 0
    with raises(NotImplementedError, "Ascend"):
        do_bench(lambda: 0, backend="msprof")
    with raises(ValueError, "wall"):
        do_bench(lambda: 0, backend="sundial")


def test_launch_factories():
    @kernel_launch_factory
    def mine(*blocks):
        return launch_kernel(blocks, threads=32)

    @tilelang.jit(target="cpu")
    def twice(A: T.Tensor((64,), "float32")):
        with mine(2) as bx:
            for i in T.Parallel(32):
                A[bx * 32 + i] = A[bx * 32 + i] * 2

    a = np.ones(64, "float32")
    twice(a)
    assert (a == 2).all()
    assert is_kernel_launch_factory(mine) and is_kernel_launch_factory(T.Kernel)
    assert not is_kernel_launch_factory(print)
    with raises(NotImplementedError, "cores"):
        launch_kernel((1,), cores=4)


def test_what_clients_look_at():
    f = plus_one(64)
    with raises(AttributeError, "script"):
        f.body
    assert not hasattr(f, "body")
    assert T.dtype("float16").is_floating_point and not T.dtype("int8").is_floating_point
    assert T.dtype("float16x2").is_vector() and T.dtype("float16").is_scalar()


SCRIPT = '''
import tilelang, tilelang.language as T

@tilelang.jit
def factory(n=64):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                A[i] = A[i] + 1
    return main

if __name__ == "__main__":
    raise SystemExit("this must not run")
'''


def test_compile_only():
    with tempfile.TemporaryDirectory() as d:
        path, out = os.path.join(d, "k.py"), os.path.join(d, "k.cu")
        with open(path, "w") as f:
            f.write(SCRIPT)

        def run(*args):
            return subprocess.run([sys.executable, "-m", "tilelang.tools.compile_only", *args],
                                  capture_output=True, text=True)

        got = run("--target", "cuda", "--output_file", out, path)
        assert got.returncode == 0, got.stderr
        with open(out) as f:
            assert "__global__" in f.read()
        assert "__global__" not in run(path).stdout
        got = run("--target", "auto", path)
        assert got.returncode == 1 and "target" in got.stderr
        got = run("--target", '{"kind": "cuda", "arch": "sm_90a"}', path)
        assert "__global__" in got.stdout, got.stderr
