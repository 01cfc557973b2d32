"""plain.py -- what a kernel of deep.py means, found by running its text as the Python that it is.

The names of the language stand for numpy: a tile is an array, T.Parallel is a loop in any order, a block comes after
the other.  Nothing of the compiler takes part, so what its front end makes of a text is seen too."""

import itertools
import random

import numpy as np


class Int(int):
    """An element that was read, which also stands for the place where a region begins."""


class Float(float):
    pass


def norm(v, dtype):
    return bool(v) if dtype == "bool" else int(v) if "int" in dtype else float(v)


class Array:
    def __init__(self, data, dtype, on_chip):
        self.data, self.dtype, self.on_chip = data, dtype, on_chip
        self.shape = data.shape

    def _at(self, at):
        at = at if isinstance(at, tuple) else (at,)
        assert len(at) == self.data.ndim, (at, self.shape)
        return at

    def __getitem__(self, at):
        at = self._at(at)
        if any(isinstance(a, slice) for a in at):
            lo = [0 if isinstance(a, slice) and a.start is None else int(a.start if isinstance(a, slice) else a) for a in at]
            n = [(self.shape[d] if a.stop is None else int(a.stop)) - lo[d] if isinstance(a, slice) else 1 for d, a in enumerate(at)]
            return Region(self, lo, n)
        at = [int(a) for a in at]
        inside = all(0 <= a < n for a, n in zip(at, self.shape))
        v = self.data[tuple(at)] if inside else 0
        r = (Int if "int" in self.dtype or self.dtype == "bool" else Float)(v)
        r.array, r.at = self, at
        return r

    def __setitem__(self, at, v):
        at = tuple(int(a) for a in self._at(at))
        if all(0 <= a < n for a, n in zip(at, self.shape)):
            self.data[at] = store(v, self.dtype)
        else:
            assert not self.on_chip, "a store outside of a tile"


def store(v, dtype):
    if dtype == "bool":
        return bool(v)
    if "int" in dtype:
        bits = int(dtype.lstrip("uint"))
        v = int(v) & ((1 << bits) - 1)
        return v - (1 << bits) if dtype[0] == "i" and v >> (bits - 1) else v
    return v


class Region:
    def __init__(self, array, lo, n):
        self.array, self.lo, self.n = array, lo, n

    def points(self):
        return itertools.product(*[range(a, a + k) for a, k in zip(self.lo, self.n)])


def region(x, other=None):
    """Of an operand: an array, a slice, or a place that takes its extents from the other side."""
    if isinstance(x, Array):
        return Region(x, [0] * len(x.shape), list(x.shape))
    if isinstance(x, Region):
        return x
    o = [k for k in region(other).n if True]
    rank = len(x.at)
    o = [1] * (rank - len(o)) + o[max(0, len(o) - rank):]
    return Region(x.array, x.at, o)


def values(r):
    """The elements of a region, 0 outside, as an array without the dimensions of extent 1."""
    out = np.zeros(r.n, "float64" if "float" in r.array.dtype else "int64")
    for p in r.points():
        if all(0 <= a < n for a, n in zip(p, r.array.shape)):
            out[tuple(a - b for a, b in zip(p, r.lo))] = r.array.data[p]
    return out


