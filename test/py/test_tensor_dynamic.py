"""Tensor programs whose extents stay open: one kernel for all of them, against numpy.

TENSOR_PROGRAMS says how many random ones (30), TENSOR_SEED where they begin."""

import os
import unittest

import numpy as np
import test_tensor
import test_tensor_random
from test_tensor import GPU, as_list, close, normal, softmax

import tilelang as tl

COUNT = int(os.environ.get("TENSOR_PROGRAMS", "30"))
FIRST = int(os.environ.get("TENSOR_SEED", "0"))
EXTENTS = (1, 2, 3, 16, 33, 130, 700)


def kernels(program):
    """(open, for one shape alone)"""
    made = [k.explain for k in program._known.values()]
    return sum("stays open" in e for e in made), sum(" alone: " in e for e in made)


def program_of(text):
    """"x, y: x + y" as a function."""
    return test_tensor.made("def f(%s):\n    return %s\n" % tuple(text.split(": ", 1)))


def held(fn, dynamic, arrays, want, extents=EXTENTS, target="cpu", count=1):
    fn = program_of(fn) if isinstance(fn, str) else fn
    program = tl.tensor_program(fn, target=target, dynamic=dynamic)
    for n in extents:
        given = arrays(n)
        for g, w in zip(as_list(program(*given)), as_list(want(*given))):
            close(g, w, 1e-4)
    assert len(program._known) == count, (len(program._known), kernels(program))
    return program


def norm(x):
    m = x - x.mean(-1, keepdims=True)
    return m / np.sqrt((m * m).mean(-1, keepdims=True) + 1e-5)


def causal(q, k, v):
    s = np.einsum("bhqd,bhkd->bhqk", q, k) / 4
    return softmax(np.where(np.arange(s.shape[2])[:, None] >= np.arange(s.shape[3]), s, -np.inf)) @ v


def attention(q, k, v):
    s = tl.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    s = tl.where(tl.iota(s, 2) >= tl.iota(s, 3), s, -tl.inf)
    return tl.softmax(s, axis=-1) @ v


def heads(x, w):
    b, s, d = x.shape
    q = (x @ w).reshape(b, s, 2, 12).transpose(0, 2, 1, 3)
    return (q * 2.0).transpose(0, 2, 1, 3).reshape(b, s, d)


