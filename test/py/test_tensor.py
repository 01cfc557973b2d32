"""Tensor programs against numpy: every operator, on the CPU and, as kernels of a GPU, in the simulator."""

import linecache
import math
import os
import re
import time
import unittest
import warnings

import numpy as np

import tilelang as tl

rng = np.random.default_rng(17)
GPU = "sim -arch=sm_90a"


def normal(*shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


def simulated(program, arrays):
    """What the lowered kernels of a GPU give, thread by thread."""
    made = tl.tensor.TensorProgram(program._func, GPU, program._argnums, program._with_value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tl.SlowWarning)
        return made(*arrays)


def close(got, want, tolerance):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, (got.shape, want.shape)
    scale = 1 + np.abs(want[np.isfinite(want)].astype("float64")).max(initial=0)
    same = np.isclose(got.astype("float64"), want.astype("float64"), rtol=tolerance,
                      atol=tolerance * scale, equal_nan=True)
    assert same.all(), "%d of %d differ, the first by %g" % (
        (~same).sum(), same.size, np.abs(got.astype("float64") - want)[~same].flat[0])


def made(text):
    """The function f of a text."""
    file = "<program %d>" % len(linecache.cache)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"tl": tl}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def as_list(v):
    return list(v) if isinstance(v, (tuple, list)) else [v]


def check(fn, want, *arrays, tolerance=2e-5, gpu=True):
    program = tl.tensor_program(fn)
    wanted = as_list(want)
    for got in (program(*arrays), simulated(program, arrays) if gpu else None):
        if got is not None:
            assert len(as_list(got)) == len(wanted)
            for g, w in zip(as_list(got), wanted):
                close(g, w, tolerance)
    return program


def functions(*cases):
    """The tests of some cases as functions, which is what run.py takes."""
    found = {}
    for case in cases:
        for name in dir(case):
            if name.startswith("test_"):
                found["test_%s_%s" % (case.__name__, name[5:])] = case(name).debug
    return found


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def nan_wins(x, y):
    return tl.maximum(x, y), tl.minimum(y, x), tl.max(x, axis=1), tl.min(x, axis=0), tl.max(x), tl.relu(x), abs(x)


def mixed(a, b, c, d):
    return a + b, c * d, b - c, tl.argmax(a * 1.0, axis=1), a // 3


def first_nan(x):
    return tl.argmax(x, axis=1), tl.argmin(x, axis=1), tl.sign(x)


def leaves(x):
    return x, tl.iota(x, 1), 3.0, tl.full((2,), 5.0), tl.iota(x, 1)


def truths(b, x):
    return ~b, b & (x > 0), tl.where(b, x, -x), tl.sum(b), tl.any(b, axis=1), tl.astype(b, "int32")


