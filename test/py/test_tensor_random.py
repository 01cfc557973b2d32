"""Random tensor programs: the CPU's kernels and those of a GPU, simulated, against numpy in float64.

TENSOR_PROGRAMS says how many (60), TENSOR_SEED where they begin, TENSOR_OPERATORS how long they may get (15): one in
four is longer than 15, up to that."""

import os
import unittest

import numpy as np
import test_tensor

COUNT = int(os.environ.get("TENSOR_PROGRAMS", "60"))
FIRST = int(os.environ.get("TENSOR_SEED", "0"))
LONG = int(os.environ.get("TENSOR_OPERATORS", "15"))


class Reference:
    """tl.NAME for numpy arrays."""

    inf = np.inf
    exp, tanh, sin, maximum, where = np.exp, np.tanh, np.sin, np.maximum, np.where
    sqrt, abs, concatenate = np.sqrt, np.abs, np.concatenate
    softmax = staticmethod(test_tensor.softmax)

    @staticmethod
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    @staticmethod
    def relu(x):
        return np.maximum(x, 0)

    @staticmethod
    def iota(x, axis):
        return np.arange(x.shape[axis]).reshape([-1 if d == axis else 1 for d in range(x.ndim)]) + np.zeros(x.shape, int)

    @staticmethod
    def pad(x, width):
        return np.pad(x, width)

    @staticmethod
    def sum(x, axis, keepdims=False):
        return x.sum(axis, keepdims=keepdims)

    @staticmethod
    def mean(x, axis, keepdims=False):
        return x.mean(axis, keepdims=keepdims)

    @staticmethod
    def max(x, axis, keepdims=False):
        return x.max(axis, keepdims=keepdims)

    @staticmethod
    def cumsum(x, axis):
        return x.cumsum(axis)

    @staticmethod
    def flip(x, axis):
        return np.flip(x, axis)

    @staticmethod
    def min(x, axis, keepdims=False):
        return x.min(axis, keepdims=keepdims)

    @staticmethod
    def roll(x, shift, axis):
        return np.roll(x, shift, axis)

    @staticmethod
    def sort(x, axis):
        return np.sort(x, axis)

    @staticmethod
    def einsum(labels, *xs):
        return np.einsum(labels, *xs)

    @staticmethod
    def top_k(x, k):
        if k > x.shape[-1]:
            raise ValueError("no %d of %d" % (k, x.shape[-1]))
        return -np.sort(-x, -1)[..., :k], None

    @staticmethod
    def conv(x, w):
        seen = np.lib.stride_tricks.sliding_window_view(x, w.shape[2], axis=2)
        return np.einsum("ncxi,oci->nox", seen, w)

    @staticmethod
    def scatter_add(x, at, v, axis):
        y = x.copy()
        np.add.at(y, at, v)
        return y

    @staticmethod
    def layer_norm(x):
        m = x - x.mean(-1, keepdims=True)
        return m / np.sqrt((m * m).mean(-1, keepdims=True) + 1e-5)