class Language:
    """T."""

    def __init__(self, r):
        self.r = r
        self.queue = []

    class GemmWarpPolicy:
        Square = FullRow = FullCol = None

    def __getattr__(self, name):
        return lambda x, *more: x if not more else None  # T.int32(x) and the like

    # ---- types and tiles

    def alloc_shared(self, shape, dtype, scope=None):
        return Array(np.zeros(shape, dtype), dtype, True)

    alloc_fragment = alloc_shared

    def alloc_global(self, shape, dtype):
        return self.workspace(shape, dtype)

    def alloc_var(self, dtype, init=0):
        return init

    def reshape(self, a, shape):
        return Array(a.data.reshape(shape), a.dtype, a.on_chip)

    def view(self, a, shape, dtype):
        return Array(a.data.view(dtype).reshape(shape), dtype, a.on_chip)

    def cast(self, x, dtype):
        if dtype == "bool":
            return bool(x)
        if "int" in dtype:
            return store(int(x), dtype)
        return float(np.dtype(dtype).type(x)) if dtype != "float32" else float(np.float32(x))

    # ---- loops

    def Parallel(self, *n, **_):
        all_of = list(itertools.product(*[range(int(k)) for k in n]))
        self.r.shuffle(all_of)
        return (p if len(n) > 1 else p[0] for p in all_of)

    def serial(self, start, stop=None, step=1):
        return range(0, int(start), step) if stop is None else range(int(start), int(stop), step)

    unroll = vectorized = serial

    def Pipelined(self, n, num_stages=0):
        return range(int(n))

    def ceildiv(self, a, b):
        return -(-int(a) // int(b))

    # ---- values

    def if_then_else(self, c, a, b):
        return a if c else b

    Select = if_then_else

    def max(self, a, b):
        return a if a >= b else b

    def min(self, a, b):
        return a if a <= b else b

    def clamp(self, x, lo, hi):
        return min(max(x, lo), hi)

    def abs(self, x):
        return abs(x)

    # ---- operators on tiles

    def copy(self, src, dst, **_):
        s, d = region(src, dst), region(dst, src)
        from_, to = [k for k in s.n if k != 1], [k for k in d.n if k != 1]
        assert from_ == to, ("copy", s.n, d.n)
        v = values(s).reshape(-1)
        for x, p in zip(v, d.points()):
            if all(0 <= a < n for a, n in zip(p, d.array.shape)):
                # what lies outside of the source is 0
                d.array.data[p] = store(norm(x, s.array.dtype), d.array.dtype)
            else:
                assert not d.array.on_chip, "a copy to outside of a tile"

    def fill(self, dst, v):
        r = region(dst)
        for p in r.points():
            r.array.data[p] = store(v, r.array.dtype)

    def clear(self, dst):
        self.fill(dst, 0)

    def gemm(self, a, b, c, transpose_A=False, transpose_B=False, clear_accum=False, **_):
        x, y, r = values(region(a)), values(region(b)), region(c)
        x, y = (v.reshape([k for k in v.shape][-2:]) for v in (x, y))
        p = (x.T if transpose_A else x) @ (y.T if transpose_B else y)
        if not clear_accum:
            p = p + values(r).reshape(p.shape)
        for v, at in zip(p.reshape(-1), r.points()):
            r.array.data[at] = store(v, r.array.dtype)

    def reduce(self, src, dst, dim, clear, f, first):
        s, d = region(src), region(dst)
        v = first(values(s))
        keep = [k for k in range(v.ndim) if k != dim % v.ndim]
        v = f(v, dim)
        if not clear:
            v = f(np.stack([v.reshape(d.n), values(d)]), 0)
        assert v.size == int(np.prod(d.n)), (s.n, d.n, keep)
        for x, p in zip(v.reshape(-1), d.points()):
            d.array.data[p] = store(norm(x, d.array.dtype), d.array.dtype)

    def reduce_sum(self, s, d, dim=-1, clear=True, **_):
        self.reduce(s, d, dim, clear, lambda v, k: v.sum(k), lambda v: v)

    def reduce_max(self, s, d, dim=-1, clear=True, **_):
        self.reduce(s, d, dim, clear, lambda v, k: v.max(k), lambda v: v)

    def reduce_min(self, s, d, dim=-1, clear=True, **_):
        self.reduce(s, d, dim, clear, lambda v, k: v.min(k), lambda v: v)

    def reduce_absmax(self, s, d, dim=-1, clear=True, **_):
        self.reduce(s, d, dim, clear, lambda v, k: v.max(k), np.abs)

    def reduce_abssum(self, s, d, dim=-1, clear=True, **_):
        self.reduce(s, d, dim, clear, lambda v, k: v.sum(k), np.abs)

    def scan(self, f, src, dst, dim, reverse):
        s, d = region(src), region(src if dst is None else dst)
        v = values(s)
        v = np.flip(f(np.flip(v, dim), dim), dim) if reverse else f(v, dim)
        for x, p in zip(v.reshape(-1), d.points()):
            d.array.data[p] = store(norm(x, d.array.dtype), d.array.dtype)

    def cumsum(self, src, dst=None, dim=0, reverse=False):
        self.scan(np.cumsum, src, dst, dim, reverse)

    def cummax(self, src, dst=None, dim=0, reverse=False):
        self.scan(np.maximum.accumulate, src, dst, dim, reverse)

    def atomic_add(self, at, v):
        if isinstance(v, (Array, Region)):
            s, d = region(v), region(at, v)
            for x, p in zip(values(s).reshape(-1), d.points()):
                if all(0 <= a < n for a, n in zip(p, d.array.shape)):
                    d.array.data[p] = store(norm(d.array.data[p] + x, d.array.dtype), d.array.dtype)
        else:
            at.array[tuple(at.at)] = at + v

    def atomic_max(self, at, v):
        at.array[tuple(at.at)] = max(at, v)

    def any_of(self, x):
        return bool(np.any(values(region(x))))

    def all_of(self, x):
        return bool(np.all(values(region(x))))

    def Tensor(self, shape, dtype="float32"):
        return None

    # ---- the whole

    def macro(self, f):
        return f

    def prim_func(self, f):
        return f

    def blocks(self, *n):
        """In place of `with T.Kernel(…)`."""
        order = list(itertools.product(*[range(int(k)) for k in reversed(n)]))
        self.r.shuffle(order)
        return (p[::-1] if len(n) > 1 else p[0] for p in order)


def run(text, arrays, workspaces=None):
    """Runs main(…) of the text on arrays by name, in place."""
    kept = {}
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("with T.Kernel("):
            head, _, rest = line.partition("with T.Kernel(")
            size, _, names = rest.rstrip(":").rpartition(") as ")
            size = size.partition(", threads=")[0]
            line = "%sfor %s in T.blocks(%s):" % (head, names, size)
        if line.startswith("import tilelang"):
            continue
        lines.append(line)
    language = Language(random.Random(1))
    language.workspace = lambda shape, dtype: Array(kept.setdefault(len(kept), np.zeros(shape, dtype)), dtype, False)
    scope = {"T": language}
    exec(compile("\n".join(lines), "kernel", "exec"), scope)
    main = scope["kernel"]()
    main(**{n: Array(a, str(a.dtype), False) if isinstance(a, np.ndarray) else a for n, a in arrays.items()})
