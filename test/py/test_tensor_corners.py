"""Corners of tensor programs against numpy: no elements, one element, no axes, integers, bools, equal outputs."""

import unittest

import numpy as np
import test_tensor
from test_tensor import check, normal, rng

import tilelang as tl

X, SQUARE, T4 = normal(4, 6), normal(6, 6), normal(2, 3, 4, 5)
INTS = rng.integers(-50, 50, (6, 5)).astype("int32")
BYTES = rng.integers(-128, 127, (6, 5)).astype("int8")
LONGS = rng.integers(-(2**40), 2**40, (6, 5))
TRUTH = X > 0
NONE = np.zeros((0, 5), "float32")
AT = np.array([3, 3, 0, -1, 3, 2], "int32")
ODD = np.array([[1, np.nan, -np.inf], [np.inf, 0, -0.0]], "float32")


def added(x, at, v):
    y = x.copy()
    np.add.at(y, at, v)
    return y


def plain_conv(x, w):
    seen = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3, 4))
    return np.einsum("ncxyzijk,ocijk->noxyz", seen, w)


HOLES = rng.integers(-3, 3, (4, 40)).astype("float32")
HOLES[1, 3:9:2] = HOLES[2, -4:] = HOLES[3] = np.nan
HOLES[0, 4], HOLES[1, 2] = np.inf, -np.inf
INFINITE = np.full((4, 6), 2, "float32")
INFINITE[0], INFINITE[1, 3], INFINITE[2, 1] = -np.inf, np.inf, np.nan
LONG_HOLES = rng.integers(-300, 300, (2, 1500)).astype("float32")
LONG_HOLES[0, 77:1400:300] = np.nan


def down(x):
    """Positions from the largest on, NaN before all."""
    return np.argsort(np.where(np.isnan(x), -np.inf, -np.where(np.isinf(x), np.sign(x) * 1e9, x)), -1, kind="stable")


