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


def test_names_of_tvm_that_older_kernels_use():
    import tvm
    from tilelang.intrinsics.utils import index_to_coordinates
    from tvm import arith, te

    assert index_to_coordinates(23, (2, 3, 4)) == [1, 2, 3]
    assert arith.Analyzer().simplify(7) == 7 and tvm.arith.Analyzer().can_prove(2 < 3)
    from tvm.runtime import convert

    assert convert(3) == 3
    n = te.var("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            t = T.thread_binding(64, "threadIdx.x")
            i = T.meta_var(index_to_coordinates(t, [64])[0])
            if bx * 64 + i < n:
                A[bx * 64 + i] = A[bx * 64 + i] + 1

    a = np.zeros(100, "float32")
    tilelang.compile(main, target="cpu")(a)
    assert (a == 1).all()


def test_ldmatrix_by_hand():
    @T.prim_func
    def main(A: T.Tensor((32, 32), "float16"), B: T.Tensor((8, 32), "float16"),
             C: T.Tensor((32, 8), "float32"), W: T.Tensor((32, 8), "float16")):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding()
            a_s = T.alloc_shared((32, 32), "float16")
            b_s = T.alloc_shared((8, 32), "float16")
            a = T.alloc_local((8,), "float16")
            b = T.alloc_local((4,), "float16")
            c = T.alloc_local((4,), "float32")
            T.annotate_layout({a_s: tilelang.layout.make_swizzled_layout(a_s)})
            T.copy(A, a_s)
            T.copy(B, b_s)
            w = t // 32
            lane = t % 32
            for i in T.serial(4):
                c[i] = 0
            for k in T.serial(2):
                T.ptx_ldmatrix("float16", T.bool(False), 4, ".b16", a.data, 0,
                               T.address_of(a_s[w * 16, k * 16]), lane % 16 * 32 + lane // 16 * 8)
                first = b_s[lane % 8, k * 16 + lane // 8 % 2 * 8]
                T.ptx_ldmatrix(False, 2, T.address_of(first), T.access_ptr(b[0], "w"))
                T.ptx_mma("float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32",
                          a.data, 0, b.data, 0, c.data, 0)
            for i in T.serial(4):
                C[w * 16 + lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2] = c[i]
            T.ptx_ldmatrix(True, 4, T.access_ptr(a_s[lane, 0], "r"), T.access_ptr(a[0], "w"))
            if w == 0:
                for i in T.serial(8):
                    W[lane, i] = a[i]

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype("float16") for s in ((32, 32), (8, 32)))
    for arch in ("sm_80", "sm_90a"):
        c, w = np.zeros((32, 8), "float32"), np.zeros((32, 8), "float16")
        tilelang.compile(main, target="sim -arch=" + arch)(a, b, c, w)
        want = a.astype("float32") @ b.astype("float32").T
        assert np.abs(c - want).max() < 1e-3, np.abs(c - want).max()
        lane, i = np.meshgrid(np.arange(32), np.arange(8), indexing="ij")
        # Matrix i // 2: its rows are 8 lanes' addresses; transposed, a lane has column lane // 4.
        assert (w == a[i // 2 * 8 + lane % 4 * 2 + i % 2, lane // 4]).all()