class Edges(unittest.TestCase):
    def test_truths_come_in(self):
        x = normal(4, 9)
        b = x < 0.3
        check(truths, (~b, b & (x > 0), np.where(b, x, -x), b.sum(), b.any(1), b.astype("int32")), b, x)

    def test_nan_wins(self):
        x, y = normal(5, 70), normal(5, 70)
        x[1, 3] = x[4, 69] = y[2, 2] = np.nan
        want = (np.maximum(x, y), np.minimum(y, x), np.max(x, 1), np.min(x, 0), np.max(x), np.maximum(x, 0), np.abs(x))
        check(nan_wins, want, x, y)

    def test_the_first_nan(self):
        x = np.array([[1, 3, 3, 0, 0], [2, np.nan, 1, np.nan, 4]], "float32")
        check(first_nan, (x.argmax(1), x.argmin(1), np.sign(x)), x)

    def test_signed_and_unsigned_together(self):
        a = rng.integers(-100, 100, (3, 5))
        arrays = a.astype("int8"), abs(a).astype("uint8"), a.astype("int16"), abs(a * 1000).astype("uint32")
        want = (arrays[0] + arrays[1], arrays[2] * arrays[3], arrays[1] - arrays[2], a.argmax(1), arrays[0] // 3)
        check(mixed, want, *arrays)

    def test_temporaries_share_memory(self):
        def f(x, w):
            for _ in range(6):
                x = tl.tanh(x @ w)
            return x

        x, w = normal(20, 16), normal(16, 16) / 4
        y = x
        for _ in range(6):
            y = np.tanh(y @ w)
        p = check(f, y, x, w, tolerance=1e-4)
        self.assertEqual((p.tiles().count("T.alloc_global"), p.tiles().count("T.reshape")), (2, 3))

    def test_results_where_they_are_said_to_go(self):
        def f(x):
            return tl.tanh(x) * 2 + x

        def g(x, y):
            return y.T + x[::-1], tl.sum(x, axis=0)

        x = normal(33, 65)
        want, y, f, g = np.tanh(x) * 2 + x, np.empty_like(x), tl.tensor_program(f), tl.tensor_program(g)
        self.assertIs(f(x, out=y), y)
        close(y, want, 1e-5)
        f(x, out=x)
        close(x, want, 1e-5)
        a, s = normal(20, 20), np.zeros(20, "float32")
        want = a.T + a[::-1], a.sum(0)
        g(a, a, out=(a, s))
        close(a, want[0], 1e-5)
        close(s, want[1], 1e-5)
        with self.assertRaisesRegex(ValueError, "gives 1 tensors, but out has 2"):
            f(x, out=(x, y))
        with self.assertRaisesRegex(ValueError, "must be contiguous"):
            f(x, out=x.T)

    def test_large_results_at_any_address(self):
        """Stored past the caches in whole lines (from a quarter of the last cache on), wherever those begin."""
        import math

        def f(x, r):
            y = x + r
            return y, tl.erf(y) * 0.5, tl.rms_norm(y), tl.where(y > 0, y, tl.sin(y))

        def g(x):
            return tl.exp(x), tl.exp(x).sum(axis=-1)

        def aligned(shape, by):
            n = math.prod(shape)
            memory = np.full(n + 64, 7, "float32")
            first = (-memory.ctypes.data % 64 // 4 + by) % 16 + 16
            return memory, memory[first:first + n].reshape(shape)

        f, g = tl.tensor_program(f), tl.tensor_program(g)
        for program, shape, results in (f, (1031, 2101), 4), (g, (135001, 16), 2):
            x = [np.random.default_rng(3).standard_normal(shape, "float32") for _ in range(results // 2)]
            y = sum(x)
            want = [y, None, y / np.sqrt((y * y).mean(-1, keepdims=True) + 1e-6), np.where(y > 0, y, np.sin(y))]
            want = want if results == 4 else [np.exp(y), np.exp(y).sum(-1)]
            for by in (0, 7):
                out = [aligned(np.shape(y) if w is None else w.shape, by + k) for k, w in enumerate(want)]
                program(*x, out=tuple(o for _, o in out))
                for (memory, o), w in zip(out, want):
                    self.assertEqual((memory == 7).sum(), 64)
                    if w is not None:
                        close(o, w, 2e-5)
            if results == 4:
                close(out[1][1][5, :200], [0.5 * math.erf(v) for v in y[5, :200]], 2e-5)

    def test_no_elements(self):
        def f(x):
            return x * 2, x @ x.T, tl.softmax(x)

        check(f, (np.ones((0, 3)), np.ones((0, 0)), np.ones((0, 3))), np.ones((0, 3), "float32"))

    def test_what_no_kernel_computes(self):
        x = normal(3, 4)
        at = np.broadcast_to(np.arange(4), (3, 4))
        check(leaves, (x, at, np.float32(3), np.full(2, 5.0), at), x)


class Elements(unittest.TestCase):
    def test_arithmetic_with_broadcasting(self):
        def f(x, y, z):
            a = (x + y) * z - x / (1 + y * y)
            return a, -a ** 2, a // 1.5, a % 1.5, 2.0 ** x, abs_of(a)

        def abs_of(v):
            return tl.abs(v)

        x, y, z = normal(5, 1, 7), normal(3, 1), normal(7)
        a = (x + y) * z - x / (1 + y * y)
        check(f, (a, -(a**2), a // 1.5, a % 1.5, 2.0**x, abs(a)), x, y, z)

    def test_sines_of_any_size(self):
        def f(x):
            return tl.sin(x), tl.cos(x)

        x = np.concatenate([normal(100) * s for s in (1e-5, 1, 100, 4000, 1e6, 1e30)]).astype("float32")
        check(f, (np.sin(x.astype("float64")), np.cos(x.astype("float64"))), x, tolerance=3e-7)
        f = tl.tensor_program(f, target="cpu")
        s, c = f(np.array([np.inf, -np.inf, np.nan, 0.0, -0.0] * 5, "float32"))
        self.assertTrue(np.isnan(s[:3]).all() and np.isnan(c[:3]).all() and np.signbit(s[4]) and not np.signbit(s[3]))
        self.assertTrue((c[3:5] == 1).all())

    def test_functions_to_two_units_in_the_last_place(self):
        def f(x):
            return tl.log(x), tl.log1p(x), tl.tanh(x), tl.erf(x), tl.exp(x), tl.where(x > 0.5, tl.sin(x), tl.cos(-x))

        x = np.concatenate([abs(normal(1000)) * s for s in (1e-40, 1e-5, 0.1, 1, 10, 4000, 1e30)]).astype("float32")
        y = x.astype("float64")
        with np.errstate(all="ignore"):
            want = (np.log(y), np.log1p(y), np.tanh(y), np.vectorize(math.erf)(y), np.exp(y),
                    np.where(y > 0.5, np.sin(y), np.cos(y)))
            for got, w in zip(tl.tensor_program(f, target="cpu")(x), want):
                ok = np.isfinite(w.astype("float32"))
                self.assertTrue((np.isfinite(got) == ok).all())
                self.assertLess((abs(got - w) / np.spacing(abs(w.astype("float32"))))[ok].max(), 2)

    def test_functions(self):
        x = normal(33, 9)
        def f(x):
            p = tl.abs(x) + 0.5
            return (tl.exp(x), tl.exp2(x), tl.sin(x), tl.cos(x), tl.tanh(x), tl.arctan(x), tl.floor(x),
                    tl.ceil(x), tl.trunc(x), tl.round(x), tl.sinh(x), tl.cosh(x), tl.sign(x), tl.log(p),
                    tl.log2(p), tl.log1p(p), tl.sqrt(p), tl.rsqrt(p), tl.sigmoid(x), tl.power(p, x))

        p = np.abs(x) + np.float32(0.5)
        want = [getattr(np, n)(x) for n in "exp exp2 sin cos tanh arctan floor ceil trunc round sinh cosh sign".split()]
        want += [np.log(p), np.log2(p), np.log1p(p), np.sqrt(p), 1 / np.sqrt(p), 1 / (1 + np.exp(-x)), p**x]
        check(f, want, x)

    def test_comparisons_where_and_integers(self):
        def f(x, i):
            m = (x > 0) & (i < 50) | ~(x >= -1)
            return tl.where(m, x, -x), m, i // 7, i % 7, (i << 2) ^ 3, i & 12, tl.maximum(x, 0.5), \
                tl.clip(x, -1, 1), x == x, i / 2

        x, i = normal(40), rng.integers(-100, 100, 40).astype("int32")
        m = (x > 0) & (i < 50) | ~(x >= -1)
        check(f, (np.where(m, x, -x), m, i // 7, i % 7, (i << 2) ^ 3, i & 12, np.maximum(x, np.float32(0.5)),
                  x.clip(-1, 1), x == x, (i / 2).astype("f")), x, i)

    def test_iota_casts_and_new_tensors(self):
        def f(x):
            return (tl.iota(x, 1) * 10 + tl.iota(x, 0), tl.arange(3, 20, 4), tl.zeros((2, 3)) + 1.5,
                    x.astype("float16"), (x * 10).astype("int32"), tl.full((4,), 7, "int32"), x.astype("float16") * 2,
                    tl.ones_like(x))

        x = normal(6, 5)
        i = np.arange(5) * 10 + np.arange(6)[:, None]
        check(f, (i, np.arange(3, 20, 4), np.full((2, 3), 1.5), x.astype("e"), (x * 10).astype("i"), np.full(4, 7),
                  x.astype("e") * np.float16(2), np.ones_like(x)), x, tolerance=1e-3)

    def test_activations(self):
        import math

        def f(x):
            return tl.relu(x), tl.gelu(x), tl.silu(x), tl.softplus(x)

        x = normal(70)
        erf = np.vectorize(math.erf)
        check(f, (np.maximum(x, 0), x * 0.5 * (1 + erf(x / math.sqrt(2))), x / (1 + np.exp(-x)),
                  np.log1p(np.exp(x))), x)


class Reductions(unittest.TestCase):
    def test_axes_and_kinds(self):
        def f(x):
            return (x.sum(), x.sum(axis=0), x.sum(axis=1, keepdims=True), x.max(axis=(0, 2)), x.min(axis=-1),
                    tl.mean(x, axis=1), x.var(axis=2), x.std(axis=0), tl.prod(x, axis=1), tl.logsumexp(x, axis=1))

        x = normal(6, 5, 37)
        check(f, (x.sum(), x.sum(0), x.sum(1, keepdims=True), x.max((0, 2)), x.min(-1), x.mean(1), x.var(2), x.std(0),
                  x.prod(1), np.log(np.exp(x).sum(1))), x)

    def test_long_rows_and_columns(self):
        def f(x, y):
            return x.sum(axis=1), tl.softmax(x, axis=1), y.sum(axis=0), y.max(axis=0)

        x, y = normal(3, 9001), normal(1000, 70)
        check(f, (x.sum(1), softmax(x, 1), y.sum(0), y.max(0)), x, y, tolerance=1e-4)

    def test_few_long_rows_are_reduced_in_parts(self):
        def f(x):
            return x.sum(), tl.max(x, axis=1), tl.argmax(x, axis=1), tl.top_k(x, 5)

        x = np.round(normal(2, 40000) * 8)
        at = np.argsort(-x, 1, kind="stable")[:, :5]
        want = (x.sum(), x.max(1), x.argmax(1), np.take_along_axis(x, at, 1), at)
        p = check(f, want, x, gpu=False)
        self.assertNotIn("T.Kernel(1, threads=1)", p.tiles().split("T.Kernel", 2)[1])

    def test_a_result_between_two_norms_is_no_border(self):
        def f(x, r, w):
            y = x + tl.layer_norm(r, w, w)
            return y, tl.layer_norm(y, w, w) * 2

        def norm(x, w):
            m, d = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
            return (x - m) / np.sqrt(d + 1e-5) * w + w

        x, r, w = normal(20, 70), normal(20, 70), normal(70)
        y = x + norm(r.astype("float64"), w)
        check(f, (y, norm(y, w) * 2), x, r, w, tolerance=1e-4)
        self.assertEqual(tl.tensor_program(f, target="cpu").tiles(x, r, w).count("T.Kernel("), 1)

    def test_arguments_and_truths(self):
        def f(x, i):
            return x.argmax(axis=1), x.argmin(axis=0), tl.argmax(x), (x > 2).any(axis=0), (x > -2).all(axis=1), i.sum(axis=0)

        x, i = normal(20, 30), rng.integers(-9, 9, (20, 3)).astype("int32")
        check(f, (x.argmax(1), x.argmin(0), x.argmax(), (x > 2).any(0), (x > -2).all(1), i.sum(0)), x, i)

    def test_softmax_and_norms_are_one_kernel(self):
        def f(x, w, b):
            return tl.softmax(x), tl.log_softmax(x), tl.layer_norm(x, w, b), tl.rms_norm(x, w), tl.softmax(x, axis=0)

        x, w, b = normal(65, 50), normal(50), normal(50)
        m = x - x.mean(-1, keepdims=True)
        check(f, (softmax(x), np.log(softmax(x)), m / np.sqrt((m * m).mean(-1, keepdims=True) + 1e-5) * w + b,
                  x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w, softmax(x, 0)), x, w, b)

        def one(x):
            return tl.softmax(x * 2) + 1

        def two(x):
            return tl.layer_norm(x)

        for g in (one, two):
            self.assertIn("in all: 1 kernel,", tl.tensor_program(g).explain(x))

    def test_running_sums(self):
        def f(x, y):
            return x.cumsum(axis=1), tl.cumsum(x, axis=0), tl.cumsum(x, axis=1, reverse=True), tl.cumsum(y)

        x, y = normal(9, 70), normal(2, 9000)
        check(f, (x.cumsum(1), x.cumsum(0), x[:, ::-1].cumsum(1)[:, ::-1], y.cumsum(1)), x, y, tolerance=1e-4)


class Products(unittest.TestCase):
    def test_matmul_with_prologue_and_epilogue(self):
        def f(x, w, b):
            return tl.relu((x * 2) @ w + b) * 0.5, x.T @ x, x @ w[:, 0], w.T @ x[1]

        x, w, b = normal(33, 40), normal(40, 21), normal(21)
        check(f, (np.maximum(2 * x @ w + b, 0) * 0.5, x.T @ x, x @ w[:, 0], w.T @ x[1]), x, w, b, tolerance=1e-4)

        @tl.tensor_program
        def g(x, w, b):
            return tl.relu(x @ w + b)

        self.assertIn("in all: 1 kernel,", g.explain(x, w, b))

    def test_an_index_that_stands_twice(self):
        def f(a, b, c):
            return (tl.einsum("ii->i", a), tl.einsum("ii", a), tl.einsum("iji,jk->ik", b, c),
                    tl.einsum("ijj,ik->k", tl.swapaxes(b, 0, 1), c))

        a, b, c = normal(9, 9), normal(5, 8, 5), normal(8, 6)
        check(f, (np.einsum("ii->i", a), np.einsum("ii", a), np.einsum("iji,jk->ik", b, c),
                  np.einsum("jii,jk->k", b.swapaxes(0, 1), c)), a, b, c, tolerance=1e-4)

    def test_computed_operands_at_the_edges_of_tiles(self):
        def f(x, q, s):
            return tl.relu(x @ ((q.astype("float32") - 3) * s))

        for m, k, n in (16, 1000, 4096), (5, 33, 700), (100, 777, 301):
            x, q, s = normal(m, k), rng.integers(-127, 127, (k, n)).astype("int8"), normal(n) / 100
            want = np.maximum(x.astype("float64") @ ((q.astype("float64") - 3) * s), 0)
            got = tl.tensor_program(f, target="cpu")(x, q, s)
            close(got, want, 1e-4 * np.sqrt(k))

    def test_batches_and_einsum(self):
        def f(q, k, w):
            return q @ k.swapaxes(-1, -2), tl.einsum("bhqd,bhkd->bhqk", q, k), tl.einsum("bhqd,de->bqhe", q, w), \
                tl.einsum("bhqd->hb", q), q @ w

        q, k, w = normal(2, 3, 10, 16), normal(2, 3, 12, 16), normal(16, 8)
        qk = q @ k.swapaxes(-1, -2)
        check(f, (qk, qk, np.einsum("bhqd,de->bqhe", q, w), np.einsum("bhqd->hb", q), q @ w), q, k, w, tolerance=1e-4)

    def test_halves(self):
        def f(x, w):
            return tl.silu(x @ w)

        x, w = normal(64, 64, dtype="float16"), normal(64, 32, dtype="float16")
        y = x.astype("f") @ w.astype("f")
        check(f, y / (1 + np.exp(-y)), x, w, tolerance=4e-3)


class Calls(unittest.TestCase):
    def test_a_call_like_one_before_asks_for_nothing(self):
        @tl.tensor_program(target="cpu")
        def f(x, y):
            return x * 2 + y

        from tilelang import _target

        a, b = normal(3, 4), normal(4)
        self.assertTrue((f(a, b) == a * 2 + b).all())
        self.assertTrue((f(a, b) == a * 2 + b).all())
        ask, _target.determine_target = _target.determine_target, None
        try:
            self.assertTrue((f(a, b) == a * 2 + b).all())
        finally:
            _target.determine_target = ask
        self.assertTrue((f(b, a) == b * 2 + a).all())
        self.assertTrue((f(a.T.copy().T, b) == a * 2 + b).all())
        self.assertTrue((f(a, 3) == a * 2 + 3).all())
        self.assertTrue((f(a.astype("int32"), b) == (a.astype("int32") * 2).astype("float32") + b).all())
        self.assertIn('x: T.Tensor((3, 4), "int32")', f.tiles())
        self.assertTrue((f(y=b, x=a) == a * 2 + b).all())

    def test_the_default_target(self):
        """TILELANG_DEFAULT_TARGET holds where no target is said, in later calls too."""
        fn = made("def f(x):\n    return x + 1\n")
        x, was = normal(5), os.environ.pop("TILELANG_DEFAULT_TARGET", None)
        plain, said = tl.tensor_program(fn), tl.tensor_program(fn, target="cpu")
        try:
            for target, fails in ((None, False), ("no_such", True), (GPU, False), ("no_such", True)):
                os.environ.pop("TILELANG_DEFAULT_TARGET", None)
                if target:
                    os.environ["TILELANG_DEFAULT_TARGET"] = target
                close(said(x), x + 1, 1e-6)
                if fails:
                    self.assertRaises((ValueError, tl.TileLangError), plain, x)
                else:
                    close(plain(x), x + 1, 1e-6)
        finally:
            os.environ.pop("TILELANG_DEFAULT_TARGET", None)
            if was:
                os.environ["TILELANG_DEFAULT_TARGET"] = was

    def test_dots_in_a_function_that_is_called(self):
        def half(x):
            return x[..., : x.shape[-1] // 2] + x[..., 0][..., None]

        @tl.tensor_program(target="cpu")
        def whole(x):
            return half(x)

        x = normal(3, 6)
        self.assertTrue(np.allclose(whole(x), x[:, :3] + x[:, :1]))


class Layout(unittest.TestCase):
    def test_changes_of_layout(self):
        def f(x):
            return (x.reshape(6, 20), x.transpose(2, 0, 1), x[1], x[:, ::2, 1:4], x[..., -1], x[:, None], tl.flip(x, 1),
                    tl.pad(x, ((1, 0), (0, 2), (3, 1)), 9), tl.concatenate([x, x * 2], 1), tl.stack([x, -x], 0),
                    tl.roll(x, 2, 2), tl.split(x, 2, 1)[1], x.reshape(2, 3, 4, 5).transpose(0, 2, 1, 3).reshape(8, 15),
                    tl.broadcast_to(x[0], (4, 4, 5)), tl.squeeze(x[:1]), tl.pad(tl.exp(x), 1))

        x = normal(6, 4, 5)
        p = np.pad(x, ((1, 0), (0, 2), (3, 1)), constant_values=9)
        check(f, (x.reshape(6, 20), x.transpose(2, 0, 1), x[1], x[:, ::2, 1:4], x[..., -1], x[:, None], x[:, ::-1], p,
                  np.concatenate([x, x * 2], 1), np.stack([x, -x]), np.roll(x, 2, 2), x[:, 2:],
                  x.reshape(2, 3, 4, 5).transpose(0, 2, 1, 3).reshape(8, 15), np.broadcast_to(x[0], (4, 4, 5)), x[0],
                  np.pad(np.exp(x), 1)), x)

    def test_positions(self):
        def f(x, i, j):
            return x[i], tl.take(x, i, axis=1), x[i, j], x[:, i], tl.take_along_axis(x, j[None] + tl.zeros((9, 1), "int32"), 1), \
                tl.one_hot(i, 9), tl.scatter_add(x, i, tl.ones((6, 8))), tl.scatter(x, i[:1], 0.0)

        x, i, j = normal(9, 8), np.array([3, -1, 0, 7, 3, 2], "i"), np.array([1, 0, 7, -2, 5, 5], "i")
        added, put = x.copy(), x.copy()
        np.add.at(added, i, 1)
        put[3] = 0
        check(f, (x[i], x[:, i], x[i, j], x[:, i], np.take_along_axis(x, np.tile(j % 8, (9, 1)), 1),
                  (i[:, None] == np.arange(9)).astype("f"), added, put), x, i, j)

    def test_order(self):
        def f(x):
            v, at = tl.top_k(x, 3)
            return tl.sort(x), tl.argsort(x, axis=0), v, at, tl.sort(x, descending=True)

        x = normal(4, 30)
        down = np.argsort(-x, axis=1, kind="stable")
        check(f, (np.sort(x), np.argsort(x, 0, kind="stable"), np.take_along_axis(x, down[:, :3], 1), down[:, :3],
                  -np.sort(-x)), x)


class Short(unittest.TestCase):
    def test_conditions_around_short_rows(self):
        """GCC 12 mixed up the conditions of neighbours where a loop of two or three was written out."""
        def f(x):
            y = tl.pad(x, ((10, 23), (0, 0)))
            return y, tl.exp(y), tl.concatenate([x, x * 0.5], 0), tl.tanh(tl.concatenate([x, x * 0.5], 0))

        for n in (2, 3, 5):
            x = normal(33, n)
            y, z = np.pad(x, ((10, 23), (0, 0))), np.concatenate([x, x * 0.5])
            check(f, (y, np.exp(y), z, np.tanh(z)), x, gpu=False)
            for k, want in enumerate((y, np.exp(y), z, np.tanh(z))):  # each in a kernel of its own
                check(made("def f(x):\n    y = tl.pad(x, ((10, 23), (0, 0)))\n    z = tl.concatenate([x, x * 0.5], 0)\n"
                           "    return (y, tl.exp(y), z, tl.tanh(z))[%d]\n" % k), want, x, gpu=False)


class Others(unittest.TestCase):
    def test_convolution_and_pools(self):
        def f(x, w, d):
            return tl.conv(x, w, padding=1), tl.conv(x, w, stride=2), tl.conv(x, d, groups=4, padding=(1, 1)), \
                tl.max_pool(x, (2, 2)), tl.avg_pool(x, (3, 3), stride=1)

        x, w, d = normal(2, 4, 9, 8), normal(6, 4, 3, 3), normal(4, 1, 3, 3)

        def conv(x, w, s=1, p=0):
            x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
            v = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::s, ::s]
            return np.einsum("ncxyij,ocij->noxy", v, w)

        deep = np.concatenate([conv(x[:, c:c + 1], d[c:c + 1], 1, 1) for c in range(4)], 1)
        v = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3)).mean((-1, -2))
        check(f, (conv(x, w, 1, 1), conv(x, w, 2), deep, x[:, :, :8].reshape(2, 4, 4, 2, 4, 2).max((3, 5)), v), x, w, d,
              tolerance=1e-4)

    def test_random_numbers(self):
        def f(seed):
            return tl.random_bits((4, 5), seed), tl.random_uniform((1000,), seed), tl.random_normal((1000,), seed)

        def philox(n, key):
            x, y = np.arange(n, dtype="uint64"), np.zeros(n, "uint64")
            for _ in range(10):
                p = x * np.uint64(0xD256D193)
                x, y = (p >> np.uint64(32)) ^ np.uint64(key) ^ y, p & np.uint64(0xFFFFFFFF)
                key = (key + 0x9E3779B9) & 0xFFFFFFFF
            return x.astype("uint32")

        seed = np.array(42, "uint32")
        bits, uniform, gauss = tl.tensor_program(f)(seed)
        np.testing.assert_array_equal(bits, philox(20, 42).reshape(4, 5))
        np.testing.assert_array_equal(uniform, (philox(1000, 42) >> 8).astype("f") / np.float32(1 << 24))
        self.assertLess(abs(gauss.mean()), 0.15)
        self.assertLess(abs(gauss.std() - 1), 0.1)

    def test_quantised_numbers(self):
        def f(x):
            q, s = tl.quantize_tensor(x, "int8", axis=1)
            return q, s, tl.dequantize_tensor(q, s)

        x = normal(8, 40)
        s = np.abs(x).max(1, keepdims=True) / np.float32(127)
        q, scale, back = tl.tensor_program(f)(x)
        close(scale, s, 1e-6)
        self.assertLess(np.abs(back - x).max(), s.max() * 0.51)
        self.assertEqual(q.dtype, np.int8)


class Attention(unittest.TestCase):
    """Scores are never stored, whatever is done to them; found by what is computed."""

    def one(self, fn, scores, **keys):
        q, k, v = normal(2, 3, 70, 32), normal(2, 3, 50, 32), normal(2, 3, 50, 16)
        s = np.einsum("bhqd,bhkd->bhqk", q, k)
        program = check(fn, softmax(scores(s, np.arange(70)[:, None], np.arange(50))) @ v, q, k, v, tolerance=1e-4)
        self.assertIn("online softmax", program.explain())
        self.assertIn("in all: 1 kernel,", program.explain())

    def test_plain(self):
        def f(q, k, v):
            return tl.softmax(tl.einsum("bhqd,bhkd->bhqk", q, k) * 0.2) @ v

        self.one(f, lambda s, i, j: s * 0.2)

    def test_causal_with_a_window(self):
        def f(q, k, v):
            s = q @ k.swapaxes(-1, -2) / 32 ** 0.5
            i, j = tl.iota(s, 2), tl.iota(s, 3)
            return tl.softmax(tl.where((i >= j) & (i - j < 40), s, -tl.inf)) @ v

        self.one(f, lambda s, i, j: np.where((i >= j) & (i - j < 40), s / 32**0.5, -1e30))

    def test_soft_cap_and_slopes(self):
        def f(q, k, v):
            s = tl.tanh(q @ k.swapaxes(-1, -2) / 30) * 20
            return tl.softmax(s - tl.abs(tl.iota(s, 2) - tl.iota(s, 3)) * 0.1) @ v

        self.one(f, lambda s, i, j: np.tanh(s / 30) * 20 - abs(i - j) * 0.1)

    def test_tiles_that_a_mask_hides_are_not_computed(self):
        masks = {
            "i >= j": lambda i, j: i >= j,
            "j <= i + 20": lambda i, j: j <= i + 20,
            "(i > j - 3) & (i - j < 50)": lambda i, j: (i > j - 3) & (i - j < 50),
            "(j >= 64) & ~(j > i + 100)": lambda i, j: (j >= 64) & ~(j > i + 100),
            "(i - 70 <= j) & (x > 0)": lambda i, j: (i - 70 <= j) & (np.arange(150) % 7 > 0),
            "i + j < 160": lambda i, j: i + j < 160,
        }
        q, k, v = normal(130, 16), normal(150, 16), normal(150, 8)
        x = (np.arange(150) % 7).astype("int32")
        i, j = np.arange(130)[:, None], np.arange(150)
        for n, (text, seen) in enumerate(masks.items()):
            hide = "tl.where(~(%s), -tl.inf, s)" if n % 2 else "tl.where(%s, s, -tl.inf)"
            fn = made("def f(q, k, v, x):\n    s = q @ k.T\n    i, j = tl.iota(s, 0), tl.iota(s, 1)\n"
                      "    return tl.softmax(%s) @ v\n" % (hide % text))
            program = check(fn, softmax(np.where(seen(i, j), q @ k.T, -1e30)) @ v, q, k, v, x, tolerance=1e-4, gpu=n == 2)
            loop = [s for s in program.tiles().splitlines() if "T.Pipelined" in s]
            self.assertIn("bx" if "i" in text else "1, ", loop[0], text)

    def test_names_of_the_text_and_of_the_program_are_apart(self):
        def f(Q, K, V, scale, total):
            return tl.softmax(Q @ K.T * tl.sum(scale)) @ V + total

        q, k, v, total = normal(20, 16), normal(30, 16), normal(30, 8), normal(8)
        check(f, softmax(q @ k.T * 0.5) @ v + total, q, k, v, np.full(5, 0.1, "float32"), total, tolerance=1e-4)

    def test_wider_weights_than_scores(self):
        def f(q, k, v, bias):
            return tl.softmax(q @ k.swapaxes(-1, -2) + bias) @ v

        q, k, v = (normal(1, 160, 128, dtype="float16") for _ in range(3))
        bias = normal(160, 160)
        want = softmax(q.astype("d") @ k.swapaxes(-1, -2).astype("d") + bias) @ v.astype("d")
        check(f, want, q, k, v, bias, tolerance=2e-3, gpu=False)
        tiles = tl.tensor.TensorProgram(f, GPU).tiles(q, k, v, bias)
        self.assertIn('T.gemm(P, V, acc, precision="float32"', tiles)

    def test_scores_that_others_read_are_stored(self):
        def f(q, k, v):
            s = q @ k.T / 4
            return tl.softmax(s) @ v, tl.min(s, -1), tl.sum(tl.tanh(s), 0), tl.argmax(s, -1)

        q, k, v = normal(20, 16), normal(70, 16), normal(70, 16)
        s = q @ k.T / 4
        check(f, (softmax(s) @ v, s.min(-1), np.tanh(s).sum(0), s.argmax(-1)), q, k, v, tolerance=1e-4)

    def test_stored_scores_are_not_hidden(self):
        def f(q, k, v):
            s = q @ k.T
            return s, tl.softmax(s) @ v

        q, k, v = normal(20, 16), normal(30, 16), normal(30, 8)
        check(f, (q @ k.T, softmax(q @ k.T) @ v), q, k, v, tolerance=1e-4)


class Images(unittest.TestCase):
    """Windows on a CPU: borders are stored, tiles are rows of an image."""

    def seen(self, x, size):
        return np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (size, size), (2, 3))

    def test_products_of_windows(self):
        def f(x, w, b):
            return tl.relu(tl.conv(x, w, padding=1) + b[:, None, None])

        for shape in (2, 8, 32, 48), (1, 3, 67, 90), (3, 5, 40, 24):
            x, w, b = normal(*shape), normal(12, shape[1], 3, 3), normal(12)
            want = np.maximum(np.einsum("ncxyij,ocij->noxy", self.seen(x, 3), w) + b[:, None, None], 0)
            program = check(f, want, x, w, b, tolerance=1e-4, gpu=False)
        self.assertIn("l in T.Parallel", program.tiles())

    def test_long_sums_of_windows_are_written_out(self):
        def f(x, w):
            return tl.conv(x, w, padding=3, groups=4)

        def g(x, w):
            y = f(x, w).transpose(0, 2, 3, 1)
            return y - tl.mean(y, axis=-1, keepdims=True)

        x, w = normal(2, 4, 20, 21), normal(4, 1, 7, 7)
        seen = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (3, 3), (3, 3))), (7, 7), (2, 3))
        y = np.einsum("ncxyij,cij->ncxy", seen, w[:, 0].astype("float64"))
        check(f, y, x, w, tolerance=1e-4)
        y = y.transpose(0, 2, 3, 1)
        check(g, y - y.mean(-1, keepdims=True), x, w, tolerance=1e-4)
        program = tl.tensor_program(g, target="cpu")
        self.assertNotIn("reduce_sum(p0, s0, dim=1)\n        for r", program.tiles(x, w))
        self.assertEqual(program.tiles(x, w).count("T.Kernel("), 2)

    def test_sums_of_windows(self):
        def f(x, w):
            return tl.silu(tl.conv(x, w, padding=1, groups=x.shape[1])), tl.max_pool(x, (3, 3), stride=(1, 1), padding=(1, 1))

        x, w = normal(2, 6, 40, 37), normal(6, 1, 3, 3)
        y = np.einsum("ncxyij,cij->ncxy", self.seen(x, 3), w[:, 0])
        low = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
        most = np.lib.stride_tricks.sliding_window_view(low, (3, 3), (2, 3)).max((4, 5))
        check(f, (y / (1 + np.exp(-y)), most), x, w, tolerance=1e-4, gpu=False)

    def test_rows_by_number(self):
        def f(i, table, w):
            return tl.sum(tl.take(table, i, axis=0) * w, axis=-1), table[i] + w

        i, table, w = rng.integers(-300, 300, (4, 33)).astype("int32"), normal(300, 70), normal(70)
        check(f, ((table[i] * w).sum(-1), table[i] + w), i, table, w, tolerance=1e-4)


