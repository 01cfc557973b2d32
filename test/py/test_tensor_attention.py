"""Derivatives of attention: the scores are computed again, tile by tile, and never stored."""

import re
import unittest

import numpy as np
from test_tensor import as_list, close, functions, simulated

import tilelang as tl


def weights(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def wanted(q, k, v, g, hidden=None, bias=0.0, cap=None):
    """Derivatives by q, k and v of sum(softmax(q k^T / sqrt(d) + bias) v g), by numpy in float64."""
    q, k, v, g = (x.astype("float64") for x in (q, k, v, g))
    times = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, times, 1), np.repeat(v, times, 1)
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    slope = 1.0
    if cap:
        slope = 1 - np.tanh(s / cap) ** 2
        s = cap * np.tanh(s / cap)
    s = s + bias
    s = s if hidden is None else np.where(hidden, -np.inf, s)
    w = weights(s)
    dw = g @ v.swapaxes(-1, -2)
    ds = w * (dw - (w * dw).sum(-1, keepdims=True)) * slope / q.shape[-1] ** 0.5
    dk, dv = ds.swapaxes(-1, -2) @ q, w.swapaxes(-1, -2) @ g
    own = lambda x: x.reshape(x.shape[0], -1, times, *x.shape[2:]).sum(2)  # noqa: E731
    return ds @ k, own(dk), own(dv)


def plain(q, k, v, g):
    return tl.sum(tl.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v * g)


def causal(q, k, v, g):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    s = tl.where(tl.iota(s, 2) >= tl.iota(s, 3), s, -tl.inf)
    return tl.sum(tl.softmax(s) @ v * g)


def window(q, k, v, g):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    i, j = tl.iota(s, 2), tl.iota(s, 3)
    s = tl.where((i >= j) & (i - j < 24), s, -tl.inf)
    return tl.sum(tl.softmax(s) @ v * g)


def biased(q, k, v, g, bias):
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5 + bias
    return tl.sum(tl.softmax(s) @ v * g)


def capped(q, k, v, g):
    s = tl.tanh(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5 / 2) * 2
    s = tl.where(tl.iota(s, 2) >= tl.iota(s, 3), s, -tl.inf)
    return tl.sum(tl.softmax(s) @ v * g)


def grouped(q, k, v, g):
    b, h, s, d = q.shape
    n = k.shape[1]
    p = tl.einsum("bgrqd,bgkd->bgrqk", q.reshape(b, n, h // n, s, d), k) / d**0.5
    o = tl.einsum("bgrqk,bgkd->bgrqd", tl.softmax(p), v)
    return tl.sum(o.reshape(b, h, s, d) * g)


class AttentionBack(unittest.TestCase):
    def check(self, f, want, q, k, v, *rest, dtype="float32", wrt=(0, 1, 2), kernels=2, sim=True):
        arrays = [a.astype(dtype) for a in (q, k, v, *rest)]
        program = tl.grad(tl.tensor_program(f, target="cpu"), wrt)
        tolerance = 3e-4 if dtype == "float32" else 2e-2
        for got in (program(*arrays), simulated(program, arrays) if sim else None):
            for x, y in zip(as_list(got) if got is not None else [], (want[i] for i in wrt)):
                close(x, y, tolerance)
        text = program.explain()
        self.assertEqual(text.count("derivatives of attention"), kernels, text)
        scores = r"t\d+ \((\d+, )*%d, %d\)" % (q.shape[2], k.shape[2])
        self.assertIsNone(re.search(scores, text), "scores are stored:\n" + text)
        return program

    def inputs(self, b, h, m, n, d, e=None, heads=None):
        rng = np.random.default_rng(3)
        normal = lambda *s: rng.standard_normal(s)  # noqa: E731
        e = e or d
        return normal(b, h, m, d), normal(b, heads or h, n, d), normal(b, heads or h, n, e), normal(b, h, m, e)

    def test_plain(self):
        for m, n, d, e in (64, 128, 32, 32), (50, 70, 16, 24), (128, 40, 64, 32):
            given = self.inputs(1, 2, m, n, d, e)
            self.check(plain, wanted(*given), *given)

    def test_causal(self):
        for s, d in (128, 32), (77, 16):
            given = self.inputs(1, 2, s, s, d)
            self.check(causal, wanted(*given, hidden=np.tri(s) == 0), *given)

    def test_window(self):
        given = self.inputs(1, 1, 96, 96, 16)
        far = np.subtract.outer(np.arange(96), np.arange(96))
        self.check(window, wanted(*given, hidden=(far < 0) | (far >= 24)), *given)

    def test_bias(self):
        rng = np.random.default_rng(4)
        for shape in (1, 2, 40, 72), (1, 1, 1, 72), (2, 1, 1):
            given, bias = self.inputs(1, 2, 40, 72, 16), rng.standard_normal(shape)
            self.check(biased, wanted(*given, bias=bias), *given, bias)

    def test_capped(self):
        given = self.inputs(1, 1, 64, 64, 16)
        self.check(capped, wanted(*given, hidden=np.tri(64) == 0, cap=2), *given)

    def test_grouped(self):
        given = self.inputs(2, 4, 48, 56, 16, heads=2)
        self.check(grouped, wanted(*given), *given)

    def test_one_of_them(self):
        given = self.inputs(1, 2, 64, 64, 16)
        for wrt in (0,), (1,), (0, 2):
            self.check(plain, wanted(*given), *given, wrt=wrt, kernels=1 if len(wrt) == 1 else 2, sim=False)

    def test_of_values_alone(self):
        """Scores are stored for sums of rows, and nothing else is."""
        given = [a.astype("float32") for a in self.inputs(1, 2, 64, 64, 16)]
        f = tl.grad(tl.tensor_program(causal, target="cpu"), 2)
        for got in f(*given), simulated(f, given):
            close(got, wanted(*given, hidden=np.tri(64) == 0)[2], 3e-4)

    def test_float16(self):
        given = [a.astype("float16") for a in self.inputs(1, 2, 128, 128, 64)]
        self.check(causal, wanted(*given, hidden=np.tri(128) == 0), *given, dtype="float16")
        given = [a.astype("float16") for a in self.inputs(1, 2, 100, 130, 64)]
        self.check(plain, wanted(*given), *given, dtype="float16")

    def test_wider_rows_than_a_block_keeps(self):
        given = self.inputs(1, 1, 40, 40, 272)
        want = wanted(*given)
        program = tl.grad(tl.tensor_program(plain, target="cpu"), (0, 1, 2))
        for x, y in zip(program(*(a.astype("float32") for a in given)), want):
            close(x, y, 3e-4)
        self.assertNotIn("derivatives of attention", program.explain())

    def test_weights_and_their_bias_wanted_too(self):
        """What reads scores for itself has them stored; derivatives stay right."""
        given, bias = self.inputs(1, 2, 24, 40, 16), np.random.default_rng(4).standard_normal((1, 2, 24, 40))
        arrays = [a.astype("float32") for a in (*given, bias)]
        got = tl.grad(tl.tensor_program(biased, target="cpu"), (0, 4))(*arrays)
        q, k, v, g = given
        w = weights(q @ k.swapaxes(-1, -2) / 4 + bias)
        dw = g @ v.swapaxes(-1, -2)
        ds = w * (dw - (w * dw).sum(-1, keepdims=True))
        close(got[0], ds @ k / 4, 3e-4)
        close(got[1], ds, 3e-4)


globals().update(functions(AttentionBack))