class Open(unittest.TestCase):
    def test_elements(self):
        held("x, b: tl.tanh(x + b) * 2", {"x": ("n", None)}, lambda n: (normal(n, 24), normal(24)),
             lambda x, b: np.tanh(x + b) * 2)
        held("x: (x * 2).T", {"x": (None, "n")}, lambda n: (normal(3, n),), lambda x: (x * 2).T)

    def test_rows(self):
        held("x: (tl.softmax(x), tl.layer_norm(x))", {"x": (None, "n")}, lambda n: (normal(5, n),),
             lambda x: (softmax(x), norm(x)))
        held("x: tl.softmax(x, axis=0)", {"x": ("n", None)}, lambda n: (normal(n, 6),), lambda x: softmax(x, 0))

    def test_reductions(self):
        held("x: (tl.sum(x, axis=1), tl.mean(x), tl.max(x, axis=0), tl.argmax(x, axis=1), tl.var(x, axis=1))",
             {"x": (None, "n")}, lambda n: (normal(3, n),),
             lambda x: (x.sum(1), x.mean(), x.max(0), x.argmax(1), x.var(1)))

    def test_scans(self):
        held("x: (tl.cumsum(x, axis=1), tl.cumsum(x, axis=1, reverse=True))", {"x": (None, "n")},
             lambda n: (normal(3, n),), lambda x: (x.cumsum(1), x[:, ::-1].cumsum(1)[:, ::-1]))

    def test_products(self):
        held("x, w: tl.relu(x @ w)", {"x": (None, "n", None)}, lambda n: (normal(2, n, 40), normal(40, 24)),
             lambda x, w: np.maximum(x @ w, 0))
        held("x, w: x @ w", {"x": (None, "n"), "w": ("n", None)}, lambda n: (normal(20, n), normal(n, 24)),
             lambda x, w: x @ w)
        held(heads, {"x": ("b", "s", None)}, lambda n: (normal(2, n, 24), normal(24, 24)), lambda x, w: x @ w * 2)

    def test_attention(self):
        program = held(attention, {a: (None, None, "n", None) for a in "qkv"},
                       lambda n: tuple(normal(2, 3, n, 16) for _ in range(3)), causal)
        self.assertIn("in all: 1 kernel,", program.explain())

    def test_layout(self):
        held("x: (x.reshape(-1), tl.concatenate([x, x * 2], 0), tl.pad(x, 1), x[::-1], x[-1], x[0])",
             {"x": ("n", None)}, lambda n: (normal(n, 4),),
             lambda x: (x.reshape(-1), np.concatenate([x, x * 2]), np.pad(x, 1), x[::-1], x[-1], x[0]))
        held("x: (x.T.reshape(-1) * x.shape[0]).reshape(x.shape)", {"x": ("n", "m")}, lambda n: (normal(n, n + 1),),
             lambda x: (x.T.reshape(-1) * x.shape[0]).reshape(x.shape))

    def test_positions(self):
        held("x, i: x[i]", {"x": ("n", None), "i": ("m",)},
             lambda n: (normal(n, 8), test_tensor.rng.integers(-n, n, 2 * n).astype("int32")), lambda x, i: x[i])
        held("x: tl.sort(x)", {"x": (None, "n")}, lambda n: (normal(2, n),), np.sort, extents=(1, 2, 33))
        held("x: tl.arange(x.shape[0])[:, None] * x", {"x": ("n", None)}, lambda n: (normal(n, 6),),
             lambda x: np.arange(len(x))[:, None] * x)

    def test_windows(self):
        w, text = normal(4, 3, 3, 3), "x, w: tl.relu(tl.conv(x, w, padding=1))"
        closed = tl.tensor_program(program_of(text), target="cpu")
        held(text, {"x": (None, None, "n", "n")},
             lambda n: (normal(2, 3, n, n), w), closed, extents=(1, 9, 65))
        pools = "x: tl.max_pool(x, (3, 3), stride=(1, 1), padding=(1, 1))"
        held(pools, {"x": (None, None, "n", "m")}, lambda n: (normal(2, 3, n, n + 2),),
             tl.tensor_program(program_of(pools), target="cpu"), extents=(1, 70))

    def test_sums_as_factors_of_blocks(self):
        held("x: (tl.pad(x, 1) * 2, tl.cumsum(tl.pad(x, 1), axis=1))", {"x": (None, "n", "m")},
             lambda n: (normal(3, n, n + 1),), lambda x: (np.pad(x, 1) * 2, np.pad(x, 1).cumsum(1)))

    def test_derivatives(self):
        def loss(x, w):
            return tl.sum(tl.softmax(x @ w.T) ** 2) / x.shape[0]

        closed = tl.grad(tl.tensor_program(loss, target="cpu"), (0, 1))
        program = tl.grad(tl.tensor_program(loss, target="cpu", dynamic={"x": ("n", None)}), (0, 1))
        for n in (1, 5, 40):
            x, w = normal(n, 6), normal(8, 6)
            for g, c in zip(program(x, w), closed(x, w)):
                close(g, c, 1e-4)
        self.assertEqual(kernels(program), (1, 0))

    def test_simulated(self):
        def block(x, w):
            return tl.softmax(tl.rms_norm(x) @ w)

        held(block, {"x": ("n", None)}, lambda n: (normal(n, 32), normal(32, 24)),
             tl.tensor_program(block, target="cpu"), extents=(1, 3, 70), target=GPU)
        held(attention, {a: (None, None, "n", None) for a in "qkv"},
             lambda n: tuple(normal(1, 2, n, 16) for _ in range(3)), causal, extents=(3, 70), target=GPU)


