"""Arithmetic on every target against reference.py, which is doc/numerics.md in numpy.

Usage: check.py TL [--trees N] [--from N] [--each N] [--pairs float16 …] [--on cpu …] [--jobs N]
Prints what differs and `N passed, M failed`; one kernel on one target is a test.

    pairs      all pairs of special values (zeros, subnormal numbers, around powers of two, the largest,
               infinities, NaN) through every binary operation
    trees      random expressions of mixed dtypes, each on 512 operand tuples
    products   float32 products: what of the operands counts
"""
import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reference as ref
import trees

TUPLES = 512
EXACT = {"cpu": "-ffp-contract=off", "cuda": "--fmad=false"}

# name: words of `tl run`
TARGETS = {
    "cpu": ["--target", "cpu"],
    "meaning": ["--target", "cpu", "--sim"],
    "sm_80": ["--target", "cuda -arch=sm_80", "--sim"],
    "sm_90a": ["--target", "cuda -arch=sm_90a", "--sim"],
    "text_80": ["--target", "cuda -arch=sm_80", "--text"],
    "text_90a": ["--target", "cuda -arch=sm_90a", "--text"],
    "gpu": ["--target", "cuda"],
}


class Test:
    """A kernel: rows of (name, node), the operands, flags of the compiler below."""
    def __init__(self, name, nodes, data, exact):
        self.name, self.nodes, self.data, self.exact = name, nodes, data, exact

    def source(self):
        n = next(iter(self.data.values())).shape[1]
        sizes = sorted({ref.bits_of(x.dtype) for x in self.nodes})
        rows = {s: [x for x in self.nodes if ref.bits_of(x.dtype) == s] for s in sizes}
        out = ["import tilelang", "import tilelang.language as T", "", "", "@T.prim_func", "def main("]
        for s in sorted(self.data):
            out.append('    U%d: T.Tensor((%d, %d), "uint%d"),' % (s, self.data[s].shape[0], n, s))
        for s in sizes:
            out.append('    O%d: T.Tensor((%d, %d), "uint%d"),' % (s, len(rows[s]), n, s))
        out.append("):")
        flags = ["-O1"] + (list(EXACT.values()) if self.exact else [])
        out.append("    T.annotate_compile_flags(%r)" % flags)
        out.append("    with T.Kernel(T.ceildiv(%d, 128), threads=128) as bx:" % n)
        for s in sizes:
            for j, x in enumerate(rows[s]):
                out += ["        for t in T.Parallel(128):", "            i = bx * 128 + t", "            if i < %d:" % n,
                        '                O%d[%d, i] = T.reinterpret(%s, "uint%d")' % (s, j, trees.text(x), s)]
        return "\n".join(out) + "\n"

    def inputs(self):
        return {"U%d" % s: d for s, d in self.data.items()}

    def outputs(self):
        return ["O%d" % s for s in sorted({ref.bits_of(x.dtype) for x in self.nodes})]

    def wrong(self, got, target):
        """Lines about what differs."""
        lines, seen = [], {}
        for x in self.nodes:
            s = ref.bits_of(x.dtype)
            j = seen[s] = seen.get(s, -1) + 1
            v = trees.Values(self.data)
            with np.errstate(all="ignore"):
                want = v.of(x)
                have = ref.decode(got["O%d" % s][j], x.dtype)
            same = want == have
            if x.dtype in ref.FLOATS:
                same = (same & (np.signbit(want) == np.signbit(have))) | (np.isnan(want) & np.isnan(have))
            bad = np.flatnonzero(~same & ~v.unsure)
            if len(bad):
                i = bad[0]
                given = {s: [hex(int(c)) for c in d[:, i]] for s, d in self.data.items()}
                lines.append("%s: %d of %d differ; [%d] is %r, not %r\n    %s\n    of %s" % (
                    self.name, len(bad), len(same), i, have[i], want[i], trees.text(x), given))
        return lines


class Product:
    """C = A @ B of float32: tensor cores take what tfloat32 holds of it, unless told to take all."""
    M, N, K = 64, 64, 64

    def __init__(self, precision):
        rng = np.random.default_rng(7)
        self.name, self.precision = "product of float32, precision %s" % precision, precision
        self.A = rng.standard_normal((self.M, self.K)).astype(np.float32)
        self.B = rng.standard_normal((self.N, self.K)).astype(np.float32)

    def source(self):
        shapes = {"m": self.M, "n": self.N, "k": self.K, "p": '"%s"' % self.precision if self.precision else None}
        return PRODUCT % shapes

    def inputs(self):
        return {"A": self.A, "B": self.B}

    def outputs(self):
        return ["C"]

    def wrong(self, got, target):
        cuts = target not in ("cpu", "meaning") and self.precision != "float32"
        a, b = ((x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) if cuts else x for x in (self.A, self.B))
        want = a.astype(np.float64) @ b.T.astype(np.float64)
        most = 2.0**-18 * (np.abs(a).astype(np.float64) @ np.abs(b).T.astype(np.float64))
        off = np.abs(got["C"] - want)
        if (off <= most).all():
            return []
        return ["%s: off by %g, more than %g" % (self.name, (off / most).max() * 2.0**-18, 2.0**-18)]


