"""gen.py -- a random tile kernel that any target must compile and run as its tile form says.

    python3 gen.py SEED            prints the kernel of that number, the same one every time

Tiles of 1 to 257, thread counts that are multiples of 32, chains of copies, fills, products,
reductions, scans, transposes and T.Parallel nests over shared tiles and fragments, in plain,
serial and pipelined loops, under conditions and in roles of one warp group.  Values stay bounded and nothing depends on a
rounding by a step (no comparison of floats, no cast to integers), so two correct compilations
agree within the tolerance of their dtype.  Seeds over 100000 have the wider grammar of wide.py, over 1000000 that
of broad.py."""

import random
import sys

NICE = (8, 16, 24, 32, 40, 48, 64, 96, 128, 160, 192, 256)
FLOATS = ("float32", "float16", "bfloat16")
BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
         "int64": 8, "int32": 4, "uint64": 8, "uint32": 4, "bool": 1, "int16": 2, "int8": 1, "uint16": 2, "uint8": 1}
ELEMENTS = 4096  # of one tile: the simulator runs every thread after every pass
SHARED_BYTES = 40 * 1024
PRODUCTS = 48 * 1024


class Tile:
    def __init__(self, name, scope, shape, dtype):
        self.name, self.scope, self.shape, self.dtype = name, scope, shape, dtype
        self.ready = False
        self.team = None  # fragments: whose registers


