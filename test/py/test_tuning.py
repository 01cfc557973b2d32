"""The autotuner: what fails, crashes or hangs in a configuration stays there."""

import logging
import os
import sys
import time
import warnings

import numpy as np

import tilelang
import tilelang.language as T
from tilelang.autotuner import AutoTuner, set_autotune_inputs
from tilelang.autotuner.param import CompileArgs, ProfileArgs
from check import raises, randn

PRELUDE = """
#include <stdlib.h>
static float odd(int kind, float x)
{
    if (kind == 1)
        abort();
    while (kind == 2)
        __asm__ volatile("" ::: "memory");
    return x;
}
"""


def twice(kind):
    @T.prim_func
    def main(X: T.Tensor((32,), "float32"), Y: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32, prelude=PRELUDE):
            for i in T.Parallel(32):
                Y[i] = 2 * T.call_extern("float32", "odd", kind, X[i])

    return main


def fresh(test):
    """Without results of earlier runs."""
    def run():
        os.environ["TILELANG_AUTO_TUNING_DISABLE_CACHE"] = "1"
        try:
            test()
        finally:
            del os.environ["TILELANG_AUTO_TUNING_DISABLE_CACHE"]

    return run


@fresh
def test_a_crash_and_a_hang_are_left_out():
    tuner = AutoTuner.from_kernel(twice, [{"kind": 1}, {"kind": 0}, {"kind": 2}, {"kind": 3}])
    tuner.set_compile_args(out_idx=-1, target="c").set_profile_args(warmup=1, rep=1)
    start = time.monotonic()
    found = tuner.run(timeout=10)
    assert found.config["kind"] in (0, 3) and found.latency > 0
    assert time.monotonic() - start < 60
    x = randn(32)
    assert (found.kernel(x) == 2 * x).all()
    with raises(RuntimeError, "no configuration"):
        AutoTuner.from_kernel(twice, [{"kind": 1}, {"kind": 1}]).set_compile_args(
            out_idx=-1, target="c").run(warmup=1, rep=1, timeout=20)


@fresh
def test_no_process_for_trials_is_said():
    from tilelang.autotuner.trial import Trials

    was, sys.executable = sys.executable, "/nonexistent/python"
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert not Trials().start()
    finally:
        sys.executable = was
    assert any("tried in this one" in str(w.message) for w in said), [str(w.message) for w in said]


def test_inputs_travel():
    """The index tells where to read: other inputs than those set would be out of bounds."""
    @tilelang.autotune(configs=[{"threads": 32}, {"threads": 64}], warmup=1, rep=1)
    @tilelang.jit(out_idx=-1, target="c")
    def gather(n=16, threads=32):
        @T.prim_func
        def main(X: T.Tensor((n,), "float32"), at: T.Tensor((n,), "int32"), s: T.float32,
                 Y: T.Tensor((n,), "float32")):
            with T.Kernel(1, threads=threads):
                for i in T.Parallel(n):
                    Y[i] = X[at[i]] * s

        return main

    x, at = randn(16), np.arange(16, dtype="int32")[::-1].copy()
    with raises(ValueError, "set_autotune_inputs"):
        gather()
    with set_autotune_inputs(x, at, 2.0):
        k = gather()
    assert (k(x, at, 2.0) == x[::-1] * 2).all() and k.latency > 0


@fresh
def test_what_is_not_specialised_shares_a_choice():
    @tilelang.autotune(configs=[{"threads": 32}, {"threads": 64}], warmup=1, rep=1,
                       do_not_specialize=["n"])
    @tilelang.jit(out_idx=-1, target="c")
    def fill(m, n, threads=32):
        @T.prim_func
        def main(Y: T.Tensor((m, n), "float32")):
            with T.Kernel(1, threads=threads):
                T.fill(Y, 3)

        return main

    a = fill(4, 8)
    b = fill(4, n=9)
    assert len(fill._tuner_cache) == 1 and a.config == b.config
    assert a().shape == (4, 8) and b().shape == (4, 9)
    fill(5, 8)
    fill(5, 8, threads=32)
    fill(5, 8, threads=64)
    assert len(fill._tuner_cache) == 4


def test_keys_of_results():
    def key(compile_args=CompileArgs(target="c"), profile_args=ProfileArgs()):
        tuner = AutoTuner(twice, [{"kind": 0}])
        tuner.compile_args, tuner.profile_args = compile_args, profile_args
        return tuner.generate_cache_key()

    keys = [key(), key(CompileArgs(target="c", out_idx=[1])),
            key(CompileArgs(target="sim -arch=sm_80")),
            key(profile_args=ProfileArgs(skip_check=True)), key(profile_args=ProfileArgs(rep=7))]
    assert len(set(keys)) == len(keys) and key() == keys[0]
    with set_autotune_inputs(randn(8)):
        small = key()
    with set_autotune_inputs(randn(9)):
        assert key() not in (small, keys[0])
    assert key(profile_args=ProfileArgs(ref_prog=len)) is None


def test_a_result_is_published_whole_or_not_at_all():
    import tempfile
    from pathlib import Path

    from tilelang.autotuner.param import AutotuneResult

    kernel = tilelang.compile(twice(0), out_idx=-1, target="c")
    found = AutotuneResult(1.5, {"kind": 0}, None, None, kernel.prim_func, kernel)
    with tempfile.TemporaryDirectory() as root:
        place = Path(root) / "tuned" / "one"
        place.mkdir(parents=True)
        (place / "half.txt").write_text("of an earlier run")
        found.save_to_disk(place)
        assert not (place / "half.txt").exists() and (place / "params.pkl").exists()
        assert AutotuneResult.read(place) == {"config": {"kind": 0}, "latency": 1.5,
                                              "ref_latency": None}
        again = AutotuneResult.load_from_disk(
            place, lambda c: tilelang.compile(twice(**c), out_idx=-1, target="c"))
        assert again.latency == 1.5 and (again.kernel(np.ones(32, "float32")) == 2).all()
        stamp = (place / "latency.json").stat().st_mtime_ns
        found.save_to_disk(place)
        assert (place / "latency.json").stat().st_mtime_ns == stamp
        found.config = {"kind": object()}  # cannot be written
        other = Path(root) / "tuned" / "two"
        logging.disable()
        found.save_to_disk(other)
        logging.disable(logging.NOTSET)
        assert not other.exists() and not any((Path(root) / ".staging").iterdir())