class Gpu(unittest.TestCase):
    """What is made otherwise for a GPU, in the simulator."""

    def tiles(self, fn, *arrays):
        return tl.tensor.TensorProgram(fn, GPU).tiles(*arrays)

    def test_a_gate_and_what_it_lets_through_are_one_kernel(self):
        def f(x, a, b):
            return tl.silu(x @ a) * (x @ b * 2.0)

        def both(x, a, b):
            y = x @ b
            return tl.silu(x @ a) * y, y

        def crossed(x, a, b):
            return (x @ a) * (x @ b).T

        x, a, b = normal(70, 40), normal(40, 70), normal(40, 70)
        p, q = x @ a, x @ b
        gate = p / (1 + np.exp(-p))
        check(f, gate * q * 2, x, a, b, tolerance=1e-4)
        check(both, (gate * q, q), x, a, b, tolerance=1e-4)
        check(crossed, p * q.T, x, a, b, tolerance=1e-4)
        kernels = [self.tiles(fn, x, a, b).count("T.Kernel(") for fn in (f, both, crossed)]
        self.assertEqual(kernels, [1, 2, 2])

    def test_axes_of_an_image_are_stored_as_one(self):
        def f(x, w, b):
            return tl.relu(tl.conv(x, w) + b[:, None, None])

        x, w, b = normal(3, 5, 8, 9), normal(6, 5, 2, 3), normal(6)
        seen = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (2, 3))
        check(f, np.maximum(np.einsum("ncxyij,ocij->noxy", seen, w) + b[:, None, None], 0), x, w, b, tolerance=1e-4)
        self.assertIn("% 49] = ", self.tiles(f, x, w, b))

    def test_a_product_that_an_operand_of_the_other_reads_is_no_gate(self):
        def f(x, a):
            y = tl.tanh(x @ a) + a
            return x @ y + y

        def turned(x, a):
            y = x @ a
            return (x @ tl.flip(y, 0)) * y

        x, a = normal(12, 12) / 4, normal(12, 20)
        y = np.tanh(x @ a) + a
        check(f, x @ y + y, x, a, tolerance=1e-4)
        check(turned, (x @ (x @ a)[::-1]) * (x @ a), x, a, tolerance=1e-4)

    def test_rows_behind_the_end_are_exchanged_with_the_others(self):
        def f(x):
            y = tl.layer_norm(x)
            return tl.sin(x), tl.where(tl.iota(y, 1) % 2 == 0, y, 0.25)

        x = normal(5, 17, 8)
        m = x - x.mean(-1, keepdims=True)
        y = m / np.sqrt((m * m).mean(-1, keepdims=True) + 1e-5)
        check(f, (np.sin(x), np.where(np.arange(17)[:, None] % 2 == 0, y, 0.25)), x, tolerance=1e-4)

    def test_windows_that_many_rows_read_are_stored(self):
        def f(x, w, b):
            return tl.relu(tl.conv(x, w, stride=2, padding=1) + b[:, None, None])

        x, w, b = normal(2, 3, 9, 8), normal(64, 3, 3, 3), normal(64)
        v = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
        want = np.einsum("ncxyij,ocij->noxy", v[:, :, ::2, ::2], w) + b[:, None, None]
        check(f, np.maximum(want, 0), x, w, b, tolerance=1e-4)
        self.assertEqual(self.tiles(f, x, w, b).count("T.Kernel("), 2)

    def test_a_convolution_reads_an_image_with_channels_last(self):
        def plain(x, w, stride, padding, dilation):
            n = x.ndim - 2
            x = np.pad(x, ((0, 0), (0, 0)) + tuple((p, p) for p in padding)).astype("float64")
            size = [(x.shape[2 + d] - dilation[d] * (w.shape[2 + d] - 1) - 1) // stride[d] + 1 for d in range(n)]
            y = 0
            for tap in np.ndindex(*w.shape[2:]):
                seen = tuple(slice(t * e, t * e + (k - 1) * s + 1, s) for t, e, k, s in zip(tap, dilation, size, stride))
                y = y + np.einsum("nc...,oc->no...", x[(..., *seen)], w[(..., *tap)].astype("float64"))
            return y

        # image, weights, stride, padding, dilation; what its kernels have
        cases = (((2, 16, 9, 8), (24, 16, 3, 3), (1, 1), (1, 1), (1, 1), "T.im2col", "T.transpose"),
                 ((2, 16, 8, 16), (40, 16, 3, 3), (1, 1), (1, 1), (1, 1), "T.im2col", "T.copy(acc, "),
                 ((1, 24, 10, 12), (64, 24, 3, 3), (2, 2), (1, 1), (1, 1), "T.im2col(t1, B, bx, k, 3, 2, 1, 1)",),
                 ((2, 32, 13, 9), (40, 32, 3, 3), (1, 1), (2, 2), (2, 2), "T.im2col(t1, B, bx, k, 3, 1, 2, 2)",),
                 ((2, 16, 9, 11), (16, 16, 3, 2), (1, 2), (1, 0), (1, 1), "for j, i in T.Parallel"),
                 ((2, 16, 37), (24, 16, 5), (2,), (2,), (1,), "for j, i in T.Parallel"),
                 ((1, 16, 4, 5, 3), (16, 16, 2, 3, 1), (1, 1, 1), (1, 1, 0), (1, 1, 1), "for j, i in T.Parallel"),
                 ((2, 32, 8, 16), (80, 32, 1, 1), (1, 1), (0, 0), (1, 1), "_in[", "T.copy(acc, "))
        for shape, taps, stride, padding, dilation, *texts in cases:
            def f(x_in, w):
                return tl.relu(tl.conv(x_in, w, stride=stride, padding=padding, dilation=dilation))

            for target, dtype, tolerance in (GPU, "float16", 2e-3), ("sim -arch=sm_80", "float16", 2e-3), (GPU, "float32", 2e-5):
                x, w = normal(*shape, dtype=dtype), normal(*taps, dtype=dtype) / 8
                if dtype == "float32" and len(shape) == 4 and padding == (1, 1):
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", tl.SlowWarning)
                    got = tl.tensor.TensorProgram(f, target)(x, w)
                close(got, np.maximum(plain(x, w, stride, padding, dilation), 0), tolerance)
            made = self.tiles(f, x, w)
            for text in texts:
                self.assertIn(text, made)

    def test_a_convolution_of_open_extents(self):
        def f(x, w):
            return tl.conv(x, w, padding=1)

        w = normal(24, 16, 3, 3, dtype="float16") / 8
        for names in ("n", None, None, None), ("n", None, "h", None):
            program = tl.tensor.TensorProgram(f, GPU, dynamic={"x": names})
            for n, h in (2, 8), (3, 8), (1, 11 if names[2] else 8):
                x = normal(n, 16, h, 16, dtype="float16")
                seen = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", tl.SlowWarning)
                    close(program(x, w), np.einsum("ncxyij,ocij->noxy", seen.astype("float32"), w.astype("float32")), 2e-3)
                self.assertIn("T.im2col", program.tiles())
                self.assertIn("'n' stays open", program.explain())

    def test_two_convolutions_and_what_they_give_back(self):
        def f(x, v, w):
            return tl.sum(tl.conv(tl.relu(tl.conv(x, v, padding=1)), w, stride=2) ** 2)

        def g(x, v, w, h=1e-2):
            y = np.maximum(plain(x, v, 1), 0)
            return (plain(y, w, 0)[:, :, ::2, ::2] ** 2).sum()

        def plain(x, w, p):
            seen = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (p, p), (p, p))), (3, 3), (2, 3))
            return np.einsum("ncxyij,ocij->noxy", seen, w)

        x, v, w = (normal(*s).astype("float64") / 4 for s in ((1, 16, 7, 8), (16, 16, 3, 3), (24, 16, 3, 3)))
        given = [a.astype("float32") for a in (x, v, w)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tl.SlowWarning)
            value, *grads = tl.value_and_grad(tl.tensor_program(f, target=GPU), argnums=(0, 1, 2))(*given)
        close(value, g(x, v, w), 1e-4)
        for i, grad in enumerate(grads):
            for _ in range(3):
                at, step = tuple(rng.integers(0, n) for n in grad.shape), np.zeros(grad.shape)
                step[at] = 1e-5
                args = [[x, v, w], [x, v, w]]
                args[0][i], args[1][i] = args[0][i] + step, args[1][i] - step
                slope = (g(*args[0]) - g(*args[1])) / 2e-5
                assert abs(grad[at] - slope) <= 1e-3 * (1 + abs(slope)), (i, at, grad[at], slope)

    def test_axes_that_change_places_are_turned_in_tiles(self):
        def f(x):
            return x.transpose(0, 2, 3, 1)

        def g(x, y):
            return tl.transpose(tl.tanh(x) * y, (1, 0))

        for dtype in "float16", "float32":
            x, y, z = normal(2, 33, 9, 7, dtype=dtype), normal(70, 130, dtype=dtype), normal(130, dtype=dtype)
            check(f, x.transpose(0, 2, 3, 1), x)
            check(g, (np.tanh(y.astype("float32")) * z).T, y, z, tolerance=1e-3 if dtype == "float16" else 2e-5)
            for made in self.tiles(f, x), self.tiles(g, y, z):
                self.assertIn("T.transpose(A, B)", made)
        n = x.astype("int8")
        check(f, n.transpose(0, 2, 3, 1), n)

    def test_axes_reduced_side_by_side_are_one(self):
        def f(x, w):
            m = x.mean(axis=(0, 2, 3), keepdims=True)
            return tl.relu((x - m) * w[:, None, None]), tl.max(x, axis=(1, 2, 3)), tl.sum(x, axis=(0, 1))

        x, w = normal(2, 3, 20, 23), normal(3)
        x[1, 1, 2, 3] = np.nan
        m = x.mean((0, 2, 3), keepdims=True)
        y = (x - m) * w[:, None, None]
        check(f, (np.where(y <= 0, 0, y), x.max((1, 2, 3)), x.sum((0, 1))), x, w, tolerance=1e-4)

    def test_rows_of_two_softmaxes_are_one_kernel(self):
        def f(x, y):
            p, q = tl.log_softmax(x), tl.log_softmax(y)
            return tl.sum(tl.exp(p) * (p - q), axis=-1)

        x, y = normal(6, 50), normal(6, 50)
        p, q = np.log(softmax(x)), np.log(softmax(y))
        program = check(f, (np.exp(p) * (p - q)).sum(-1), x, y, tolerance=1e-4)
        self.assertIn("in all: 1 kernel,", program.explain())

    def test_sides_of_a_concatenation_and_shapes_of_products(self):
        def f(x, w, r):
            y = (x @ w + r).reshape(2, 24, 2, 64)
            a, b = y[..., :32], y[..., 32:]
            return tl.concatenate([a - b, a + b], axis=-1)

        x, w, r = normal(2, 24, 32), normal(32, 128), normal(2, 24, 128)
        y = (x @ w + r).reshape(2, 24, 2, 64)
        check(f, np.concatenate([y[..., :32] - y[..., 32:], y[..., :32] + y[..., 32:]], -1), x, w, r, tolerance=1e-4)
        tiles = self.tiles(f, x, w, r)
        self.assertIn("T.reshape(x", tiles)
        self.assertNotIn("if_then_else", tiles)

    def test_heads_side_by_side_are_tiles_of_products(self):
        """A tile that lies in one head is copied whole; what is computed for products is stored as they read it."""
        def f(x, w):
            return x.transpose(0, 2, 1, 3).reshape(1, 128, 128) @ w

        def g(x, y, w):
            h = tl.sin(x * y).transpose(0, 2, 1, 3).reshape(128, 128)
            return h @ w, h.T @ h

        x, y, w = normal(1, 2, 128, 64), normal(1, 2, 128, 64), normal(128, 64)
        h = x.transpose(0, 2, 1, 3).reshape(1, 128, 128)
        check(f, h @ w, x, w, tolerance=1e-4)
        tiles = self.tiles(f, x, w)
        self.assertNotIn("A[i, j] =", tiles)
        h = np.sin(x * y).transpose(0, 2, 1, 3).reshape(128, 128)
        check(g, (h @ w, h.T @ h), x, y, w, tolerance=1e-4)
        self.assertNotIn("[i, j] = T.cast", self.tiles(g, *(a.astype("float16") for a in (x, y, w))))

    def test_what_an_epilogue_of_several_results_reads_is_loaded_first(self):
        def f(x, a, y, z):
            p = x @ a
            return p * y, tl.tanh(p) + z * y

        x, a, y, z = normal(70, 16), normal(16, 140), normal(70, 140), normal(70, 140)
        p = x @ a
        check(f, (p * y, np.tanh(p) + z * y), x, a, y, z, tolerance=1e-4)
        self.assertIn("for p in T.unroll(", self.tiles(f, x, a, y, z))
        half = [v.astype("float16") for v in (x, a, y, z)]
        for got, want in zip(simulated(tl.tensor_program(f), half), (p * y, np.tanh(p) + z * y)):
            close(got, want, 1e-2)

    def test_what_only_its_own_kernel_reads_is_not_stored(self):
        def f(x, a, b, c):
            return tl.sum((tl.silu(x @ a) * (x @ b)) @ c)

        x, a, b, c = normal(70, 40), normal(40, 600), normal(40, 600), normal(600, 40)
        program = tl.tensor.TensorProgram(f, GPU, (0, 3))
        program.compile(x, a, b, c)
        text = program.explain()
        for name in set(re.findall(r"writes: .*", text)):
            for t in re.findall(r"(t\d+) \(", name):
                self.assertRegex(text, r"reads: .*\b%s \(" % t)