PRODUCT = """import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((%(m)d, %(k)d), "float32"), B: T.Tensor((%(n)d, %(k)d), "float32"), C: T.Tensor((%(m)d, %(n)d), "float32")):
    with T.Kernel(1, threads=128) as _:
        a = T.alloc_shared((%(m)d, %(k)d), "float32")
        b = T.alloc_shared((%(n)d, %(k)d), "float32")
        c = T.alloc_fragment((%(m)d, %(n)d), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.gemm(a, b, c, transpose_B=True, clear_accum=True, precision=%(p)s)
        T.copy(c, C)
"""


def pair_test(dtype):
    codes = trees.special_codes(dtype)
    a, b = np.repeat(codes, len(codes)), np.tile(codes, len(codes))
    size = ref.bits_of(dtype)
    data = {size: np.stack([a, b]).astype("uint%d" % size)}
    x, y = (trees.Node("var", dtype, data=i) for i in (0, 1))
    one, zero = trees.Node("const", "int8", data=1), trees.Node("const", "int8", data=0)
    nodes = [trees.Node(op, dtype, (x, y)) for op in trees.FLOAT_OPS]
    nodes += [trees.Node("if", "int8", (trees.Node(op, "bool", (x, y), dtype), one, zero)) for op in trees.COMPARE]
    product, total = trees.Node("*", dtype, (x, y)), trees.Node("+", dtype, (x, y))
    nodes += [trees.Node("if", "int8", (trees.Node(op, "bool", (product, total), dtype), one, zero)) for op in ("<", "==")]
    nodes += [trees.Node("fma", dtype, (x, y, x))] if dtype != "float64" else []
    nodes += [trees.Node("cast", t, (product,), dtype) for t in ("int8", "uint16", "int64", "float32", "float16", "bfloat16")
              if t != dtype]
    return Test("pairs of " + dtype, nodes, data, True)


def tree_tests(first, count, each):
    """Trees by number: the same numbers give the same trees."""
    tests = []
    for start in range(first, first + count, each):
        made = []
        for number in range(start, min(start + each, first + count)):
            m = trees.Maker(number)
            made.append(m.tree(m.r.choice(trees.DTYPES), m.r.choice([2, 3, 3, 4])))
        rng = np.random.default_rng(start)
        data = {s: np.stack([trees.operand_codes(s, TUPLES, rng) for _ in range(trees.ROWS)]) for s in (8, 16, 32, 64)}
        for exact in (False, True):  # what may be contracted is compiled apart, so that it is not
            some = [x for x in made if x.fuses() == exact]
            if some:
                tests.append(Test("trees %d to %d%s" % (start, start + each - 1, ", uncontracted" if exact else ""),
                                  some, data, exact))
    return tests


def run(tl, test, target, folder):
    tag = "%s-%s" % ("".join(c if c.isalnum() else "_" for c in test.name), target)
    at = {name: os.path.join(folder, "%s-%s.npy" % (tag, name)) for name in list(test.inputs()) + test.outputs()}
    path = os.path.join(folder, tag + ".py")
    with open(path, "w") as f:
        f.write(test.source())
    words = [tl, "run", path, "-q"] + TARGETS[target]
    for name, array in test.inputs().items():
        np.save(at[name], array)
        words += ["--in", "%s=%s" % (name, at[name])]
    for name in test.outputs():
        words += ["--out", "%s=%s" % (name, at[name])]
    r = subprocess.run(words, capture_output=True, text=True)
    if r.returncode:
        return ["%s on %s: %s" % (test.name, target, (r.stderr or r.stdout).strip()[:1500])]
    return ["on %s, %s" % (target, x) for x in test.wrong({n: np.load(at[n]) for n in test.outputs()}, target)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tl")
    p.add_argument("--trees", type=int, default=200)
    p.add_argument("--from", type=int, default=0, dest="first")
    p.add_argument("--each", type=int, default=50, help="trees of a kernel")
    p.add_argument("--pairs", nargs="*", default=["float16", "bfloat16"])
    p.add_argument("--on", nargs="*", default=["cpu", "meaning", "sm_80", "sm_90a", "text_80", "text_90a"])
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    tests = [Product(p) for p in (None, "tf32", "float32")]
    tests += [pair_test(d) for d in o.pairs] + tree_tests(o.first, o.trees, o.each)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(o.jobs) as pool:
        work = [(t, name) for t in tests for name in o.on]
        for lines in pool.map(lambda w: run(o.tl, w[0], w[1], folder), work):
            passed, failed = passed + (not lines), failed + bool(lines)
            for line in lines[:3]:
                print("FAIL", line)
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
