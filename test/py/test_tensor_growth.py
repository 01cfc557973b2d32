"""Tensor programs of many operators: what fusing takes grows with them, not with their square, and all cores compile
their kernels."""

import os
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import test_tensor

import tilelang as tl

STEPS = {
    "rows": ("x = tl.softmax(x, axis=%d)", "x = x * 1.5", "y = tl.cumsum(x, axis=%d)", "x = x + y"),
    "products": ("x = x @ w", "x = tl.tanh(x)", "x = x - tl.mean(x, axis=%d, keepdims=True)", "x = x * 0.5"),
    "elements": ("x = tl.tanh(x)", "x = x * 1.5 + 0.1", "x = tl.where(x > 0, x, x * 0.5)", "x = x.T"),
}


def chain(kind, n):
    lines = [text % (i // 4 % 2) if "%d" in text else text for i in range(n) for text in [STEPS[kind][i % 4]]]
    return test_tensor.made("def f(x, w):\n    %s\n    return x\n" % "\n    ".join(lines))


def beside(n):
    """Programs side by side: many outputs."""
    lines, names = [], []
    for i in range(n // 4):
        lines += ["a%d = tl.softmax(x * %d.5 @ w)" % (i, i), "b%d = a%d.T @ x" % (i, i), "c%d = tl.sum(b%d, axis=0)" % (i, i),
                  "d%d = c%d + 1" % (i, i)]
        names.append("d%d" % i)
    return test_tensor.made("def f(x, w):\n    %s\n    return %s\n" % ("\n    ".join(lines), ", ".join(names)))


def seconds(fn):
    """Of this process, the least of three."""
    x, least = np.ones((16, 16), "float32"), float("inf")
    for _ in range(3):
        program = tl.tensor_program(fn, target="cpu")
        start = time.process_time()
        program.tiles(x, x)
        least = min(least, time.process_time() - start)
    return least


class Growth(unittest.TestCase):
    def held(self, make):
        few, many = seconds(make(50)), seconds(make(200))
        self.assertLess(many, 0.5, "200 operators")
        self.assertLess(many, 40 * max(few, 0.005), "four times the operators")

    def test_rows(self):
        self.held(lambda n: chain("rows", n))

    def test_products(self):
        self.held(lambda n: chain("products", n))

    def test_elements(self):
        self.held(lambda n: chain("elements", n))

    def test_side_by_side(self):
        self.held(beside)

    def test_one_to_three_hundred_are_right(self):
        x = np.ones((16, 16), "float32") / 7
        for n in (1, 2, 300):
            got = tl.tensor_program(chain("elements", n), target="cpu")(x, x)
            want = x
            for i in range(n):
                want = (np.tanh(want), want * 1.5 + 0.1, np.where(want > 0, want, want * 0.5), want.T)[i % 4]
            test_tensor.close(got, want, 1e-4)


COMPILER = """#!/bin/sh
[ "$1" = --version ] && exec cc "$@"
for word; do
    [ "$word" = -c ] && [ -n "$WHOLE" ] && exit 1
done
echo "$*" >>"$LOG"
exec cc "$@"
"""

LONG = """import sys

import numpy as np

import tilelang as tl

@tl.tensor_program(target="cpu")
def long(x, w):
    for i in range(12):
        x = tl.softmax(tl.tanh(x * (i + 1.0)) + w[i], axis=-1).swapaxes(-1, -2) * 3.0
        x = x - tl.cumsum(x, axis=0) * 0.1 if i % 3 == 0 else tl.layer_norm(x, w[i], w[0])
    return tl.tanh(x @ w.T @ w)

x = np.random.default_rng(0).standard_normal((96, 96)).astype("float32")
np.save(sys.argv[1], long(x, np.ones((12, 96), "float32")))
"""


class Files(unittest.TestCase):
    """The text of many kernels is compiled as several files, with the results and the cache of one."""

    def run_long(self, folder, name, **env):
        cc = os.path.join(folder, "compiler")
        with open(cc, "w") as f:
            f.write(COMPILER)
        os.chmod(cc, 0o755)
        with open(os.path.join(folder, "long.py"), "w") as f:
            f.write(LONG)
        cache, out, log = (os.path.join(folder, name + end) for end in ("", ".npy", ".log"))
        env = {**os.environ, "CC": cc, "LOG": log, "TILELANG_CACHE_DIR": cache, **env}
        subprocess.run([sys.executable, os.path.join(folder, "long.py"), out], env=env, check=True)
        with open(log) as f:
            said = f.read().splitlines()
        (entry,) = os.listdir(os.path.join(cache, "kernels"))
        self.assertEqual(sorted(os.listdir(os.path.join(cache, "kernels", entry))),
                         ["kernel.c", "kernel.so", "key.txt", "manifest"])
        return np.load(out), entry, [" -c " in line for line in said]

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            parts, key, several = self.run_long(folder, "parts")
            whole, same, one = self.run_long(folder, "whole", WHOLE="1")
            self.assertGreater(sum(several), 2)
            self.assertEqual(several.count(False), 1)  # that links them
            self.assertEqual(one, [False])
            self.assertEqual(key, same)
            np.testing.assert_allclose(parts, whole, rtol=1e-6, atol=1e-6)


globals().update(test_tensor.functions(Growth, Files))

if __name__ == "__main__":
    unittest.main()