class Derivatives(unittest.TestCase):
    """Against differences of the same function in float64, by numpy."""

    def one(self, fn, reference, *arrays, argnums=0, step=1e-5):
        got = as_list(tl.grad(fn, argnums)(*arrays))
        sim = as_list(simulated(tl.grad(fn, argnums), arrays))
        for k, g, s in zip(argnums if isinstance(argnums, tuple) else (argnums,), got, sim):
            exact = [a.astype("float64") if a.dtype.kind == "f" else a for a in arrays]
            want = np.zeros(arrays[k].shape)
            for at in np.ndindex(*arrays[k].shape):
                old = exact[k][at]
                exact[k][at] = old + step
                up = reference(*exact)
                exact[k][at] = old - step
                want[at] = (up - reference(*exact)) / (2 * step)
                exact[k][at] = old
            close(g, want, 2e-4)
            close(s, want, 2e-4)

    def test_elements(self):
        def f(x, y):
            return tl.sum(tl.exp(x) * y + tl.tanh(x / (1 + y * y)) - tl.sqrt(x * x + 1) * tl.sigmoid(y)
                          + tl.where(x > y, x * y, tl.sin(x)) + tl.maximum(x, y) ** 3)

        def n(x, y):
            return (np.exp(x) * y + np.tanh(x / (1 + y * y)) - np.sqrt(x * x + 1) / (1 + np.exp(-y))
                    + np.where(x > y, x * y, np.sin(x)) + np.maximum(x, y) ** 3).sum()

        self.one(f, n, normal(3, 4), normal(4), argnums=(0, 1))

    def test_where_it_has_a_corner(self):
        """As torch has it: half of it to each of equal operands, nothing through relu at 0, all inside of bounds."""
        def f(x):
            return tl.sum(tl.relu(x) + tl.maximum(x, -x) * 3 + tl.clip(x, -1, 1) * 10 + tl.softplus(x) * 100)

        def products(x):
            return tl.sum(tl.prod(x, axis=1))

        x = np.array([-1, 0, 1], "float32")
        close(tl.grad(f)(x), np.array([0 - 3 + 10, 0 + 0 + 10, 1 + 3 + 10]) + 100 / (1 + np.exp(-x)), 1e-5)
        y = np.array([[1, 0, 2], [3, 4, 5], [0, 0, 1]], "float32")
        close(tl.grad(products)(y), np.array([[0, 2, 0], [20, 15, 12], [0, 0, 0]]), 1e-6)

    def test_windows(self):
        def f(x):
            return tl.sum(tl.max_pool(x, (3, 3), stride=2, padding=1) ** 2 + tl.avg_pool(x, (3, 3), stride=2, padding=1))

        def n(x):
            def windows(fill):
                p = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=fill)
                return np.lib.stride_tricks.sliding_window_view(p, (3, 3), (1, 2))[:, ::2, ::2]

            return (windows(-1e30).max((-1, -2)) ** 2 + windows(0).mean((-1, -2))).sum()

        self.one(f, n, normal(2, 5, 6))

    def test_products_and_rows(self):
        def f(x, w, b):
            h = tl.relu(x @ w + b)
            return tl.mean(tl.softmax(h) * tl.layer_norm(h)) + tl.sum(tl.max(h, axis=0)) - tl.logsumexp(x)

        def n(x, w, b):
            h = np.maximum(x @ w + b, 0)
            m = h - h.mean(-1, keepdims=True)
            ln = m / np.sqrt((m * m).mean(-1, keepdims=True) + 1e-5)
            return (softmax(h) * ln).mean() + h.max(0).sum() - np.log(np.exp(x).sum())

        self.one(f, n, normal(5, 6), normal(6, 7), normal(7), argnums=(0, 1, 2))

    def test_layout_positions_and_windows(self):
        def f(x, i):
            y = tl.concatenate([x[::2, 1:], tl.pad(x, ((0, 0), (0, 2)))[1:4, 3:]], 0)
            return tl.sum(y * y) + tl.sum(x[i] ** 2) + tl.sum(tl.cumsum(x, axis=1) * x.T.reshape(6, 5))

        def n(x, i):
            y = np.concatenate([x[::2, 1:], np.pad(x, ((0, 0), (0, 2)))[1:4, 3:]], 0)
            return (y * y).sum() + (x[i] ** 2).sum() + (x.cumsum(1) * x.T.reshape(6, 5)).sum()

        self.one(f, n, normal(6, 5), np.array([1, 1, 3], "i"))

        def c(x, w):
            return tl.sum(tl.conv(x, w, stride=2, padding=1) ** 2)

        def d(x, w):
            v = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
            return (np.einsum("ncxyij,ocij->noxy", v[:, :, ::2, ::2], w) ** 2).sum()

        self.one(c, d, normal(1, 2, 5, 5), normal(3, 2, 3, 3), argnums=(0, 1))

    def test_attention(self):
        def f(q, k, v):
            return tl.sum((tl.softmax(q @ k.T) @ v) ** 2)

        def n(q, k, v):
            return ((softmax(q @ k.T) @ v) ** 2).sum()

        self.one(f, n, normal(5, 4), normal(6, 4), normal(6, 3), argnums=(0, 1, 2))


