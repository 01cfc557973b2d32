"""Correct calls and kernels made wrong at random (fuzz.py): an exception each, never a crash, and what is not
refused gives the right answer.  TILELANG_FUZZ=n tries n times as many."""

import os

import fuzz

TIMES = int(os.environ.get("TILELANG_FUZZ", "1"))


def tried(what, count, seed, *targets):
    words = [what, "--count", str(count * TIMES), "--seed", str(seed)]
    for t in targets:
        words += ["--target", t]
    findings, ways = fuzz.children(fuzz.options(words))
    assert not findings, "\n".join(findings)
    return ways


def test_wrong_calls():
    ways = tried("calls", 1000, 1, "cpu", "sim -arch=sm_90a")
    assert ways["refused"] > 500 * TIMES and ways["right"] > 20 * TIMES, ways


def test_wrong_kernels():
    ways = tried("kernels", 700, 1, "sim -arch=sm_80", "sim -arch=sm_90a")
    assert ways["refused"] > 350 * TIMES and ways["right"] > 70 * TIMES, ways


def test_wrong_kernels_of_the_cpu():
    ways = tried("kernels", 40, 2, "cpu")
    assert ways["refused"] > 15 * TIMES, ways
