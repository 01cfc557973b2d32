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

    def write(self):
        steps = [self.elements, self.together, self.together, self.reduced, self.rows, self.layout, self.product]
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