class Writer:
    """One program as text; values keep small, so that float32 tells right from wrong."""

    def __init__(self, seed):
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.lines, self.values = [], []
        self.inputs = []
        for i in range(self.rng.integers(1, 4)):
            shape = tuple(int(n) for n in self.rng.choice([1, 2, 3, 5, 8, 17, 33], self.rng.integers(1, 4)))
            self.inputs.append(self.rng.standard_normal(shape).astype("float32"))
            self.values.append(("x%d" % i, self.inputs[-1].astype("float64")))

    def pick(self, rank=None):
        fit = [v for v in self.values if rank is None or v[1].ndim >= rank]
        return fit[self.rng.integers(len(fit))] if fit else None

    def add(self, text):
        value = eval(text, {"tl": Reference, "np": np}, dict(self.values))
        if value.size > 20000 or not np.isfinite(value).all() or np.abs(value).max(initial=0) > 1e3:
            return
        name = "v%d_" % len(self.values)
        self.lines.append("    %s = %s" % (name, text))
        self.values.append((name, value))

    def elements(self, x):
        one = ["tl.exp(tl.tanh(%s))", "tl.tanh(%s)", "tl.sin(%s)", "tl.sigmoid(%s)", "tl.relu(%s)", "%s * 0.5 + 1.0",
               "tl.sqrt(tl.abs(%s) + 1.0)", "-%s", "tl.where(tl.iota({0}, {1}) % 2 == 0, %s, 0.25)"]
        text = one[self.rng.integers(len(one))]
        if "{" in text and x[1].ndim:
            text = text.format(x[0], self.rng.integers(x[1].ndim))
        elif "{" in text:
            text = one[0]
        self.add(text.replace("% 2", "%% 2") % x[0])

    def together(self, x):
        for y in self.rng.permutation(len(self.values)):
            name, value = self.values[y]
            try:
                np.broadcast_shapes(x[1].shape, value.shape)
            except ValueError:
                continue
            op = ["%s + %s", "%s * %s", "%s - %s", "tl.maximum(%s, %s)"][self.rng.integers(4)]
            self.add(op % (x[0], name))
            return

    def reduced(self, x):
        if not x[1].ndim:
            return
        axis = int(self.rng.integers(-x[1].ndim, x[1].ndim))
        how = ["sum", "mean", "max"][self.rng.integers(3)]
        keep = ["", ", keepdims=True"][self.rng.integers(2)]
        self.add("tl.%s(%s, axis=%d%s)" % (how, x[0], axis, keep))

    def rows(self, x):
        if x[1].ndim:
            self.add(["tl.softmax(%s)", "tl.layer_norm(%s)", "tl.cumsum(%s, axis=-1)", "tl.softmax(%s, axis=0)"]
                     [self.rng.integers(4)] % x[0])

    def layout(self, x):
        n = x[1].ndim
        perm = ", ".join(str(d) for d in self.rng.permutation(n))
        if n:
            self.add(["{0}.transpose({1})", "{0}.reshape({2})", "{0}[1:]", "{0}[..., ::2]", "tl.flip({0}, -1)",
                      "tl.pad({0}, 1)", "tl.concatenate([{0}, {0} * 0.5], 0)", "{0}[:, None]"]
                     [self.rng.integers(8)].format(x[0], perm, x[1].size))

    def product(self, x):
        y = self.pick(2)
        if y is None or x[1].ndim < 1 or y[1].ndim != 2:
            return
        if x[1].shape[-1] == y[1].shape[0]:
            self.add("(%s @ %s) * %g" % (x[0], y[0], 1 / y[1].shape[0] ** 0.5))
        elif x[1].ndim == 2 and x[1].shape == y[1].shape:
            self.add("(%s @ %s.T) * %g" % (x[0], y[0], 1 / x[1].shape[1] ** 0.5))

    def twice(self, x):
        """Two products of one left operand, one of which may read the other."""
        y = self.pick(2)
        if y is None or x[1].ndim != 2 or y[1].ndim != 2 or x[1].shape[1] != y[1].shape[0]:
            return
        scale = 1 / y[1].shape[0] ** 0.5
        self.add(["tl.sigmoid({0} @ {1}) * ({0} @ ({1} * 2.0)) * {2:g}", "{0} @ tl.tanh({0} @ {1}) * {2:g}",
                  "tl.tanh({0} @ {1}) + {0} @ tl.flip({1}, 1) * {2:g}"][
                      self.rng.integers(2 if x[1].shape[0] == x[1].shape[1] else 1)
                      if self.rng.integers(2) else 2 * (y[1].shape[1] > 0)].format(x[0], y[0], scale))

    def attention(self, x):
        """Scores, something of them, softmax, values."""
        y = self.pick(2)
        if y is None or x[1].ndim != 2 or y[1].ndim != 2 or x[1].shape[1] != y[1].shape[1]:
            return
        scores = "({0} @ {1}.T) * %g" % (1 / x[1].shape[1] ** 0.5)
        scores = ["{s}", "tl.tanh({s}) * 2.0", "tl.where(tl.iota({s}, 0) >= tl.iota({s}, 1), {s}, -5.0)"][
            self.rng.integers(3)].format(s="(" + scores + ")")
        self.add(("tl.softmax(%s) @ {1}" % scores).format(x[0], y[0]))

    def positions(self, x):
        n, shape = x[1].ndim, x[1].shape
        if not n or min(shape) == 0:
            return
        at = "((tl.iota({0}, 0) * 3 + 1) % {1})[:{2}{3}]".format(x[0], shape[0], shape[0], ", 0" * (n - 1))
        axis = int(self.rng.integers(n))
        step = self.rng.integers(6)
        if step == 0:
            self.add("{0}[{1}]".format(x[0], at))
        elif step == 1:
            self.add("tl.scatter_add({0}, {1}, {0} * 0.5, 0)".format(x[0], at))
        elif step == 2:
            self.add("tl.sort({0}, axis={1})".format(x[0], axis))
        elif step == 3:
            self.add("tl.min({0}, axis={1})".format(x[0], axis))
        elif step == 4:
            self.add("tl.roll({0}, {1}, {2})".format(x[0], self.rng.integers(-3, 4), axis))
        else:
            self.add("tl.top_k({0}, {1})[0]".format(x[0], self.rng.integers(1, shape[-1] + 1)))

    def windows(self, x):
        if x[1].ndim == 3 and x[1].shape[2] > 2 and x[1].shape[1] <= 17:
            c = x[1].shape[1]
            self.add("tl.conv({0}, tl.sin(tl.iota({0}[:1, :, :2], 1) * 1.5 + tl.iota({0}[:1, :, :2], 2)) * {1:g})".format(
                x[0], 1 / c))
        elif x[1].ndim == 2:
            self.add(["tl.einsum('ij,ij->i', {0}, {0} * 0.25)", "tl.einsum('ij,ik->jk', {0}, {0} * 0.25)",
                      "tl.einsum('ij->ji', {0})"][self.rng.integers(3)].format(x[0]))

    def write(self):
        steps = [self.elements, self.together, self.together, self.reduced, self.rows, self.layout, self.product]
        if self.seed % 2:
            steps += [self.twice, self.attention, self.positions, self.windows, self.product]
        for _ in range(self.rng.integers(3, 16) if self.seed % 4 or LONG <= 15 else self.rng.integers(16, LONG + 1)):
            x = self.pick()
            if x[1].size:
                steps[self.rng.integers(len(steps))](x)
        first = len(self.inputs)
        made = self.values[first:] or self.values
        some = sorted({int(i) for i in self.rng.integers(0, len(made), 2)} | {len(made) - 1})
        names = [made[i][0] for i in some]
        text = "def f(%s):\n%s\n    return %s\n" % (", ".join("x%d" % i for i in range(first)),
                                                  "\n".join(self.lines) or "    pass", ", ".join(names))
        return text, [made[i][1] for i in some]


class RandomPrograms(unittest.TestCase):
    def test_against_numpy(self):
        for seed in range(FIRST, FIRST + COUNT):
            writer = Writer(seed)
            text, want = writer.write()
            if any(w.size == 0 for w in want):
                continue
            with self.subTest(seed=seed):
                try:
                    test_tensor.check(test_tensor.made(text), want, *writer.inputs, tolerance=2e-4, gpu=seed % 4 in (1, 3))
                except BaseException:
                    print("seed %d\n%s" % (seed, text))
                    raise


globals().update(test_tensor.functions(RandomPrograms))

if __name__ == "__main__":
    unittest.main()