# parameters: expression; what numpy gives; arguments
CASES = {
    "order_nan": ("x: (tl.sort(x), tl.argsort(x), tl.argsort(x, 0), tl.argsort(x, descending=True))",
                  lambda x: (np.sort(x), np.argsort(x, kind="stable"), np.argsort(x, 0, kind="stable"), down(x)), HOLES),
    "order_half": ("x: tl.sort(x)", lambda x: np.sort(x), HOLES.astype("float16")),
    "top_nan": ("x: tl.top_k(x, 9)", lambda x: (np.take_along_axis(x, down(x), -1)[:, :9], down(x)[:, :9]), HOLES),
    "top_nan_long": ("x: tl.top_k(x, 7)[1]", lambda x: down(x)[:, :7], LONG_HOLES),
    "no_axes": ("x, y: (x * 2 + 1, x * y)", lambda x, y: (x * 2 + 1, x * y), normal(), X),
    "outer": ("x, y: (x + y.T, x * y[0, 0])", lambda x, y: (x + y.T, x * y[0, 0]), normal(5, 1), normal(7, 1)),
    "no_elements": ("x, y: (x * 2, tl.sum(x, axis=0), tl.concatenate([x, y], 0), tl.softmax(x), x @ y.T)",
                    lambda x, y: (x * 2, x.sum(0), np.concatenate([x, y]), x, x @ y.T), NONE, normal(2, 5)),
    "no_columns": ("x, y: x @ y", lambda x, y: x @ y, normal(4, 0), normal(0, 3)),
    "no_elements_between": ("x, y: (tl.softmax(x @ y.T) * 2, tl.sum(x @ y.T, axis=0), tl.pad(x @ y.T, 1))",
                            lambda x, y: (x @ y.T, np.zeros(2), np.zeros((2, 4))), NONE, normal(2, 5)),
    "bytes": ("x: (x + x, x * 3, -x, x >> 2, x & 15, ~x)", lambda x: (x + x, x * np.int8(3), -x, x >> 2, x & 15, ~x),
              BYTES),
    "integers": ("x: (x // 7, x % 7, x // -7, x % -7, x / 4, tl.sum(x, axis=1))",
                 lambda x: (x // 7, x % 7, x // -7, x % -7, x / 4, x.sum(1)), INTS),
    "powers_of_integers": ("x, y, z: (x ** 0, x ** 1, x ** 5, y ** 3, z ** 2)",
                           lambda x, y, z: (x**0, x**1, x**5, y ** np.int8(3), z**2), INTS, BYTES, LONGS),
    "long_integers": ("x: (x * 3, tl.sum(x, axis=0), x >> 3, tl.max(x, axis=1))",
                      lambda x: (x * 3, x.sum(0), x >> 3, x.max(1)), LONGS),
    "bools": ("x, y: (x & ~x, x | True, tl.any(x, axis=0), tl.all(x, axis=1), x + 1, x * y, tl.sum(x, axis=0))",
              lambda x, y: (x & ~x, x | True, x.any(0), x.all(1), x + 1, x * y, x.sum(0)), TRUTH, X),
    "einsum_of_one": ("x, y: (tl.einsum('ii->', x), tl.einsum('ii->i', x), tl.einsum('abcd->ca', y))",
                      lambda x, y: (np.trace(x), np.diag(x), np.einsum("abcd->ca", y)), SQUARE, T4),
    "einsum_of_two": ("x, y: (tl.einsum('ij,kl->il', x, y), tl.einsum('ij,jk', x, y), tl.einsum('i,j->ji', x[0], y[1]))",
                      lambda x, y: (np.einsum("ij,kl->il", x, y), x @ y, np.outer(y[1], x[0])), X, SQUARE),
    "einsum_with_dots": ("x, y, z: (tl.einsum('...ij,...jk->...ik', x, y), tl.einsum('...ij,jk', x, z), tl.einsum('i...->...', x), "
                         "tl.einsum('...,...', x, z), tl.einsum('...i,...i,...->i...', x, z, x[..., 0]))",
                         lambda x, y, z: (x @ y, x @ z, x.sum(0), x * z, np.einsum("...i,...i,...->i...", x, z, x[..., 0])),
                         normal(2, 1, 4, 4), normal(3, 4, 4), normal(4, 4)),
    "layouts": ("x: (x.transpose(3, 1, 0, 2).reshape(15, 8).T.reshape(4, 2, 15)[:, ::-1], "
                "x.transpose(1, 3, 0, 2).reshape(15, 8) @ x.reshape(8, 15))",
                lambda x: (x.transpose(3, 1, 0, 2).reshape(15, 8).T.reshape(4, 2, 15)[:, ::-1],
                           x.transpose(1, 3, 0, 2).reshape(15, 8) @ x.reshape(8, 15)), T4),
    "positions_twice": ("x, i: (x[i], tl.take(x, i.reshape(2, 3), 0), tl.scatter_add(x, i, tl.ones((6, 6)), 0))",
                        lambda x, i: (x[i], x[i.reshape(2, 3)], added(x, i, np.ones((6, 6)))), X, AT),
    "no_numbers": ("x: (tl.where(tl.isnan(x), 0, tl.where(tl.isinf(x), 9, x)), tl.max(x, axis=1), tl.argmax(x, axis=1), "
                   "tl.sum(x, axis=0), x == x, x < 1)",
                   lambda x: (np.where(np.isnan(x), 0, np.where(np.isinf(x), 9, x)), x.max(1), x.argmax(1), x.sum(0),
                              x == x, x < 1), ODD),
    "several_axes": ("x: (tl.sum(x, axis=(0, 2)), tl.max(x, axis=(0, 3), keepdims=True), tl.var(x, axis=(-1, 0)), tl.std(x))",
                     lambda x: (x.sum((0, 2)), x.max((0, 3), keepdims=True), x.var((-1, 0)), x.std()), T4),
    "outputs": ("x, y: (x, x.T, x, x * 2, x * 2, tl.full((3,), 2.0))", lambda x, y: (x, x.T, x, x * 2, x * 2, np.full(3, 2.0)),
                X, SQUARE),
    "several_positions": ("x, i, j: (x[i, j], x[i, :, i], x[:, i, None], x[[0, -1]], x[:, [2, 1]])",
                          lambda x, i, j: (x[i, j], x[i, :, i], x[:, i, None], x[[0, -1]], x[:, [2, 1]]),
                          normal(4, 5, 4), AT[:4], AT[2:]),
    "positions_stay_inside": ("x, i: (x[i, i], x[i])",
                              lambda x, i: (x[np.clip(i, 0, 3), np.clip(i, 0, 5)], x[np.clip(i, 0, 3)]), X,
                              np.array([2, 9, 4, 0], "int32")),
    "rows_one_by_one": ("x, y: (sum([r * (i + 1) for i, r in enumerate(x)]), len(x) * y[0], y[0] + y[len(y) - 1])",
                        lambda x, y: (sum([r * (i + 1) for i, r in enumerate(x)]), 4 * y[0], y[0] + y[-1]), X, SQUARE),
    "large_numbers": ("x, y: ((x & 255) + 1152921504606846977 - 1152921504606846976, y < 300, y > -129, 300 == y)",
                      lambda x, y: ((x & 255) + 1, y < 300, y > -129, y == 300), LONGS, BYTES),
    "no_columns_of_a_softmax": ("x: (tl.softmax(x), tl.log_softmax(x))", lambda x: (x, x), normal(3, 0)),
    "groups_in_space": ("x, w: (tl.conv(x, w, groups=2), tl.max_pool(x, (2, 2, 2)))",
                        lambda x, w: (np.concatenate([plain_conv(x[:, :2], w[:3]), plain_conv(x[:, 2:], w[3:])], 1),
                                      x.reshape(2, 4, 2, 2, 2, 2, 2, 2).max((3, 5, 7))),
                        normal(2, 4, 4, 4, 4), normal(6, 2, 2, 3, 2)),
    "from_the_end": ("x: (x[-3:-1, ::-2], x[-1], tl.roll(x, 2, -1), tl.stack([x, x], -1))",
                     lambda x: (x[-3:-1, ::-2], x[-1], np.roll(x, 2, -1), np.stack([x, x], -1)), X),
    "infinities_in_a_row": ("x: (tl.logsumexp(x, 1), tl.logsumexp(x, 0), tl.logsumexp(x[0]))",
                            lambda x: (np.array([-np.inf, np.inf, np.nan, 2 + np.log(6)]),
                                       2 + np.log([3, np.nan, 3, np.inf, 3, 3]), np.array(-np.inf)),
                            INFINITE),
    "truths_of_no_elements": ("x: (tl.any(x, 0), tl.all(x, 0), tl.any(x, 1), tl.all(x))",
                              lambda x: (x.any(0), x.all(0), x.any(1), x.all()), NONE),
    "derivatives_of_powers_of_zero": ("x, y: tl.grad(lambda x, y: tl.sum(x ** y) + tl.sum(x ** 0.0), (0, 1))(x, y)",
                                      lambda x, y: (np.array([0, 1, 0, 12, 6, 0.25]),
                                                    np.array([0, 0, 0, 8 * np.log(2), 9 * np.log(3), 2 * np.log(4)])),
                                      np.array([0, 0, 0, 2, 3, 4], "float32"), np.array([0, 1, 2, 3, 2, 0.5], "float32")),
    "ties": ("x: (tl.argmax(x, axis=1), tl.argmin(x, axis=0), tl.sort(x, axis=0), tl.argsort(x, axis=1))",
             lambda x: (x.argmax(1), x.argmin(0), np.sort(x, 0), np.argsort(x, 1, kind="stable")), INTS // 20),
}


def run(text, want, *arrays):
    fn = test_tensor.made("def f(%s):\n    return %s\n" % tuple(text.split(": ", 1)))
    program = check(fn, want(*arrays), *arrays, tolerance=1e-4)
    for got, wanted in zip(test_tensor.as_list(program(*arrays)), test_tensor.as_list(want(*arrays))):
        assert np.asarray(got).dtype.kind == np.asarray(wanted).dtype.kind, (got.dtype, wanted)


class Corners(unittest.TestCase):
    pass


def chosen(x, y, z):
    some = tl.log(abs(x) + 0.1) * y, tl.tanh(x * y) + z, tl.softmax(x * z + y), tl.erf(x) * y - z * y
    return [(s, tl.argmax(s, 0), tl.argmin(s, 1), tl.top_k(s, 2, 0)[1]) for s in some]


class Compared(unittest.TestCase):
    """What is compared with the largest of its elements is computed once: the last bit may differ else."""

    def test_positions_are_inside(self):
        for shape in (300, 20), (2000, 3), (4, 900):
            got = tl.tensor_program(chosen, target="cpu")(*(normal(*shape) for _ in range(3)))
            for s, most, least, two in zip(*[iter(got)] * 4):
                far = 1e-5 * (1 + abs(s).max())
                self.assertLessEqual(abs(np.take_along_axis(s, most[None], 0)[0] - s.max(0)).max(), far)
                self.assertLessEqual(abs(np.take_along_axis(s, least[:, None], 1)[:, 0] - s.min(1)).max(), far)
                best = -np.sort(-s, 0)[:2]
                self.assertLessEqual(abs(np.take_along_axis(s, two, 0) - best).max(), far)

    def test_derivatives_of_the_largest(self):
        def f(w, x, y, z):
            return tl.sum(tl.max(tl.tanh(x * 0.3 + 1) * 2 + tl.sin(y * z) * tl.exp(w), 1))

        for shape in (3, 70000), (40, 700):
            w, x, y, z = (normal(*shape) for _ in range(4))
            v = [a.astype("float64") for a in (w, x, y, z)]
            terms = np.sin(v[2] * v[3]) * np.exp(v[0])
            best = (np.tanh(v[1] * 0.3 + 1) * 2 + terms).argmax(1)[:, None]
            want = np.zeros(shape)
            np.put_along_axis(want, best, np.take_along_axis(terms, best, 1), 1)
            got = tl.grad(f)(w, x, y, z)
            self.assertTrue(np.allclose(got, want, 1e-3, 1e-3))

    def test_half_of_what_is_compared(self):
        def f(x):
            return tl.sum(tl.max(tl.exp(x) * x, 1))

        got = tl.grad(f)(normal(5, 3000, dtype="float16"))
        self.assertTrue(np.isfinite(got).all() and ((got != 0).sum(1) > 0).all())

    def test_sums_of_halves_are_not_the_end(self):
        def f(x):
            return tl.mean(x), tl.mean(x, 1), tl.layer_norm(x), tl.rms_norm(x), tl.std(x, 1)

        x = (normal(4, 1 << 16) / 4 + 3).astype("float16")
        v = x.astype("float64")
        far = v - v.mean(1, keepdims=True)
        check(f, (v.mean(), v.mean(1), far / v.std(1, keepdims=True), v / np.sqrt((v * v).mean(1, keepdims=True)), v.std(1)),
              x, tolerance=2e-3, gpu=False)


for _name in CASES:
    setattr(Corners, "test_" + _name, lambda self, name=_name: run(*CASES[name]))

globals().update(test_tensor.functions(Corners, Compared))

if __name__ == "__main__":
    unittest.main()
