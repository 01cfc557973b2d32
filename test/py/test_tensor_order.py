"""Sorting and the largest elements, held to numpy: lengths from 1 to 100,000, equal elements, NaN, infinities, both
zeros, every type, other axes; the CPU's kernels and those of a GPU, simulated."""

import unittest

import numpy as np
import test_tensor

import tilelang as tl

FLOATS = ("float32", "float16", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def ordered(x, descending=False):
    """Positions along the last axis, equal ones as they came; NaN is more than all numbers."""
    if not descending:
        return np.argsort(x, axis=-1, kind="stable")
    if x.dtype.kind == "f":
        value = np.where(np.isnan(x), np.inf, x).astype("float64")
        first = np.argsort(-value, axis=-1, kind="stable")
        nan = np.take_along_axis(np.isnan(x), first, -1)
        return np.take_along_axis(first, np.argsort(~nan, axis=-1, kind="stable"), -1)
    turned = x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")
    return turned[..., ::-1]


def row(rng, m, n, dtype):
    """Many elements are equal, and some are not numbers."""
    if np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, (m, n), dtype, endpoint=True)
        x[:, ::3] = rng.integers(0, 5, x[:, ::3].shape)
        x[:, n // 2:n // 2 + 1], x[:, -1:] = info.min, info.max
        return x
    x = rng.standard_normal((m, n)).astype(dtype)
    x[:, ::3] = np.round(x[:, ::3])
    if n > 6:
        at = rng.permutation(n)
        x[:, at[0]], x[0, at[1]], x[:, at[2]], x[0, at[3]], x[0, at[4]] = np.inf, -np.inf, np.nan, np.nan, -0.0
    return x


def same(got, want):
    np.testing.assert_array_equal(np.asarray(got).astype(np.asarray(want).dtype), want)


def everything(x):
    return tl.sort(x), tl.argsort(x), tl.sort(x, descending=True), tl.argsort(x, descending=True)


def hold(x, gpu=False):
    program = tl.tensor_program(everything)
    up, down = ordered(x), ordered(x, True)
    want = np.take_along_axis(x, up, -1), up, np.take_along_axis(x, down, -1), down
    for got in [program(x)] + ([test_tensor.simulated(program, [x])] if gpu else []):
        for g, w in zip(got, want):
            same(g, w)


def largest(x, k, gpu=False):
    program = tl.tensor_program(test_tensor.made("def f(x):\n    return tl.top_k(x, %d)\n" % k))
    at = ordered(x, True)[..., :k]
    for v, i in [program(x)] + ([test_tensor.simulated(program, [x])] if gpu else []):
        same(i, at)
        same(v, np.take_along_axis(x, at, -1))


class Order(unittest.TestCase):
    def test_lengths(self):
        rng = np.random.default_rng(5)
        for n in (1, 2, 3, 16, 17, 31, 100, 257, 1000):
            with self.subTest(n=n):
                hold(row(rng, 3, n, "float32"), gpu=n in (3, 17, 100))

    def test_long_rows(self):
        rng = np.random.default_rng(6)
        for m, n in (2, 4097), (1, 20000), (1, 100000):
            with self.subTest(n=n):
                hold(row(rng, m, n, "float32"))

    def test_runs_of_several_blocks(self):
        x = row(np.random.default_rng(7), 1, 2 * 2048 + 300, "float32")
        program = tl.tensor_program(test_tensor.made("def f(x):\n    return tl.argsort(x)\n"))
        same(test_tensor.simulated(program, [x]), ordered(x))

    def test_types(self):
        rng = np.random.default_rng(8)
        for dtype in FLOATS + INTEGERS:
            with self.subTest(dtype=dtype):
                hold(row(rng, 2, 70, dtype), gpu=dtype in ("float16", "float64", "uint32", "int64"))
                largest(row(rng, 2, 70, dtype), 3)

    def test_other_axes(self):
        def f(x):
            v, at = tl.top_k(x, 2, axis=0)
            return tl.sort(x, axis=0), tl.argsort(x, axis=1), v, at

        x = np.random.default_rng(9).integers(0, 9, (40, 37, 2)).astype("int32")
        down = np.moveaxis(ordered(np.moveaxis(x, 0, -1), True), -1, 0)[:2]
        got = tl.tensor_program(f)(x)
        same(got[0], np.sort(x, 0))
        same(got[1], np.argsort(x, 1, kind="stable"))
        same(got[2], np.take_along_axis(x, down, 0))
        same(got[3], down)

    def test_the_largest(self):
        rng = np.random.default_rng(10)
        for n, k in (1, 1), (5, 5), (64, 2), (300, 4), (300, 5), (5000, 3), (5000, 9), (3000, 100):
            with self.subTest(n=n, k=k):
                largest(row(rng, 2, n, "float32"), k, gpu=n * k < 700)
        largest(np.full((2, 40), -np.inf, "float32"), 3, gpu=True)
        largest(np.full((2, 40), np.nan, "float32"), 3, gpu=True)

    def test_rows_of_an_open_number_and_length(self):
        @tl.tensor_program(target="cpu", dynamic={"x": ("m", None)})
        def rows(x):
            return tl.argsort(x), tl.top_k(x, 6)[1]

        @tl.tensor_program(target="cpu", dynamic={"x": (None, "n")})
        def length(x):
            return tl.top_k(x, 3)[1], tl.top_k(x, 6)[1]

        rng = np.random.default_rng(11)
        for m in (1, 5):
            x = row(rng, m, 50, "float32")
            same(rows(x)[0], ordered(x))
            same(rows(x)[1], ordered(x, True)[:, :6])
        for n in (16, 50, 333):
            x = row(rng, 2, n, "float32")
            same(length(x)[0], ordered(x, True)[:, :3])
            same(length(x)[1], ordered(x, True)[:, :6])
        self.assertIn("'n' stays open", length.explain())

    def test_a_row_is_not_compared_with_itself(self):
        """Operators of a long row grow as n log n: a search of as many steps as the length has bits."""
        program = tl.tensor_program(test_tensor.made("def f(x):\n    return tl.argsort(x)\n"))
        source = program.tiles(np.zeros((1, 100000), "float32"))
        self.assertNotIn("100000, 100000", source)
        self.assertLess(source.count("\n"), 600)

    def test_derivatives(self):
        def f(x):
            return (tl.sort(x) * tl.arange(40)).sum() + (tl.top_k(x, 3)[0] * 0.5).sum()

        x = np.random.default_rng(12).standard_normal((2, 40)).astype("float32")
        want, at = np.zeros_like(x), ordered(x)
        np.put_along_axis(want, at, np.arange(40, dtype="float32") + np.where(np.arange(40) >= 37, 0.5, 0), 1)
        test_tensor.close(tl.grad(f)(x), want, 1e-5)


if __name__ == "__main__":
    unittest.main()
