"""fuzz_kernels.py -- kernels that work, and ways to break them: see fuzz.py."""

import ast
import copy
import linecache
import re
import signal

import numpy as np

import tilelang
import tilelang.language as T

KERNELS = {
    "scale": """
@T.prim_func
def main(A: T.Tensor((16, 16), "float32"), B: T.Tensor((16, 16), "float32")):
    with T.Kernel(T.ceildiv(16, 8), threads=32) as bx:
        s = T.alloc_shared((8, 16), "float32")
        f = T.alloc_fragment((8, 16), "float32")
        T.copy(A[bx * 8, 0], s)
        for i, j in T.Parallel(8, 16):
            f[i, j] = s[i, j] * 2.0 + helper(i)
        T.copy(f, B[bx * 8, 0])
""",
    "gemm": """
@T.prim_func
def main(A: T.Tensor((64, 32), "float16"), B: T.Tensor((32, 32), "float16"), C: T.Tensor((64, 32), "float32")):
    with T.Kernel(T.ceildiv(32, 32), T.ceildiv(64, 32), threads=128) as (bx, by):
        a = T.alloc_shared((32, 16), "float16")
        b = T.alloc_shared((16, 32), "float16")
        c = T.alloc_fragment((32, 32), "float32")
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(32, 16), num_stages=2):
            T.copy(A[by * 32, k * 16], a)
            T.copy(B[k * 16, bx * 32], b)
            T.gemm(a, b, c, transpose_B=False)
        T.copy(c, C[by * 32, bx * 32])
""",
    "softmax": """
@T.prim_func
def main(X: T.Tensor((8, 32), "float32"), Y: T.Tensor((8, 32), "float32")):
    with T.Kernel(2, threads=64) as bx:
        x = T.alloc_fragment((4, 32), "float32")
        m = T.alloc_fragment((4,), "float32")
        t = T.alloc_fragment((4,), "float32")
        T.copy(X[bx * 4, 0], x)
        T.reduce_max(x, m, dim=1, clear=True)
        for i, j in T.Parallel(4, 32):
            x[i, j] = T.exp(x[i, j] - m[i])
        T.reduce_sum(x, t, dim=1)
        for i, j in T.Parallel(4, 32):
            x[i, j] = x[i, j] / t[i]
        T.copy(x, Y[bx * 4, 0])
""",
    "dynamic": """
n = T.dynamic("n")

@T.prim_func
def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), s: T.int32):
    with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
        for i in T.Parallel(64):
            if bx * 64 + i < n:
                B[bx * 64 + i] = A[bx * 64 + i] + T.cast(s, "float32")
""",
    "loops": """
@T.prim_func
def main(A: T.Tensor((4, 16), "int32"), B: T.Tensor((4, 16), "int32")):
    with T.Kernel(4, threads=16) as bx:
        acc = T.alloc_local((1,), "int32")
        for i in T.Parallel(16):
            acc[0] = 0
            for k in T.serial(4):
                if k % 2 == 0:
                    acc[0] += A[k, i]
                else:
                    acc[0] = acc[0] * 3 - A[k, i] // 2
            B[bx, i] = T.max(acc[0], bx) + T.if_then_else(i > 7, 1, -i)
""",
    "macro": """
@T.macro
def twice(x, y, n):
    for i in T.Parallel(n):
        y[i] = x[i] + x[n - 1 - i]

@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        s = T.alloc_shared((64,), "float32")
        t = T.alloc_shared([SIZES[0], 2][0:1], "float32")
        T.copy(A, s)
        twice(s, t, 64)
        T.copy(t, B)
""",
    "atomic": """
@T.prim_func
def main(A: T.Tensor((128,), "int32"), H: T.Tensor((8,), "int32"), S: T.Tensor((128,), "int32")):
    with T.Kernel(1, threads=128) as bx:
        h = T.alloc_shared((8,), "int32")
        r = T.alloc_fragment((128,), "int32")
        T.fill(h, 0)
        for i in T.Parallel(128):
            T.atomic_add(h[A[i] & 7], 1)
        T.copy(h, H)
        T.copy(A, r)
        T.cumsum(r, dim=0)
        T.copy(r, S)
""",
    "transpose": """
@T.prim_func
def main(A: T.Tensor((32, 48), "float16"), B: T.Tensor((48, 32), "float16")):
    with T.Kernel(T.ceildiv(48, 16), T.ceildiv(32, 16), threads=64) as (bx, by):
        t = T.alloc_shared((16, 16), "float16")
        T.copy(A[by * 16:(by + 1) * 16, bx * 16:(bx + 1) * 16], t)
        for i, j in T.Parallel(16, 16):
            B[bx * 16 + i, by * 16 + j] = t[j, i]
""",
    "bits": """
@T.prim_func
def main(Q: T.Tensor((32, 8), "uint8"), W: T.Tensor((32, 16), "int32"), N: T.Tensor((1,), "int32")):
    with T.Kernel(2, threads=32) as bx:
        q = T.alloc_fragment((16, 8), "uint8")
        w = T.alloc_fragment((16, 16), "int32")
        T.copy(Q[bx * 16, 0], q)
        for i, j in T.Parallel(16, 16):
            w[i, j] = (T.cast(q[i, j // 2], "int32") >> (4 * (j % 2))) & 15
        T.copy(w, W[bx * 16, 0])
        if bx == 0:
            N[0] = T.min(32, 16) << 1
""",
    "lazy": """
def main(M, N, block=8, dtype="float32"):
    @T.prim_func
    def kernel(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block), threads=32) as bx:
            x = T.alloc_fragment((block, N), dtype)
            T.copy(A[bx * block, 0], x)
            for i, j in T.Parallel(block, N):
                x[i, j] = T.if_then_else(x[i, j] > 0, x[i, j], x[i, j] * TABLE["slope"])
            T.copy(x, B[bx * block, 0])
    return kernel
main = main(16, 24)
""",
    "wide": """
@T.prim_func
def main(A: T.Tensor((128, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((128, 64), "float16")):
    with T.Kernel(T.ceildiv(64, 64), T.ceildiv(128, 64), threads=128) as (bx, by):
        a = T.alloc_shared((64, 32), "float16")
        b = T.alloc_shared((64, 32), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        d = T.alloc_shared((64, 64), "float16")
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(64, 32), num_stages=3):
            T.copy(A[by * 64, k * 32], a)
            T.copy(B[bx * 64, k * 32], b)
            T.gemm(a, b, c, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
        T.copy(c, d)
        T.copy(d, C[by * 64, bx * 64])
""",
    "attention": """
@T.prim_func
def main(Q: T.Tensor((32, 16), "float16"), K: T.Tensor((64, 16), "float16"), V: T.Tensor((64, 16), "float16"), O: T.Tensor((32, 16), "float32")):
    with T.Kernel(1, threads=64) as bx:
        q = T.alloc_shared((32, 16), "float16")
        k = T.alloc_shared((32, 16), "float16")
        v = T.alloc_shared((32, 16), "float16")
        s = T.alloc_fragment((32, 32), "float32")
        p = T.alloc_fragment((32, 32), "float16")
        o = T.alloc_fragment((32, 16), "float32")
        m = T.alloc_fragment((32,), "float32")
        was = T.alloc_fragment((32,), "float32")
        l = T.alloc_fragment((32,), "float32")
        row = T.alloc_fragment((32,), "float32")
        T.copy(Q, q)
        T.fill(o, 0)
        T.fill(l, 0)
        T.fill(m, -T.infinity("float32"))
        for n in T.Pipelined(2, num_stages=1):
            T.copy(K[n * 32, 0], k)
            T.clear(s)
            T.gemm(q, k, s, transpose_B=True)
            T.copy(m, was)
            T.reduce_max(s, m, dim=1, clear=False)
            for i, j in T.Parallel(32, 32):
                s[i, j] = T.exp2((s[i, j] - m[i]) * 0.36)
            T.reduce_sum(s, row, dim=1)
            for i in T.Parallel(32):
                l[i] = l[i] * T.exp2((was[i] - m[i]) * 0.36) + row[i]
            for i, j in T.Parallel(32, 16):
                o[i, j] *= T.exp2((was[i] - m[i]) * 0.36)
            T.copy(s, p)
            T.copy(V[n * 32, 0], v)
            T.gemm(p, v, o)
        for i, j in T.Parallel(32, 16):
            o[i, j] /= l[i]
        T.copy(o, O)
""",
    "views": """
@T.prim_func
def main(A: T.Tensor((8, 32), "float32"), I: T.Tensor((8,), "int32"), B: T.Tensor((256,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((8, 32), "float32")
        f = T.alloc_fragment((256,), "float32")
        n = T.alloc_var("int32", 0)
        T.copy(A, s)
        r = T.reshape(s, (256,))
        for i in T.Parallel(256):
            f[i] = r[(i // 32 + I[i % 8]) % 8 * 32 + i % 32]
        for i in T.serial(3):
            n = n + i
            for j in T.vectorized(4):
                f[0 * 4 + j] = T.max(f[j], 0.0) + T.cast(n, "float32")
        T.copy(f, B)
""",
    "split": """
@T.prim_func
def main(A: T.Tensor((3, 64), "float32"), B: T.Tensor((64,), "float32"), P: T.Tensor((2,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64,), "float32")
        f = T.alloc_reducer((64,), "float32", op="sum", replication="all")
        t = T.alloc_fragment((64,), "float32")
        T.fill(f, 0.0)
        for k in T.serial(3):
            for i in T.Parallel(64):
                f[i] += A[k, i]
        T.finalize_reducer(f)
        T.copy(f, s)
        T.sync_threads()
        for i in T.Parallel(64):
            t[i] = s[63 - i]
        T.copy(t, B)
        m = T.alloc_fragment((1,), "float32")
        T.reduce_absmax(t, m, dim=0)
        for i in T.Parallel(2):
            P[i] = m[0] * (i + 1)
""",
    "jit": """
@tilelang.jit(out_idx=[-1])
def build(M, N, dtype="float32", block=16):
    @T.prim_func
    def kernel(A: T.Tensor((M, N), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=64) as (bx, by):
            for i, j in T.Parallel(block, block):
                if by * block + i < M and bx * block + j < N:
                    C[by * block + i, bx * block + j] = T.sigmoid(A[by * block + i, bx * block + j]) + B[bx * block + j]
    return kernel
main = build.get_tir(20, 37)
""",
}