class Gen:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.seed = seed
        self.params = []  # (name, shape, dtype)
        self.tiles = []
        self.lines = []
        self.indent = self.top = 2  # top: where new tiles may come in
        self.team = None  # the warp group whose role is being written
        self.born = self.nrole = 0  # which role that is; 0: the block
        self.shared = 0
        self.loops = []
        self.work = self.nloop = 0
        self.integers = self.r.random() < 0.15
        self.roles = False
        self.grid = self.r.choice((1, 1, 2, 3))
        self.threads = 32 * (self.r.randint(1, 8) if self.r.random() < 0.8 else self.r.randint(1, 16))
        if self.r.random() < 0.12:
            self.roles = True
            self.threads = self.r.choice((256, 256, 320, 384))

    # ---- text ----

    def say(self, text):
        self.lines.append("    " * self.indent + text)

    def extent(self, most=257):
        r = self.r
        e = r.choice(NICE) if r.random() < 0.6 else r.randint(1, 257)
        return max(1, min(e, most))

    def shape(self, rank=2):
        if rank == 1:
            return (self.extent(),)
        a = self.extent()
        b = self.extent(max(1, ELEMENTS // a))
        return (a, b) if self.r.random() < 0.5 else (b, a)

    def dtype(self):
        return self.r.choice(("int32", "int8")) if self.integers else self.r.choice(FLOATS)

    def tile(self, scope=None, shape=None, dtype=None):
        dtype = dtype or self.dtype()
        shape = shape or self.shape(self.r.choice((1, 2, 2, 2)))
        scope = scope or self.r.choice(("shared", "fragment"))
        n = BYTES[dtype]
        for e in shape:
            n *= e
        if scope == "shared":
            if self.shared + n > SHARED_BYTES:
                return None
            self.shared += n
        t = Tile("%s%d" % ("s" if scope == "shared" else "f", len(self.tiles)), scope, shape, dtype)
        t.team = self.team if scope == "fragment" else None
        t.born = self.born
        self.tiles.append(t)
        return t

    def ready(self, rank=None, scope=None, dtype=None, shape=None):
        # Roles have no order among themselves: each keeps to tiles of its own.
        found = [t for t in self.tiles if t.ready and (t.born == self.born if self.born else t.team is None) and (rank is None or len(t.shape) == rank) and
                 (scope is None or t.scope == scope) and (dtype is None or t.dtype == dtype) and
                 (shape is None or t.shape == shape)]
        return self.r.choice(found) if found else None

    def param(self, shape, dtype):
        name = "A%d" % len(self.params)
        self.params.append((name, shape, dtype))
        return name

    # Where the block's part of a tensor starts: by block, by turn, or anywhere.
    def start(self, shape):
        r = self.r
        at, whole = [], []
        for d, e in enumerate(shape):
            terms, last = [], 0
            if d == 0 and self.grid > 1:
                terms.append("bx * %d" % e)
                last += (self.grid - 1) * e
            for var, n in self.loops:
                if r.random() < 0.4:
                    terms.append("%s * %d" % (var, e))
                    last += (n - 1) * e
            if r.random() < 0.15:
                k = r.randint(1, 5)
                terms.append(str(k))
                last += k
            at.append(" + ".join(terms) or "0")
            cut = r.choice((0, 0, 0, r.randint(0, e - 1), -r.randint(0, 9)))
            whole.append(max(1, last + e - cut))
        return ", ".join(at), tuple(whole)

    # ---- statements: each returns False when it has nothing to work on ----

    def load(self, scope=None, shape=None, dtype=None):
        # Inside a loop or condition a new tile would be unset on the other path.
        t = self.tile(scope, shape, dtype) if self.indent == self.top else self.ready()
        if not t:
            return None
        at, whole = self.start(t.shape)
        source = t.dtype if self.integers or self.r.random() < 0.8 else self.r.choice(FLOATS)
        self.say("T.copy(%s[%s], %s)" % (self.param(whole, source), at, t.name))
        t.ready = True
        return t

    def store(self, t=None):
        t = t or self.ready()
        if not t:
            return False
        # Blocks and turns write apart.
        at, whole = [], []
        for d, e in enumerate(t.shape):
            at.append("bx * %d" % e if d == 0 and self.grid > 1 else "0")
            cut = self.r.choice((0, 0, self.r.randint(0, e - 1)))
            whole.append(max(1, (self.grid if d == 0 else 1) * e - cut))
        self.say("T.copy(%s, %s[%s])" % (t.name, self.param(tuple(whole), t.dtype), ", ".join(at)))
        return True

    def fill(self):
        t = self.tile() if self.indent == self.top else self.ready()
        if not t:
            return False
        if self.r.random() < 0.5:
            self.say("T.clear(%s)" % t.name)
        else:
            self.say("T.fill(%s, %d)" % (t.name, self.r.randint(-3, 3)))
        t.ready = True
        return True

    def move(self):
        a = self.ready()
        if not a:
            return False
        if self.indent == self.top and self.r.random() < 0.7:
            dtype = a.dtype if self.integers or self.r.random() < 0.7 else self.r.choice(FLOATS)
            b = self.tile(None, a.shape, dtype)
        else:
            b = self.ready(shape=a.shape)
        if not b or a is b or (self.integers and b.dtype != a.dtype):
            return False
        if a.scope == "shared" and b.ready and self.r.random() < 0.3:
            part = ", ".join("0:%d" % self.r.randint(1, e) for e in a.shape)
            self.say("T.copy(%s[%s], %s[%s])" % (a.name, part, b.name, part))
            return True
        self.say("T.copy(%s, %s)" % (a.name, b.name))
        b.ready = True
        return True

    def gemm(self):
        r = self.r
        if self.indent == self.top:
            M, N = self.extent(), self.extent()
            N = max(1, min(N, ELEMENTS // M))
            K = max(1, min(self.extent(), PRODUCTS // (M * N), ELEMENTS // max(M, N)))
            if r.random() < 0.6 and K >= 16:
                K = K // 16 * 16
        else:
            c = self.ready(rank=2, scope="fragment")
            if not c:
                return False
            M, N, K = c.shape[0], c.shape[1], 16
        if self.work + M * N * K > 2 * PRODUCTS:
            return False
        ta, tb = r.random() < 0.25, r.random() < 0.4
        dtype = "int8" if self.integers else r.choice(FLOATS)
        accum = "int32" if self.integers else "float32"
        if self.indent > self.top:
            a = self.ready(shape=(K, M) if ta else (M, K), scope="shared", dtype=dtype)
            b = self.ready(shape=(N, K) if tb else (K, N), scope="shared", dtype=dtype)
            c = self.ready(shape=(M, N), scope="fragment", dtype=accum)
        else:
            a = self.load("shared", (K, M) if ta else (M, K), dtype)
            b = a and self.load("shared", (N, K) if tb else (K, N), dtype)
            c = self.ready(rank=2, scope="fragment", dtype=accum, shape=(M, N))
            c = b and (c or self.tile("fragment", (M, N), accum))
        if not (a and b and c):
            return False
        self.work += M * N * K
        clear = not c.ready and r.random() < 0.5
        if not c.ready and not clear:
            self.say("T.clear(%s)" % c.name)
        more = (", transpose_A=True" if ta else "") + (", transpose_B=True" if tb else "")
        more += ", clear_accum=True" if clear else ""
        if r.random() < 0.3:
            more += ", policy=T.GemmWarpPolicy.%s" % r.choice(("Square", "FullRow", "FullCol"))
        self.say("T.gemm(%s, %s, %s%s)" % (a.name, b.name, c.name, more))
        c.ready = True
        return True

    def reduce(self):
        a = self.ready(rank=2)
        if not a:
            return False
        dim = self.r.randint(0, 1)
        shape = (a.shape[1 - dim],)
        dtype = a.dtype if self.r.random() < 0.7 or self.integers else "float32"
        if self.integers and dtype == "int8":
            return False
        b = self.ready(rank=1, shape=shape, dtype=dtype)
        if self.indent == self.top and (not b or self.r.random() < 0.6):
            b = self.tile(None, shape, dtype)
        if not b:
            return False
        kinds = ("max", "min", "sum", "absmax") if self.integers else ("max", "min", "sum", "absmax", "abssum")
        kind = self.r.choice(kinds)
        clear = not b.ready or kind == "abssum" or self.r.random() < 0.6
        self.say("T.reduce_%s(%s, %s, dim=%d%s)" % (kind, a.name, b.name, dim, "" if clear else ", clear=False"))
        b.ready = True
        return True

    def scan(self):
        a = self.ready(rank=2) or self.ready(rank=1, scope="shared")
        if not a or a.dtype == "int8":
            return False
        b = a
        if self.indent == self.top and self.r.random() < 0.5:
            b = self.tile(a.scope, a.shape, a.dtype)
            if not b:
                return False
        dim = self.r.randint(0, len(a.shape) - 1)
        op = "cummax" if self.loops or self.r.random() < 0.3 else "cumsum"
        self.say("T.%s(%s%s, dim=%d%s)" % (op, a.name, "" if a is b else ", " + b.name, dim, ", reverse=True" if self.r.random() < 0.4 else ""))
        b.ready = True
        return True

    def transpose(self):
        a = self.ready(rank=2, scope="shared")
        b = a and self.ready(rank=2, scope="shared", shape=a.shape[::-1], dtype=a.dtype)
        if a and self.indent == self.top and (not b or b is a):
            b = self.tile("shared", a.shape[::-1], a.dtype)
        if not b or a is b:
            return False
        self.say("T.transpose(%s, %s)" % (a.name, b.name))
        b.ready = True
        return True

    # ---- nests ----

    # An operand of a nest over `shape`: a tile of it, a row or column of it, or a number.
    def operand(self, shape, target, i):
        r = self.r
        for _ in range(6):
            t = self.ready()
            if not t or (t is target and (self.integers or r.random() < 0.5)):
                continue
            if t is target:
                return "%s[%s]" % (t.name, ", ".join(i))
            if t.shape == shape:
                at = list(i)
                if r.random() < 0.25:
                    d = r.randint(0, len(at) - 1)
                    at[d] = "%d - %s" % (shape[d] - 1, at[d])
                elif len(at) == 2 and shape[0] == shape[1] and r.random() < 0.3:
                    at = at[::-1]
                return "%s[%s]" % (t.name, ", ".join(at))
            if len(shape) == 2 and t.shape == (shape[0],):
                return "%s[%s]" % (t.name, i[0])
            if len(shape) == 2 and t.shape == (shape[1],):
                return "%s[%s]" % (t.name, i[1])
            if len(shape) == 1 and len(t.shape) == 2 and t.shape[0] == shape[0] and t.scope == "shared":
                return "%s[%s, %d]" % (t.name, i[0], r.randint(0, t.shape[1] - 1))
            if r.random() < 0.2 and t.scope == "shared":
                return "%s[%s]" % (t.name, ", ".join("(%s) %% %d" % (i[min(d, len(i) - 1)], e) for d, e in enumerate(t.shape)))
        if self.loops and r.random() < 0.5:
            return self.loops[-1][0]
        return "%d" % r.randint(-2, 2)

    def nest(self):
        r = self.r
        if self.indent == self.top and r.random() < 0.6:
            near = self.ready()
            if near and r.random() < 0.7:
                t = self.tile(None, near.shape)
            else:
                t = self.tile()
        else:
            t = self.ready()
        if not t:
            return False
        i = ("i", "j")[: len(t.shape)]
        dtype = t.dtype
        terms = []
        for _ in range(r.randint(1, 3)):
            x = "T.cast(%s, \"%s\")" % (self.operand(t.shape, t, i), "int32" if self.integers else "float32")
            terms.append(x)
        if self.integers:
            e = terms[0]
            for x in terms[1:]:
                e = r.choice(("T.max(%s, %s)", "T.min(%s, %s)", "(%s + %s)", "(%s ^ %s)")) % (e, x)
        else:
            e = "%s * %s" % (terms[0], r.choice(("0.5", "0.25", "1.0", "-0.5")))
            for x in terms[1:]:
                e = r.choice(("T.max(%s, %s)", "T.min(%s, %s)", "%s + %s * 0.5", "%s - %s * 0.25")) % (e, x)
        if r.random() < 0.15:
            e = "T.if_then_else(%s, %s, %s)" % (self.where(i, t.shape), e, "T.cast(%d, \"%s\")" % (r.randint(-2, 2), "int32" if self.integers else "float32"))
        self.say("for %s in T.Parallel(%s):" % (", ".join(i), ", ".join(map(str, t.shape))))
        inner = "    "
        if t.ready and r.random() < 0.2:
            self.say("    if %s:" % self.where(i, t.shape))
            inner = "        "
        self.say("%s%s[%s] = T.cast(%s, \"%s\")" % (inner, t.name, ", ".join(i), e, dtype))
        t.ready = True
        return True

    def where(self, i, shape):
        r = self.r
        d = r.randint(0, len(i) - 1)
        kinds = ["%s < %d" % (i[d], r.randint(0, shape[d])), "%s %% 2 == 0" % i[d]]
        if len(i) == 2:
            kinds.append("%s >= %s" % i)
        if self.grid > 1:
            kinds.append("bx * %d + %s < %d" % (shape[d], i[d], r.randint(1, shape[d] * self.grid)))
        return r.choice(kinds)

    # ---- control ----

    def loop_var(self, letter):
        self.nloop += 1
        return "%s%d" % (letter, self.nloop)

    def inside(self, head, n):
        self.say(head)
        self.indent += 1
        before = len(self.lines)
        for _ in range(n):
            self.statement(inner=True)
        if len(self.lines) == before:
            self.say("pass")
        self.indent -= 1

    def loop(self):
        var = self.loop_var("k")
        n = self.r.randint(1, 3)
        how = self.r.choice(("T.serial(%d)", "T.serial(%d)", "range(%d)", "T.unroll(%d)")) % n
        self.loops.append((var, n))
        self.inside("for %s in %s:" % (var, how), self.r.randint(1, 3))
        self.loops.pop()
        return True

    # One group of 128 threads alone, with fragments of its own.
    def role(self):
        if self.threads < 256 or self.indent > self.top or self.team is not None:
            return False
        self.team = self.r.randint(0, self.threads // 128 - 1)
        self.nrole += 1
        self.born = self.nrole
        self.say("with T.ws(%d):" % self.team)
        self.indent += 1
        self.top = self.indent
        before = len(self.lines)
        self.load()
        for _ in range(self.r.randint(1, 4)):
            self.statement(inner=True)
        if len(self.lines) == before:
            self.say("pass")
        self.indent -= 1
        self.top = self.indent
        self.team, self.born = None, 0
        return True

    # Tiles brought in turn by turn, and what is made of them.
    def pipelined(self):
        r = self.r
        if self.indent > self.top:
            return False
        n, stages = r.randint(1, 5), r.randint(0, 4)
        gemm = r.random() < 0.6
        var = self.loop_var("p")
        if gemm:
            M, N = r.choice((16, 32, 48, 64, 24, 40)), r.choice((8, 16, 32, 48, 64, 24, 40))
            K = r.choice((16, 16, 32, 24, 8))
            if self.work + M * N * K * n > 3 * PRODUCTS:
                return False
            self.work += M * N * K * n
            dtype = "int8" if self.integers else r.choice(FLOATS)
            a = self.tile("shared", (M, K), dtype)
            b = a and self.tile("shared", (K, N), dtype)
            c = b and self.tile("fragment", (M, N), "int32" if self.integers else "float32")
            if not c:
                return False
            self.say("T.clear(%s)" % c.name)
            new = [a, b]
        else:
            a = self.tile("shared")
            c = a and self.tile("fragment", a.shape, "int32" if self.integers else "float32")
            if not c:
                return False
            self.say("T.clear(%s)" % c.name)
            new = [a]
        c.ready = True
        self.say("for %s in T.Pipelined(%d, num_stages=%d):" % (var, n, stages))
        self.indent += 1
        self.loops.append((var, n))
        for t in new:
            at, whole = self.start(t.shape)
            self.say("T.copy(%s[%s], %s)" % (self.param(whole, t.dtype), at, t.name))
            t.ready = True
        if gemm:
            self.say("T.gemm(%s, %s, %s)" % (a.name, b.name, c.name))
        else:
            i = ", ".join(("i", "j")[: len(a.shape)])
            self.say("for %s in T.Parallel(%s):" % (i, ", ".join(map(str, a.shape))))
            self.say("    %s[%s] += T.cast(%s[%s], \"%s\")" % (c.name, i, a.name, i, c.dtype))
        if r.random() < 0.3:
            self.statement(inner=True)
        self.loops.pop()
        self.indent -= 1
        return True

    def branch(self):
        conds = ["bx == 0"] if self.grid > 1 else []
        for var, n in self.loops:
            conds += ["%s == %d" % (var, self.r.randint(0, n)), "%s %% 2 == 0" % var]
        if not conds:
            return False
        self.inside("if %s:" % self.r.choice(conds), self.r.randint(1, 2))
        return True

    def statement(self, inner=False):
        kinds = [(self.load, 3), (self.fill, 1), (self.move, 3), (self.gemm, 2), (self.reduce, 3), (self.scan, 1),
                 (self.transpose, 1), (self.nest, 5)]
        if self.indent < self.top + 3:
            kinds += [(self.loop, 1), (self.branch, 1)]
        if not inner:
            kinds += [(self.pipelined, 1)]
        if self.roles and not inner:
            kinds += [(self.role, 3)]
        for _ in range(8):
            fn = self.r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
            if fn():
                return

    def text(self):
        if self.load() is None:
            self.fill()
        for _ in range(self.r.randint(2, 8)):
            self.statement()
        for t in [t for t in self.tiles if t.ready]:
            self.store(t)
        args = ", ".join("%s: T.Tensor((%s,), \"%s\")" % (n, ", ".join(map(str, s)), d) for n, s, d in self.params)
        head = ["# random kernel %s" % self.seed, "import tilelang", "import tilelang.language as T", "", "",
                "@T.prim_func", "def main(%s):" % args, "    with T.Kernel(%d, threads=%d) as bx:" % (self.grid, self.threads)]
        for t in self.tiles:
            head.append("        %s = T.alloc_%s((%s,), \"%s\")" % (t.name, t.scope, ", ".join(map(str, t.shape)), t.dtype))
        return "\n".join(head + self.lines) + "\n"


WIDE = 100000  # seeds over it: the grammar of wide.py
BROAD = 1000000  # and over this: of broad.py


def kernel(seed):
    if seed > BROAD:
        import broad

        return broad.Broad(seed).text()
    if seed > WIDE:
        import wide

        return wide.Wide(seed).text()
    return Gen(seed).text()


def knobs(text):
    """NAME=VALUE … that a kernel's text says to run it with."""
    return [w for line in text.splitlines() if line.startswith("# with: ") for w in line[8:].split()]


if __name__ == "__main__":
    sys.modules["gen"] = sys.modules["__main__"]
    sys.stdout.write(kernel(int(sys.argv[1])))