class Annotated(unittest.TestCase):
    def test_names_in_annotations(self):
        @tl.tensor_program(target="cpu")
        def scaled(x: "float32[rows, 8]", y: "float32[rows, 8]"):
            return x * y / x.shape[0]

        for n in (1, 4, 100):
            x, y = normal(n, 8), normal(n, 8)
            close(scaled(x, y), x * y / n, 1e-5)
        self.assertEqual(kernels(scaled), (1, 0))
        self.assertIn('rows = T.dynamic("rows")', scaled.tiles())
        with self.assertRaisesRegex(ValueError, "the extent 'rows' is 3 in 'x' and 4 in 'y'"):
            scaled(normal(3, 8), normal(4, 8))
        with self.assertRaisesRegex(ValueError, "'x' has 1 axes, and 2 are declared"):
            scaled(normal(3), normal(4, 8))

    def test_messages_name_the_extent(self):
        @tl.tensor_program(target="cpu")
        def wrong(x: "float32[rows, 4]", y: "float32[5, 3]"):
            return x @ y

        with self.assertRaisesRegex(tl.TileLangError, r"@ of shapes \(rows, 4\) and \(5, 3\)"):
            wrong(normal(6, 4), normal(5, 3))

    def test_the_largest_of_any_number(self):
        program = held("x: tl.top_k(x, 1, axis=0)[0]", {"x": ("n", None)}, lambda n: (normal(n, 5),),
                       lambda x: x.max(0, keepdims=True), extents=(1, 2, 40), count=1)
        self.assertEqual(kernels(program), (1, 0))


class Closed(unittest.TestCase):
    """What needs the value of an extent is made for it, and says so."""

    def test_made_for_one_extent(self):
        def pooled(x):
            return x[:len(x) // 2 * 2].reshape(1, 1, len(x) // 2, 2, 3, 2).max((3, 5))

        program = held("x: tl.max_pool(x[None, None], (2, 2))", {"x": ("n", None)}, lambda n: (normal(n, 6),), pooled,
                       extents=(2, 3, 40), count=3)
        self.assertEqual(kernels(program), (0, 3))
        self.assertIn("for n = 40 alone: ", program.explain())

    def test_small_ones_apart(self):
        program = held("x: x[1:] - x[:-1]", {"x": ("n", None)}, lambda n: (normal(n, 4),), lambda x: x[1:] - x[:-1],
                       extents=(1, 2, 16, 17, 300), count=3)
        self.assertEqual(kernels(program), (1, 2))
        held("x: x[:5]", {"x": ("n",)}, lambda n: (normal(n),), lambda x: x[:5], extents=(2, 5, 16, 40), count=3)

    def test_conditions_and_loops(self):
        def steps(x):
            y = x
            for _ in range(x.shape[0]):
                y = y + 1
            return y * 2 if x.shape[0] > 2 else y

        held(steps, {"x": ("n",)}, lambda n: (normal(n),), lambda x: (x + len(x)) * (2 if len(x) > 2 else 1),
             extents=(1, 2, 5), count=3)

    def test_equal_for_once(self):
        held("x, y: x + y", {"x": ("n",)}, lambda n: (normal(n), normal(n)), lambda x, y: x + y, extents=(3, 5),
             count=2)

    def test_none(self):
        held("x: x * 2", {"x": ("n", None)}, lambda n: (normal(n, 3),), lambda x: x * 2, extents=(0, 1, 0, 4),
             count=2)


class RandomOpen(unittest.TestCase):
    """An axis of the first input stays open; the program that was written for one extent is called with others."""

    def test_against_numpy(self):
        stayed = 0
        for seed in range(FIRST, FIRST + COUNT):
            writer = test_tensor_random.Writer(seed)
            text, _ = writer.write()
            axis = seed % writer.inputs[0].ndim
            names = tuple("n" if d == axis else None for d in range(writer.inputs[0].ndim))
            program = tl.tensor_program(test_tensor.made(text), target="cpu", dynamic={"x0": names})
            scope = {"tl": test_tensor_random.Reference}
            exec(text, scope)
            for n in (writer.inputs[0].shape[axis], 1, 2, 19, 150):
                first = normal(*[n if d == axis else e for d, e in enumerate(writer.inputs[0].shape)])
                arrays = [first, *writer.inputs[1:]]
                try:
                    want = scope["f"](*[a.astype("float64") for a in arrays])
                except Exception:
                    continue  # no program of that extent
                if any(w.size == 0 or w.size > 200000 or not np.isfinite(w).all() for w in as_list(want)):
                    continue
                try:
                    for g, w in zip(as_list(program(*arrays)), as_list(want)):
                        close(g, w, 5e-4)
                except BaseException:
                    print("seed %d, n = %d\n%s" % (seed, n, text))
                    raise
            stayed += kernels(program)[0] > 0
        self.assertGreater(stayed, COUNT // 3)


globals().update(test_tensor.functions(Open, Annotated, Closed, RandomOpen))

if __name__ == "__main__":
    unittest.main()