class Odd:
    """Raises wherever it is touched."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name)

    def __index__(self):
        raise KeyError("index")

    def __call__(self, *args, **keys):
        raise OSError("called")

    def __iter__(self):
        raise BufferError("iterated")

    def __len__(self):
        return -1

    def __eq__(self, other):
        raise ArithmeticError("compared")

    __hash__ = None


class Loop:
    """An index that compiles a kernel."""

    def __index__(self):
        inner()
        return 8


def inner():
    return tilelang.compile(_small, target="sim -arch=sm_80")


@T.prim_func
def _small(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(8):
            A[i] = 1.0


def helper(x):
    return T.cast(x, "float32")


def forever(x):
    return forever(x)


def generator(x):
    yield x


ODD = {
    "helper": helper, "forever": forever, "generator": generator, "odd": Odd(), "loop": Loop(),
    "SIZES": [64, 32], "TABLE": {"slope": 0.5, 1: 2}, "np": np, "array": np.arange(4),
    "inner": inner, "cls": type("C", (), {"__index__": lambda s: 4}), "big": 1 << 70, "T": T,
    "_small": _small, "tilelang": tilelang, "text": "text\udc80", "nul": "a\0b", "inf": float("inf"),
    "lam": lambda *a: a, "nothing": None, "many": list(range(100000)),
}

NUMBERS = [0, 1, -1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 64, 65, 100, 128, 256, 1000, 1024,
           1025, 2048, 65536, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, 1 << 70,
           -(1 << 63), 0.5, -2.5, 1e30, 1e300, 1e-300, True]
DTYPES = ["float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "uint32", "int64",
          "bool", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int4", "handle", "float32x4", "float99",
          "", "main", "shared", "fragment", "e\u00e9"]
NAMES = ["A", "B", "C", "s", "t", "f", "a", "b", "c", "x", "m", "i", "j", "k", "n", "bx", "by", "acc", "r", "h",
         "q", "w", "main", "nobody", *ODD]
TNAMES = ["copy", "gemm", "clear", "fill", "Parallel", "serial", "Pipelined", "unroll", "vectorized", "Kernel",
          "alloc_shared", "alloc_fragment", "alloc_local", "alloc_var", "reduce_max", "reduce_sum", "reduce_min",
          "cumsum", "atomic_add", "exp", "exp2", "log", "sqrt", "max", "min", "abs", "cast", "if_then_else",
          "ceildiv", "Tensor", "Buffer", "dynamic", "reshape", "view", "sync_threads", "Cast", "thread_binding",
          "alloc_barrier", "annotate_layout", "use_swizzle", "print", "device_assert", "float32", "int32",
          "infinity", "shift_left", "bitwise_and", "floordiv", "nobody", "_private", "Persistent", "ws",
          "atomic_max", "any_of", "call_extern", "macro", "prim_func", "get_thread_binding", "grid", "tanh"]
KEYS = ["threads", "num_stages", "dim", "clear", "transpose_A", "transpose_B", "policy", "nobody", "dtype", "out",
        "coalesced_width", "disable_tma", "order", "stage", "prelude", "scope", "reverse", "step"]
ODD_EXPRESSIONS = ["None", "...", "lambda q: q", "[]", "()", "{}", "{'a': 1}", "'text'", "b'x'", "1j", "(1, 2)",
                   "[*SIZES]", "A[0]", "A[0, 0]", "A[0:2]", "A[::2]", "A[-1]", "main", "T", "T.Tensor", "odd",
                   "loop", "big", "forever(1)", "generator(1)", "array", "nothing", "inf", "nul", "text", "cls()",
                   "many", "not i", "i if i > 1 else j", "i and j", "-i", "~i", "i ** 2", "i / 2", "i @ j",
                   "T.float32(i)", "T.int8(300)", "(lambda: i)()", "[i for i in range(3)]", "f'{i}'",
                   "T.Tensor((4,), 'float32')", "range(3)", "T.serial(3)", "helper(helper(i))", "len(A)",
                   "A.shape", "A.shape[0]", "A.dtype", "A.nobody", "s.scope()", "np.float32(2)", "int(i)",
                   "float(i)", "bool(i)", "str(i)", "min(i, j)", "sum([i, j])", "inner()", "tilelang", "print(i)",
                   "T.max(i)", "T.infinity('float32')", "i == j", "1 < i < 3", "A is B", "i in (1, 2)", "(y := i)"]
STATEMENTS = ["T.copy(A, B)", "T.clear(A)", "return", "return 1", "break", "continue", "pass", "i = 3", "A = B",
              "del A", "global A", "raise ValueError('x')", "assert False", "assert i < 3, 'x'", "x: int = 3",
              "T.sync_threads()", "T.gemm(A, B, A)", "import os", "yield 1",
              "for q in range(3):\n    A[q] = q", "for q in T.Parallel(4):\n    A[q] = q", "class Q:\n    pass",
              "def q():\n    return q()", "with T.Kernel(1):\n    pass", "with T.Kernel(1) as z:\n    A[z] = 1",
              "try:\n    A[0] = 1\nexcept Exception:\n    pass", "A[0] = odd", "A[odd] = 0", "main(A, B)",
              "forever(A)", "for q in forever:\n    pass", "A[0], B[0] = B[0], A[0]", "A += 1", "A[0] **= 2",
              "lambda: A", "print(A)", "T.print(A)", "exec('1')", "(A[0])", "A[0] = A", "nonlocal A",
              "for q in generator(3):\n    A[q] = q", "for q in T.serial(1 << 40):\n    A[0] = q",
              "while A[0] < 3:\n    A[0] = A[0] + 1", "A[0] = inner", "T.reduce_sum(A, B, dim=0)",
              "T.reduce_max(A, B, dim=7)", "y = T.alloc_shared((1 << 20,), 'float32')", "inner()",
              "y = T.alloc_fragment((0,), 'float32')", "y = T.alloc_local((-1,), 'int8')", "T.thread_binding(3)"]


# ---- slips -------------------------------------------------------------------------------------------------


class Slips:
    """One slip each, on a tree of ast; False where there is nothing for it to change."""

    def __init__(self, rng, tree, other):
        self.rng, self.tree, self.other = rng, tree, other

    def nodes(self, kind):
        return [n for n in ast.walk(self.tree) if isinstance(n, kind)]

    def pick(self, kind):
        found = self.nodes(kind)
        return self.rng.choice(found) if found else None

    def parse(self, text):
        return ast.parse(text, mode="eval").body

    def put(self, node, new):
        """new in the place of node."""
        for parent in ast.walk(self.tree):
            for name, value in ast.iter_fields(parent):
                if value is node:
                    setattr(parent, name, new)
                    return True
                if isinstance(value, list):
                    for i, v in enumerate(value):
                        if v is node:
                            value[i] = new
                            return True
        return False

    def blocks(self):
        return [b for n in ast.walk(self.tree) for b in (getattr(n, "body", None), getattr(n, "orelse", None))
                if isinstance(b, list) and b and isinstance(b[0], ast.stmt)]

    def number(self):
        n = self.pick(ast.Constant)
        if n is None or isinstance(n.value, str):
            return False
        n.value = self.rng.choice(NUMBERS)
        return True

    def nudge(self):
        n = self.pick(ast.Constant)
        if n is None or type(n.value) is not int:
            return False
        n.value += self.rng.choice([-1, 1, 2, -2, n.value, -n.value])
        return True

    def dtype(self):
        n = self.rng.choice([c for c in self.nodes(ast.Constant) if isinstance(c.value, str)] or [None])
        if n is None:
            return False
        n.value = self.rng.choice(DTYPES)
        return True

    def name(self):
        n = self.pick(ast.Name)
        n.id = self.rng.choice(NAMES)
        return True

    def near_name(self):
        a, b = self.pick(ast.Name), self.pick(ast.Name)
        a.id = b.id
        return True

    def everywhere(self):
        a, b = self.pick(ast.Name).id, self.rng.choice(NAMES)
        for n in self.nodes(ast.Name):
            n.id = b if n.id == a else n.id
        return True

    def attribute(self):
        n = self.pick(ast.Attribute)
        n.attr = self.rng.choice(TNAMES)
        return True

    def operator(self):
        n = self.pick((ast.BinOp, ast.Compare, ast.AugAssign))
        if n is None:
            return False
        if isinstance(n, ast.Compare):
            n.ops[0] = self.rng.choice([ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.In])()
        else:
            n.op = self.rng.choice([ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift,
                                    ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor, ast.MatMult])()
        return True

    def swap_operands(self):
        n = self.pick(ast.BinOp)
        if n is None:
            return False
        n.left, n.right = n.right, n.left
        return True

    def argument_lost(self):
        n = self.pick(ast.Call)
        if n is None or not (n.args or n.keywords):
            return False
        many = n.args if n.args and (not n.keywords or self.rng.random() < 0.6) else n.keywords
        del many[self.rng.randrange(len(many))]
        return True

    def argument_more(self):
        n = self.pick(ast.Call)
        new = self.parse(self.rng.choice(ODD_EXPRESSIONS))
        if self.rng.random() < 0.5:
            n.args.insert(self.rng.randrange(len(n.args) + 1), new)
        else:
            n.keywords.append(ast.keyword(self.rng.choice(KEYS), new))
        return True

    def arguments_swapped(self):
        n = self.rng.choice([c for c in self.nodes(ast.Call) if len(c.args) > 1] or [None])
        if n is None:
            return False
        i, j = self.rng.sample(range(len(n.args)), 2)
        n.args[i], n.args[j] = n.args[j], n.args[i]
        return True

    def keyword(self):
        n = self.pick(ast.keyword)
        if n is None:
            return False
        if self.rng.random() < 0.5:
            n.arg = self.rng.choice(KEYS)
        else:
            n.value = self.parse(self.rng.choice(["0", "-1", "1", "3", "7", "31", "33", "100", "2048", "1.5", "None",
                                                  "'x'", "(32, 2)", "(8, 4, 2)", "True", "odd", "big", "[]", "i"]))
        return True

    def odd(self):
        n = self.pick(ast.expr)
        return self.put(n, self.parse(self.rng.choice(ODD_EXPRESSIONS)))

    def expression(self):
        a, b = self.pick(ast.expr), self.pick(ast.expr)
        return self.put(a, copy.deepcopy(b))

    def index(self):
        n = self.pick(ast.Subscript)
        if n is None:
            return False
        parts = list(n.slice.elts) if isinstance(n.slice, ast.Tuple) else [n.slice]
        how = self.rng.randrange(5)
        if how == 0:
            del parts[self.rng.randrange(len(parts))]
        elif how == 1:
            parts.append(self.parse(self.rng.choice(["0", "i", "-1", "1.0", "None", "odd"])))
        elif how == 2:
            self.rng.shuffle(parts)
        elif how == 3:
            i = self.rng.randrange(len(parts))
            parts[i] = ast.Slice(*[self.rng.choice([None, self.parse("2"), self.parse("i"), parts[i]
                                                    if not isinstance(parts[i], ast.Slice) else None])
                                   for _ in range(3)])
        else:
            i = self.rng.randrange(len(parts))
            if isinstance(parts[i], ast.Slice):
                return False
            parts[i] = ast.BinOp(parts[i], self.rng.choice([ast.Add(), ast.Sub(), ast.Mult()]),
                                 self.parse(self.rng.choice(["1", "8", "64", "-3", "i", "1 << 33"])))
        n.slice = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        return True

    def statement_lost(self):
        block = self.rng.choice(self.blocks())
        del block[self.rng.randrange(len(block))]
        if not block:
            block.append(ast.Pass())
        return True

    def statement_twice(self):
        block = self.rng.choice(self.blocks())
        block.insert(self.rng.randrange(len(block) + 1), copy.deepcopy(self.rng.choice(block)))
        return True

    def statements_swapped(self):
        block = self.rng.choice(self.blocks())
        i, j = self.rng.randrange(len(block)), self.rng.randrange(len(block))
        block[i], block[j] = block[j], block[i]
        return True

    def statement_moved(self):
        a, b = self.rng.choice(self.blocks()), self.rng.choice(self.blocks())
        b.insert(self.rng.randrange(len(b) + 1), copy.deepcopy(self.rng.choice(a)))
        return True

    def statement_new(self):
        block = self.rng.choice(self.blocks())
        block[self.rng.randrange(len(block)):0] = ast.parse(self.rng.choice(STATEMENTS)).body
        return True

    def statement_of_other(self):
        theirs = [n for n in ast.walk(self.other) if isinstance(n, ast.stmt)
                  and not isinstance(n, (ast.FunctionDef, ast.With))]
        block = self.rng.choice(self.blocks())
        block.insert(self.rng.randrange(len(block) + 1), copy.deepcopy(self.rng.choice(theirs)))
        return True

    def loop(self):
        n = self.pick(ast.For)
        if n is None or not isinstance(n.iter, ast.Call):
            return False
        n.iter.func = self.parse(self.rng.choice(["T.Parallel", "T.serial", "T.Pipelined", "T.unroll", "range",
                                                  "T.vectorized", "T.grid", "generator", "enumerate", "T.Persistent",
                                                  "T.Parallel", "zip", "T.thread_binding"]))
        return True

    def guarded(self):
        block = self.rng.choice(self.blocks())
        i = self.rng.randrange(len(block))
        if isinstance(block[i], ast.FunctionDef) or block is self.tree.body:
            return False
        test = self.parse(self.rng.choice(["bx < 1", "i > 3", "True", "False", "A[0] > 0", "bx", "odd", "A", "None",
                                           "T.get_thread_binding() < 16", "j == 0 and i == 1", "not A"]))
        block[i] = self.rng.choice([ast.If(test, [block[i]], []), ast.While(test, [block[i]], []),
                                    ast.If(test, [ast.Pass()], [block[i]])])
        return True

    def parameter(self):
        f = self.pick(ast.FunctionDef)
        how = self.rng.randrange(4)
        if how == 0 and f.args.args:
            del f.args.args[self.rng.randrange(len(f.args.args))]
        elif how == 1:
            f.args.args.insert(self.rng.randrange(len(f.args.args) + 1), ast.arg(
                "more", self.parse(self.rng.choice(["T.Tensor((4,), 'float32')", "T.int32", "int", "None", "3", "odd",
                                                    "T.float32", "T.ptr", "'float32'"]))))
        elif how == 2 and f.args.args:
            self.rng.choice(f.args.args).annotation = None
        else:
            self.rng.shuffle(f.args.args)
        return True

    def decorator(self):
        f = self.pick(ast.FunctionDef)
        f.decorator_list = self.rng.choice([[], [self.parse("T.macro")], [self.parse("odd")], f.decorator_list * 2,
                                            [self.parse("T.prim_func()")], [self.parse("lam")], [self.parse("3")]])
        return True


SLIPS = [v for k, v in vars(Slips).items() if k not in ("nodes", "pick", "parse", "put", "blocks") and k[0] != "_"]
TOKEN = re.compile(r"\n *|[ ]+|\w+|\"[^\"]*\"|.", re.S)
TOKENS = ["(", ")", "[", "]", ":", ",", "=", "==", "-", "*", "**", "@", ".", "lambda:", "if", "else", "for", "in",
          "not", "\n", "    ", "\t", "\\", "'", "\"", "#", "0x", "1e", "async", "await", "\x00", "\u200b", "\u03c0"]


def by_tokens(rng, text):
    """Slips that need not leave a program."""
    parts = TOKEN.findall(text)
    for _ in range(rng.randrange(1, 3)):
        i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
        how = rng.randrange(4)
        if how == 0:
            del parts[i]
        elif how == 1:
            parts.insert(i, rng.choice(TOKENS))
        elif how == 2:
            parts[i], parts[j] = parts[j], parts[i]
        else:
            parts[i] = parts[j]
    return "".join(parts)


def mutant(rng):
    names = list(KERNELS)
    text = KERNELS[rng.choice(names)]
    if rng.random() < 0.1:
        return by_tokens(rng, text)
    tree, other = ast.parse(text), ast.parse(KERNELS[rng.choice(names)])
    for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 3])):
        for _ in range(5):
            try:
                if rng.choice(SLIPS)(Slips(rng, tree, other)):
                    break
            except (IndexError, AttributeError, TypeError, ValueError):  # nothing is left of that kind
                pass
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except Exception:
        return by_tokens(rng, text)


# ---- judging ---------------------------------------------------------------------------------------------------

LIMITS = {"float16": 2e-2, "float64": 1e-6}


def differs(got, want):
    if got.dtype.kind != "f":
        return not np.array_equal(got, want)
    tol = LIMITS.get(got.dtype.name, 1e-3)
    with np.errstate(all="ignore"):
        g, w = got.astype("float64"), want.astype("float64")
        fine = w[np.isfinite(w)]
        scale = max(1.0, float(np.sqrt(np.mean(fine * fine)))) if fine.size else 1.0
        # sums in another order may overflow elsewhere: of infinite values only their number counts
        near = np.abs(g - w) <= tol * scale + tol * np.abs(w)
        return not np.all(near | ~np.isfinite(w))


def bad_exception(e):
    tag = getattr(e, "tag", None)
    if tag == "internal" or "internal error" in str(e) or type(e) is SystemError:
        return "%s: %s" % (type(e).__name__, e)
    if isinstance(e, tilelang.TileLangError) and not tag:
        return "an error without a tag: %s" % e
    return None


class TooLong(BaseException):
    pass


def too_long(number, frame):
    raise TooLong


class Round:
    def __init__(self, targets, show=False):
        self.targets, self.show = targets, show

    def run(self, rng, number):
        """(what became of it, None or what is wrong)"""
        text, name = mutant(rng), "<mutant %d>" % number
        target = rng.choice(self.targets)
        if target == "cpu" and rng.random() < 0.8 and len(self.targets) > 1:
            target = self.targets[0]  # a C compiler takes its time
        if self.show:
            print(text, target, sep="\n")
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        try:
            return self.judge(rng, text, name, target)
        finally:
            linecache.cache.pop(name)

    def judge(self, rng, text, name, target):
        space = dict(ODD, __name__="mutant")
        self.past_64 = re.search(r"\d{19}|<< 33", text)  # indices wrap, in their meaning too
        try:
            exec(compile(text, name, "exec", dont_inherit=True), space)
            kernel = tilelang.compile(space["main"], target=target)
        except Exception as e:
            if self.show:
                print("refused: %s: %s" % (type(e).__name__, e))
            return "refused", bad_exception(e)
        except SystemExit:
            return "refused", None
        if target == "cpu" and ("while" in text or "<< 40" in text):  # it may never end
            return "compiled", None
        signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, 4)  # the simulator can be interrupted
        try:
            return self.compare(rng, kernel, target, "atomic" in text or "thread_binding" in text)
        except TooLong:
            return "long", None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def arguments(self, rng, kernel):
        """None: too large, or of a type numpy has not."""
        made, dims = [], {}
        gen = np.random.default_rng(rng.randrange(1 << 30))
        shapes = {p.name: p.shape for p in getattr(kernel.prim_func, "params", ())}
        for p in kernel.params:
            try:
                t = np.dtype(str(p.dtype))
            except TypeError:
                return None
            if p.is_scalar():
                made.append(3 if t.kind in "iub" else 1.5)
                continue
            shape = [dims.setdefault(str(n), rng.choice([1, 63, 64, 65, 130])) if not isinstance(n, int) else n
                     for n in shapes.get(p.name, p.shape)]
            if min([1, *shape]) < 0 or np.prod([float(n) for n in shape]) > 1 << 18:
                return None
            x = gen.standard_normal(shape) * 4 if t.kind == "f" else gen.integers(0, 100, shape)
            made.append(x.astype(t))
        return made

    def compare(self, rng, kernel, target, by_threads):
        args = self.arguments(rng, kernel)
        if args is None:
            return "compiled", None
        want = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        got = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        try:
            kernel._core.reference(*want)
        except Exception as e:
            if self.show:
                print("no meaning: %s: %s" % (type(e).__name__, e))
            if target != "cpu":  # the simulator may see it or not, but it stands
                try:
                    kernel._core.run(*got)
                except Exception:
                    pass
            return "meaningless", bad_exception(e)
        try:
            kernel._core.run(*got)
        except Exception as e:
            tag = getattr(e, "tag", "")
            if tag == "data-race":  # blocks and threads have no order; meanings have
                return "race", None
            if tag == "out-of-bounds" and self.past_64:
                return "meaningless", None
            return "failed", "lowered for %s it fails: %s: %s" % (target, type(e).__name__, str(e)[:600])
        for p, g, w in zip(kernel.params, got, want):
            if isinstance(g, np.ndarray) and differs(g, w):
                if self.past_64:
                    return "meaningless", None
                if by_threads:  # it says what each thread does, and a CPU has one
                    return "by threads", None
                return "wrong", "for %s '%s' differs from its meaning" % (target, p.name)
        return "right", None
