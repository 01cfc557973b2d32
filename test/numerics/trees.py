"""Random expression trees: as text of a kernel, and as their value by reference.py."""
import random

import numpy as np

import reference as ref

FLOAT_OPS = ["+", "-", "*", "/", "//", "%", "truncmod", "max", "min"]
INT_OPS = ["+", "-", "*", "//", "%", "truncdiv", "truncmod", "<<", ">>", "&", "|", "^", "max", "min"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
FLOAT_UNARY = ["neg", "abs", "floor", "ceil", "trunc", "round", "sqrt"]
INT_UNARY = ["neg", "abs", "~"]
DTYPES = ["float16"] * 4 + ["bfloat16"] * 4 + ["float32"] * 3 + ["float64"] + ["float8_e4m3fn", "float8_e5m2"] + \
    list(ref.INTS) + ["int8", "int16", "uint8", "uint16"]
ROWS = 3  # operands of each width


class Node:
    def __init__(self, op, dtype, kids=(), data=None):
        self.op, self.dtype, self.kids, self.data = op, dtype, kids, data

    def walk(self):
        yield self
        for k in self.kids:
            yield from k.walk()

    def fuses(self):
        """a * b + c of float32 or float64, which a compiler may contract."""
        return any(n.dtype in ("float32", "float64") and n.op in ("+", "-", "fma") and
                   any(k.op in ("*", "neg") for k in n.kids) for n in self.walk())


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def leaf(self, dtype, constant=True):
        if constant and self.r.random() < 0.15:
            if dtype in ref.FLOATS:
                return Node("const", dtype, data=self.r.choice([0.0, 1.0, -2.0, 0.5, 3.0, 0.25, -0.75, 6.0, 40.0]))
            signed = dtype in ref.INTS and ref.INTS[dtype][1]
            return Node("const", dtype, data=self.r.choice([0, 1, 2, 3, 7, 15, 100] + ([-1, -8, -100] if signed else [])))
        return Node("var", dtype, data=self.r.randrange(ROWS))

    def divisor(self, dtype):
        """No constant: a constant 0, or a count past the width, is refused."""
        x = Node("var", dtype, data=self.r.randrange(ROWS))
        what = self.r.random()
        return x if what < 0.6 else Node("neg", dtype, (x,)) if what < 0.8 else \
            Node("+", dtype, (x, Node("var", dtype, data=self.r.randrange(ROWS))))

    def condition(self, depth):
        t = self.r.choice(DTYPES)
        return Node(self.r.choice(COMPARE), "bool", (self.tree(t, depth - 1), self.tree(t, depth - 1)), t)

    def tree(self, dtype, depth):
        r = self.r
        if depth <= 0:
            return self.leaf(dtype)
        floats = dtype in ref.FLOATS
        what = r.random()
        if what < 0.12:
            frm = r.choice(DTYPES)
            return Node("cast", dtype, (self.tree(frm, depth - 1),), frm)
        if what < 0.2:
            return Node("if", dtype, (self.condition(depth - 1), self.tree(dtype, depth - 1), self.tree(dtype, depth - 1)))
        if what < 0.32:
            return Node(r.choice(FLOAT_UNARY if floats else INT_UNARY), dtype, (self.tree(dtype, depth - 1),))
        if floats and what < 0.37 and dtype != "float64":
            return Node("fma", dtype, tuple(self.tree(dtype, depth - 2) for _ in range(3)))
        op = r.choice(FLOAT_OPS if floats else INT_OPS)
        right = self.divisor(dtype) if op in ("/", "//", "%", "truncdiv", "truncmod", "<<", ">>") else \
            self.tree(dtype, depth - 1)
        return Node(op, dtype, (self.tree(dtype, depth - 1), right))


# ---- as text -------------------------------------------------------------------------------------

CALLS = {"truncdiv": "T.truncdiv", "truncmod": "T.truncmod", "max": "T.max", "min": "T.min", "fma": "T.fma", "abs": "T.abs",
         "floor": "T.floor", "ceil": "T.ceil", "trunc": "T.trunc", "round": "T.round", "if": "T.if_then_else"}


def text(n):
    k = [text(x) for x in n.kids]
    if n.op == "var":
        return 'T.reinterpret(U%d[%d, i], "%s")' % (ref.bits_of(n.dtype), n.data, n.dtype)
    if n.op == "const":
        return 'T.cast(%r, "%s")' % (n.data, n.dtype)
    if n.op == "cast":
        return 'T.cast(%s, "%s")' % (k[0], n.dtype)
    if n.op == "sqrt":
        return "T.sqrt(T.abs(%s))" % k[0]
    if n.op == "neg":
        return "(-%s)" % k[0]
    if n.op == "~":
        return "(~%s)" % k[0]
    if n.op == "truncmod" and n.dtype in ref.FLOATS:
        return "T.fmod(%s, %s)" % (k[0], k[1])
    if n.op in CALLS:
        return "%s(%s)" % (CALLS[n.op], ", ".join(k))
    return "(%s %s %s)" % (k[0], n.op, k[1])


# ---- by the reference ----------------------------------------------------------------------------

class Values:
    """data: {bits: array (ROWS, N) of codes}.  unsure: elements for which -0 or 0 was left open."""
    def __init__(self, data):
        self.data = data
        self.unsure = np.zeros(next(iter(data.values())).shape[1], bool)

    def of(self, n):
        k = [self.of(x) for x in n.kids]
        if n.op == "var":
            return ref.decode(self.data[ref.bits_of(n.dtype)][n.data], n.dtype)
        if n.op == "const":
            kind = ref.F64 if n.dtype in ref.FLOATS else np.int64 if ref.INTS[n.dtype][1] else np.uint64
            return np.full(len(self.unsure), n.data, kind)
        if n.op == "cast":
            return ref.cast(k[0], n.data, n.dtype)
        if n.op == "if":
            return np.where(k[0], k[1], k[2])
        if n.op in COMPARE:
            return {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
                    "!=": np.not_equal}[n.op](k[0], k[1])
        return self.floats(n, k) if n.dtype in ref.FLOATS else self.ints(n, k)

    def floats(self, n, k):
        if n.op in ("max", "min"):
            self.unsure |= (k[0] == 0) & (k[1] == 0) & (np.signbit(k[0]) != np.signbit(k[1]))
        if n.op == "fma":
            return ref.fma(k[0], k[1], k[2], n.dtype)
        if n.op == "sqrt":
            return ref.round_float(np.sqrt(ref.round_float(np.abs(k[0]), n.dtype)), n.dtype)
        if n.op in FLOAT_UNARY:
            r = {"neg": np.negative, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
                 "round": np.rint}[n.op](k[0])
            return r if n.op == "neg" else ref.round_float(r, n.dtype)  # infinities of 8 bits
        return ref.float_binary(n.op, k[0], k[1], n.dtype)

    def ints(self, n, k):
        if n.op == "neg":
            return ref.wrap(0 - k[0], n.dtype)
        if n.op == "abs":
            return ref.wrap(np.where(k[0] < 0, 0 - k[0], k[0]), n.dtype)
        if n.op == "~":
            return ref.wrap(~k[0], n.dtype)
        return ref.int_binary(n.op, k[0], k[1], n.dtype)


# ---- operands ------------------------------------------------------------------------------------

def special_codes(dtype):
    """Zeros, subnormal numbers, numbers around powers of two, the largest, infinities, NaN."""
    ebits, mbits, _ = ref.FLOATS[dtype]
    size, one = 1 + ebits + mbits, 1 << mbits
    bias, top = (1 << (ebits - 1)) - 1, (1 << ebits) - 1
    picked = sorted({0, 1, 2, bias - mbits - 1, bias - 1, bias, bias + 1, bias + mbits, top - 1, top} & set(range(top + 1)))
    codes = {0, 1, 2, one - 1, one // 2, one // 2 + 1}
    for e in picked:
        codes |= {e * one, e * one + 1, e * one + one // 2, (e + 1) * one - 1}
    return np.array(sorted(c | s << (size - 1) for c in codes for s in (0, 1)), np.uint64)


def operand_codes(size, n, rng):
    """Every third an edge of a float of the width or of an integer, others small, the rest any bits."""
    x = rng.integers(0, 1 << 62, n, dtype=np.uint64) ^ (rng.integers(0, 1 << 62, n, dtype=np.uint64) << np.uint64(2))
    named = [d for d in ref.FLOATS if ref.bits_of(d) == size]
    edges = np.concatenate([special_codes(d) for d in named] + [
        np.array([0, 1, 2, 3, 1 << (size - 1), (1 << (size - 1)) - 1, (1 << (size - 1)) + 1, (1 << size) - 1,
                  (1 << size) - 2, size, size - 1], np.uint64)])
    kind = rng.integers(0, 6, n)
    x = np.where(kind < 2, edges[rng.integers(0, len(edges), n)], x)
    if named:  # numbers of a size people use
        d = named[rng.integers(0, len(named))]
        ebits, mbits, _ = ref.FLOATS[d]
        bias = (1 << (ebits - 1)) - 1
        e = rng.integers(bias - 2, bias + 4, n)
        m = rng.integers(0, 1 << mbits, n)
        usual = (e.astype(np.uint64) << np.uint64(mbits)) | m.astype(np.uint64) | \
            (rng.integers(0, 2, n).astype(np.uint64) << np.uint64(size - 1))
        x = np.where(kind == 2, usual, x)
    x = np.where(kind == 3, rng.integers(0, 12, n).astype(np.uint64), x)
    return (x & np.uint64((1 << size) - 1)).astype("uint%d" % size)