class Programs(unittest.TestCase):
    def test_host_time_follows_the_number_of_operators(self):
        def f(x):
            y = x
            for i in range(100):
                y = tl.sin(y) + x * (i * 0.5)
            return y

        x = normal(64, 64)
        tl.tensor_program(f).tiles(x)
        start = time.perf_counter()
        tl.tensor_program(f).tiles(x)
        self.assertLess(time.perf_counter() - start, 2.0)  # 200 operators; the bar is 0.5 on a machine at rest

    def test_python_around_tensors(self):
        scale = 3.0

        def twice(v, *, by=2.0):
            return v * by

        @tl.tensor_program
        def f(x, n, flag=True):
            parts = [twice(x, by=k * scale) for k in range(1, n)]
            y = sum(parts[1:], parts[0])
            return y if flag else x

        x = normal(10)
        close(f(x, 4), x * 18, 1e-5)
        close(f(x, 3, flag=False), x, 0)

    def test_names_and_arrays_that_are_none_of_ours(self):
        x = normal(4)
        for text, what in (("tl.unknown(x)", "'tilelang' has nothing called 'unknown'"),
                           ("np.unknown(x)", "'numpy' has nothing called 'unknown'")):
            with self.assertRaisesRegex(AttributeError, what) as seen:
                tl.tensor_program(made("import numpy as np\n\ndef f(x):\n    return %s\n" % text), target="cpu")(x)
            self.assertIn("return %s\n" % text, str(seen.exception))
            self.assertIn("^~~~~~~~~~", str(seen.exception))
        double = tl.tensor_program(made("def f(x):\n    return x * 2\n"), target="cpu")
        for strange in x.astype("complex64"), np.array([None]), np.array(["a"]), np.array([1], "datetime64[s]"):
            with self.assertRaisesRegex(TypeError, "'x' is an array of .*; elements of tensors are floats") as seen:
                double(strange)
            self.assertRegex(str(seen.exception), r"def f\(x\):\n *\| *\^")

    def test_tiles_stand_alone_and_errors_have_carets(self):
        @tl.tensor_program
        def f(x, y):
            return x + y

        with self.assertRaisesRegex(tl.TileLangError, "tensor-broadcast"):
            f(normal(3), normal(4))
        self.assertIn("@T.prim_func", f.tiles(normal(3), normal(3)))


globals().update(functions(Images, Edges, Elements, Reductions, Products, Layout, Short, Others, Attention, Gpu, Derivatives, Programs))

if __name__ == "__main__":
    unittest.main()
