"""wide.py -- random kernels of a wider grammar than gen.py's, which it builds on.

    python3 gen.py SEED with SEED over 100000 prints one

Beside what gen.py has: arithmetic in f16, bf16, 8-bit floats and narrow integers as the dtypes have it, comparisons
of floats, casts, shifts and divisions; run-time shapes; grids of two dimensions; tensors read and written;
atomics; elements at block level; copies between tensors; views; several launches with memory between them;
if with else; pipelines of every depth, in loops too.

Two correct compilations must agree, so a decision is taken only on `exact` values: those that doc/numerics.md
fixes to the bit.  Sums of floats in no fixed order, products that may be contracted and what comes of them are not."""

import gen

INTS = ("int8", "uint8", "int16", "uint16", "int32", "int64")
EIGHTS = ("float8_e4m3fn", "float8_e5m2")
HALVES = ("float16", "bfloat16")
FAMILIES = ("floats", "floats", "halves", "ints", "eights")
ATOMIC = ("float32", "int32")


def is_int(dtype):
    return "int" in dtype


def bits(dtype):
    return 8 * gen.BYTES[dtype]


class Wide(gen.Gen):
    def __init__(self, seed):
        gen.Gen.__init__(self, seed)
        r = self.r
        self.family = r.choice(FAMILIES)
        self.integers = self.family == "ints"
        self.grid_y = r.choice((1, 1, 1, 2, 3))
        self.launches = []  # finished ones: (allocations, lines)
        self.dynamic = {}  # name: value
        self.spaces = []  # memory between launches: (name, shape, dtype, exact)
        self.locals = []
        self.launched = 0  # where the tiles of this launch begin

    # ---- tiles ----

    def dtype(self):
        r = self.r
        if self.family == "ints":
            return r.choice(INTS)
        if self.family == "halves":
            return r.choice(HALVES)
        if self.family == "eights":
            return r.choice(EIGHTS + ("float32", "float16"))
        return r.choice(gen.FLOATS)

    def tile(self, scope=None, shape=None, dtype=None):
        t = gen.Gen.tile(self, scope, shape, dtype)
        if t:
            t.exact = False
            t.view = False  # another shape of the tile it has as its root
            t.root = t
        return t

    def ready(self, rank=None, scope=None, dtype=None, shape=None):
        found = [t for t in self.tiles[self.launched:] if t.ready and
                 (t.born == self.born if self.born else t.team is None) and (rank is None or len(t.shape) == rank) and
                 (scope is None or t.scope == scope) and (dtype is None or t.dtype == dtype) and
                 (shape is None or t.shape == shape)]
        return self.r.choice(found) if found else None

    def param(self, shape, dtype):
        name = gen.Gen.param(self, shape, dtype)
        r = self.r
        if r.random() < 0.2:
            d = r.randint(0, len(shape) - 1)
            size = "N%d" % len(self.params)
            self.dynamic[size] = shape[d]
            self.params[-1] = (name, shape[:d] + (size,) + shape[d + 1:], dtype)
        return name

    # ---- where a block works ----

    def blocks(self):
        return [("bx", self.grid), ("by", self.grid_y)]

    # The start of the block's own part of a tensor, and the tensor's extents.
    def own(self, shape, cut=True):
        r = self.r
        at, whole = [], []
        if len(shape) == 1:
            turns, n = [], 1
            for var, extent in self.blocks():
                if extent > 1:
                    turns = ["(%s) * %d + %s" % (" + ".join(turns), extent, var)] if turns else [var]
                    n *= extent
            at = ["(%s) * %d" % (turns[0], shape[0]) if turns else "0"]
            whole = [n * shape[0]]
        else:
            for d, e in enumerate(shape):
                var, n = self.blocks()[d] if d < 2 else ("", 1)
                at.append("%s * %d" % (var, e) if n > 1 else "0")
                whole.append(n * e)
        if cut:
            whole = [max(1, w - r.choice((0, 0, r.randint(0, e - 1)))) for w, e in zip(whole, shape)]
        return ", ".join(at), tuple(whole)

    def start(self, shape):
        at, whole = gen.Gen.start(self, shape)
        if self.grid_y == 1 or len(shape) < 2:
            return at, whole
        at = at.split(", ")
        at[1] += " + by * %d" % shape[1]
        return ", ".join(at), whole[:1] + (whole[1] + (self.grid_y - 1) * shape[1],) + whole[2:]

    # ---- moving ----

    def load(self, scope=None, shape=None, dtype=None):
        r = self.r
        if self.indent == self.top and not (scope or shape or dtype) and r.random() < 0.15:
            return self.load_own()
        t = self.tile(scope, shape, dtype) if self.indent == self.top else self.ready()
        if not t or t.view:
            return None
        at, whole = self.start(t.shape)
        source = t.dtype
        if r.random() < 0.2 and not self.integers:
            source = r.choice(gen.FLOATS)
        elif r.random() < 0.2 and self.integers:
            source = r.choice(INTS)
        self.say("T.copy(%s[%s], %s)" % (self.param(whole, source), at, t.name))
        t.exact = True if self.indent == self.top else t.exact
        t.ready = True
        return t

    # The block's part of a tensor that the block writes back later; or memory of a launch before.
    def load_own(self):
        r = self.r
        space = r.choice(self.spaces) if self.spaces and r.random() < 0.7 else None
        if space:
            name, shape, dtype, exact = space
            t = self.tile(None, shape, dtype)
            if not t:
                return None
            at, _ = self.own(shape)
            t.exact = exact
        else:
            t = self.tile()
            if not t:
                return None
            at, whole = self.own(t.shape)
            name = self.param(whole, t.dtype)
            t.exact = True
        self.say("T.copy(%s[%s], %s)" % (name, at, t.name))
        t.ready = True
        if not space and r.random() < 0.7:
            t.back = (name, at)
        return t

    def store(self, t=None):
        r = self.r
        t = t or self.ready()
        if not t:
            return False
        if getattr(t, "back", None) and r.random() < 0.7:
            self.say("T.copy(%s, %s[%s])" % ((t.name,) + t.back))
            return True
        if t.dtype in ATOMIC and r.random() < 0.15 and t.team is None:  # every block into one place
            whole = tuple(max(1, e - r.choice((0, 0, r.randint(0, e - 1)))) for e in t.shape)
            at = ", ".join("0:%d" % e for e in t.shape)
            self.say("T.atomic_add(%s[%s], %s)" % (self.param(whole, t.dtype), at, t.name))
            return True
        at, whole = self.own(t.shape)
        self.say("T.copy(%s, %s[%s])" % (t.name, self.param(whole, t.dtype), at))
        return True

    def across(self):
        """From tensor to tensor, past the ends of both."""
        r = self.r
        shape = self.shape()
        dtype = self.dtype()
        at, whole = self.own(shape)
        _, other = self.own(shape)
        starts = at.split(", ")
        part = ", ".join("%s:%s + %d" % (s, s, e) for s, e in zip(starts, shape))
        other_dtype = dtype if r.random() < 0.7 or self.integers else r.choice(gen.FLOATS)
        source, target = self.param(whole, dtype), self.param(other, other_dtype)
        self.say("T.copy(%s[%s], %s[%s])" % (source, part, target, part))
        return True

    def fill(self):
        t = self.tile() if self.indent == self.top else self.ready()
        if not t:
            return False
        self.say("T.clear(%s)" % t.name if self.r.random() < 0.4 else "T.fill(%s, %d)" % (t.name, self.r.randint(0, 3)))
        t.exact = t.exact or self.indent == self.top
        t.ready = True
        return True

    def move(self):
        a = self.ready()
        if not a:
            return False
        if self.indent == self.top and self.r.random() < 0.7:
            dtype = a.dtype if self.r.random() < 0.7 else self.dtype()
            if is_int(dtype) != is_int(a.dtype):
                dtype = a.dtype
            b = self.tile(None, a.shape, dtype)
        else:
            b = self.ready(shape=a.shape)
        if not b or a is b or a.view or b.view:
            return False
        self.say("T.copy(%s, %s)" % (a.name, b.name))
        b.exact = a.exact and (b.exact or self.indent == self.top)
        b.ready = True
        return True

    def view(self):
        """The same shared bytes in another shape."""
        a = self.ready(scope="shared")
        if not a or self.indent > self.top or a.view or self.team is not None:
            return False
        n = 1
        for e in a.shape:
            n *= e
        divisors = [d for d in range(1, n + 1) if n % d == 0 and d <= 1024 and n // d <= 1024]
        if not divisors:
            return False
        d = self.r.choice(divisors)
        t = gen.Tile("v%d" % len(self.tiles), "shared", (d, n // d), a.dtype)
        t.ready, t.view, t.root, t.born = True, True, a, self.born
        self.tiles.append(t)
        self.say("%s = T.reshape(%s, [%d, %d])" % (t.name, a.name, d, n // d))
        a.exact = t.exact = False  # either may be written through the other
        return True

    # ---- what gen.py makes, on dtypes of this grammar ----

    def gemm(self):
        if self.family not in ("floats", "ints"):
            return False
        return gen.Gen.gemm(self)

    def reduce(self):
        a = self.ready(rank=2)
        if not a or (a.dtype not in gen.FLOATS and a.dtype not in ("int32", "int64")):
            return False
        r = self.r
        dim = r.randint(0, 1)
        dtype = a.dtype if r.random() < 0.7 or is_int(a.dtype) else "float32"
        b = self.ready(rank=1, shape=(a.shape[1 - dim],), dtype=dtype)
        if self.indent == self.top and (not b or r.random() < 0.6):
            b = self.tile(None, (a.shape[1 - dim],), dtype)
        if not b or b.view:
            return False
        kind = r.choice(("max", "min", "sum", "absmax") + (("bitand", "bitor", "bitxor") if is_int(dtype) else ("abssum",)))
        clear = not b.ready or kind == "abssum" or r.random() < 0.6
        self.say("T.reduce_%s(%s, %s, dim=%d%s)" % (kind, a.name, b.name, dim, "" if clear else ", clear=False"))
        b.exact = a.exact and clear and kind in ("max", "min", "absmax") and self.indent == self.top
        b.ready = True
        return True

    def scan(self):
        if self.family not in ("floats", "ints"):
            return False
        a = self.ready(rank=2) or self.ready(rank=1, scope="shared")
        if not a or a.view or bits(a.dtype) < 16 or (is_int(a.dtype) and bits(a.dtype) < 32):
            return False
        op = "cummax" if self.loops or self.r.random() < 0.3 else "cumsum"
        self.say("T.%s(%s, dim=%d)" % (op, a.name, self.r.randint(0, len(a.shape) - 1)))
        a.exact = False
        return True

    def transpose(self):
        a = self.ready(rank=2, scope="shared")
        if not a or a.view or self.indent > self.top:
            return False
        b = self.tile("shared", a.shape[::-1], a.dtype)
        if not b:
            return False
        self.say("T.transpose(%s, %s)" % (a.name, b.name))
        b.ready, b.exact = True, a.exact
        return True

    # ---- nests ----

    # (text, exact, dtype) of an operand at i; dtype None: a number of Python's
    def term(self, shape, target, i):
        r = self.r
        for _ in range(6):
            t = self.ready()
            if not t or (t is target and (self.integers or r.random() < 0.5)):
                continue
            if t is not target and t.root is target.root:  # elements of other threads
                continue
            same = t is target or t.shape == shape
            if same:
                at = list(i)
                if t is not target and r.random() < 0.2:
                    d = r.randint(0, len(at) - 1)
                    at[d] = "%d - %s" % (shape[d] - 1, at[d])
                return "%s[%s]" % (t.name, ", ".join(at)), t.exact, t.dtype
            if len(shape) == 2 and len(t.shape) == 1 and t.shape[0] in shape:
                return "%s[%s]" % (t.name, i[shape.index(t.shape[0])]), t.exact, t.dtype
            if r.random() < 0.2 and t.scope == "shared" and t is not target:
                at = ", ".join("(%s) %% %d" % (i[min(d, len(i) - 1)], e) for d, e in enumerate(t.shape))
                return "%s[%s]" % (t.name, at), t.exact, t.dtype
        if self.loops and r.random() < 0.3:
            return self.loops[-1][0], True, "int32"
        return str(r.randint(-3, 5)), True, None

    def integer(self, shape, t, i, depth):
        r = self.r
        if depth == 0:
            return self.term(shape, t, i)[0]
        a, b = self.integer(shape, t, i, depth - 1), self.integer(shape, t, i, depth - 1)
        form = r.choice(("(%s + %s)", "(%s - %s)", "(%s * %s)", "(%s ^ %s)", "(%s & %s)", "(%s | %s)", "T.max(%s, %s)", "T.min(%s, %s)",
                         "T.if_then_else(%s > 1, %s, 7)", "one", "one"))
        if form != "one":
            return form % (a, b)
        a = self.term(shape, t, i)
        if a[2] is None:
            return a[0]
        width = bits(a[2]) - 1
        return r.choice(("(%s // %d)" % (a[0], r.choice((1, 2, 3, 7, -3))), "(%s %% %d)" % (a[0], r.choice((1, 2, 5, 8))),
                         "(%s << %d)" % (a[0], r.randint(0, width)), "(%s >> %d)" % (a[0], r.randint(0, width)), "T.abs(%s)" % a[0],
                         "(-%s)" % a[0], "T.cast(%s, \"%s\")" % (a[0], r.choice(INTS))))

    # Operation by operation in one dtype: bits are fixed, so values may decide.
    def half(self, shape, t, i, depth):
        r = self.r
        text, exact, dtype = self.term(shape, t, i)
        if dtype != t.dtype:
            text = "T.cast(%s, \"%s\")" % (text, t.dtype)
        if depth == 0:
            return text, exact
        a, x = self.half(shape, t, i, depth - 1)
        b, y = self.half(shape, t, i, 0)
        exact = x and y
        forms = ["({0} + {1})", "({0} - {1})", "({0} * {1})", "T.max({0}, {1})", "T.min({0}, {1})"]
        if exact:
            forms.append("T.if_then_else({0} > {1}, {0}, {1})")
            forms.append("T.if_then_else({0} * {1} > T.cast(0, \"{2}\"), {0}, {1})")
        return r.choice(forms).format(a, b, t.dtype), exact

    def wide_float(self, shape, t, i, depth):
        r = self.r
        text, exact, dtype = self.term(shape, t, i)
        a = "T.cast(%s, \"float32\")" % text
        if depth == 0:
            return a, exact
        b, y = self.wide_float(shape, t, i, depth - 1)
        if exact and y and r.random() < 0.3:
            return "T.if_then_else(%s %s %s, %s, %s)" % (a, r.choice((">", "<=", "==")), b, b, a), True
        form = r.choice(("T.max(%s, %s)", "T.min(%s, %s)", "%s * 0.5 + %s * 0.25", "%s - %s * 0.25"))
        return form % (a, b), exact and y and form[0] == "T"

    def nest(self):
        r = self.r
        t = None
        if self.indent == self.top and r.random() < 0.6:
            near = self.ready()
            t = self.tile(None, near.shape if near and r.random() < 0.7 else None)
        t = t or self.ready()
        if not t:
            return False
        i = ("i", "j")[: len(t.shape)]
        depth = r.randint(1, 2)
        if is_int(t.dtype):
            e, exact = self.integer(t.shape, t, i, depth), True
        elif t.dtype in HALVES and (self.family == "halves" or r.random() < 0.3):
            e, exact = self.half(t.shape, t, i, depth)
        else:
            e, exact = self.wide_float(t.shape, t, i, depth)
        self.say("for %s in T.Parallel(%s):" % (", ".join(i), ", ".join(map(str, t.shape))))
        inner = "    "
        if t.ready and r.random() < 0.2:
            self.say("    if %s:" % self.where(i, t.shape))
            inner = "        "
            exact = exact and t.exact
        self.say("%s%s[%s] = T.cast(%s, \"%s\")" % (inner, t.name, ", ".join(i), e, t.dtype))
        t.exact = exact and not t.view and (self.indent == self.top or t.exact)
        t.ready = True
        return True

    def scatter(self):
        """Elements of a tile, added into fewer places."""
        t = self.ready(dtype=self.r.choice(ATOMIC))
        if not t or self.loops or self.team is not None:
            return False
        i = ("i", "j")[: len(t.shape)]
        n = self.r.randint(1, 40)
        kind = self.r.choice(("add", "add", "max", "min")) if t.dtype == "int32" else "add"
        self.say("for %s in T.Parallel(%s):" % (", ".join(i), ", ".join(map(str, t.shape))))
        self.say("    T.atomic_%s(%s[(%s) %% %d], %s[%s])" % (kind, self.param((n,), t.dtype), " + ".join(i), n, t.name, ", ".join(i)))
        return True

    # ---- block level ----

    def element(self):
        r = self.r
        t = self.ready(scope="shared")
        # Threads that read an element do not wait for those of a role.
        if not t or self.loops or self.indent > self.top or self.roles:
            return False
        at = ", ".join(str(r.randint(0, e - 1)) for e in t.shape)
        turn = "by * %d + bx" % self.grid
        name = self.param((self.grid * self.grid_y,), t.dtype)
        self.say("%s[%s] = %s[%s]" % (name, turn, t.name, at))
        return True

    def counter(self):
        """A scalar that changes, and what it says at the end."""
        r = self.r
        if self.indent > self.top or self.team is not None:
            return False
        name = "c%d" % len(self.lines)
        self.say("%s = T.alloc_var(\"int32\", init=%d)" % (name, r.randint(-2, 2)))
        var = self.loop_var("q")
        self.say("for %s in T.serial(%d):" % (var, r.randint(0, 6)))
        self.say("    %s = %s * 3 + %s - bx" % (name, name, var))
        t = self.ready(rank=1, scope="shared")
        if t and r.random() < 0.5:
            self.say("for i in T.Parallel(%d):" % t.shape[0])
            self.say("    %s[i] = T.cast(%s %% 5, \"%s\")" % (t.name, name, t.dtype))
            t.exact = not t.view
        else:
            self.say("%s[by * %d + bx] = %s" % (self.param((self.grid * self.grid_y,), "int32"), self.grid, name))
        return True

    def branch(self):
        r = self.r
        conds = ["bx == 0"] if self.grid > 1 else []
        conds += ["by %% 2 == %d" % r.randint(0, 1)] if self.grid_y > 1 else []
        for var, n in self.loops:
            conds += ["%s == %d" % (var, r.randint(0, n)), "%s %% 2 == 0" % var]
        if r.random() < 0.3 or not conds:
            name = self.param((self.grid,), "int32")
            conds = ["%s[bx] > 0" % name]
        self.inside("if %s:" % r.choice(conds), r.randint(1, 2))
        if r.random() < 0.4:
            self.inside("else:", r.randint(1, 2))
        return True

    # A product over parts of k that other blocks have too, added up by atomics.
    def split(self):
        r = self.r
        if self.family != "floats" or self.indent > self.top or self.grid == 1 or self.team is not None:
            return False
        M, N, K = r.choice((16, 32, 48)), r.choice((8, 16, 32)), r.choice((16, 32))
        dtype = r.choice(gen.FLOATS)
        a = self.tile("shared", (M, K), dtype)
        b = a and self.tile("shared", (K, N), dtype)
        c = b and self.tile("fragment", (M, N), "float32")
        if not c:
            return False
        steps = r.randint(1, 3)
        depth = max(1, steps * K * self.grid - r.randint(0, 2 * K))  # some blocks may lie past the end
        rows, cols = max(1, M - r.choice((0, 0, 5))), max(1, N - r.choice((0, 0, 3)))
        A, B, C = self.param((rows, depth), dtype), self.param((depth, cols), dtype), self.param((rows, cols), "float32")
        var = self.loop_var("p")
        self.say("T.clear(%s)" % c.name)
        self.say("for %s in T.Pipelined(%d, num_stages=%d):" % (var, steps, r.randint(0, 4)))
        self.say("    T.copy(%s[0, (bx * %d + %s) * %d], %s)" % (A, steps, var, K, a.name))
        self.say("    T.copy(%s[(bx * %d + %s) * %d, 0], %s)" % (B, steps, var, K, b.name))
        self.say("    T.gemm(%s, %s, %s)" % (a.name, b.name, c.name))
        self.say("T.atomic_add(%s[0:%d, 0:%d], %s)" % (C, M, N, c.name))
        a.ready = b.ready = False
        c.ready = True
        self.work += M * N * K * steps
        return True

    # Turn by turn as long as a run-time dimension says.
    def pipelined(self):
        r = self.r
        if self.family not in ("floats", "ints"):
            return False
        if r.random() < 0.6 or self.integers:
            return gen.Gen.pipelined(self)
        e = self.extent(64)
        a = self.tile("shared", (r.choice((1, 4, 8, 16)), e), self.dtype())
        c = a and self.tile("fragment", a.shape, "float32")
        if not c:
            return False
        turns = r.randint(0, 4)
        size = "N%d" % (len(self.params) + 1)
        rows = max(1, turns * a.shape[0] - r.choice((0, 1)))
        self.dynamic[size] = rows
        name = gen.Gen.param(self, (size, e), a.dtype)
        var = self.loop_var("p")
        self.say("T.clear(%s)" % c.name)
        self.say("for %s in T.Pipelined(T.ceildiv(%s, %d), num_stages=%d):" % (var, size, a.shape[0], r.randint(0, 5)))
        self.say("    T.copy(%s[%s * %d, 0], %s)" % (name, var, a.shape[0], a.name))
        self.say("    for i, j in T.Parallel(%d, %d):" % a.shape)
        self.say("        %s[i, j] += T.cast(%s[i, j], \"float32\")" % (c.name, a.name))
        c.ready = True
        return True

    # ---- the whole ----

    def statement(self, inner=False):
        kinds = [(self.load, 3), (self.fill, 1), (self.move, 3), (self.gemm, 2), (self.reduce, 3), (self.scan, 1),
                 (self.transpose, 1), (self.nest, 7)]
        if self.indent < self.top + 3:
            kinds += [(self.loop, 1), (self.branch, 1)]
        if not inner:
            kinds += [(self.pipelined, 2), (self.view, 1), (self.across, 1), (self.element, 1), (self.counter, 1),
                      (self.scatter, 1), (self.split, 1)]
        if self.roles and not inner:
            kinds += [(self.role, 3)]
        for _ in range(8):
            fn = self.r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
            if fn():
                return

    def launch(self, last):
        r = self.r
        if self.load() is None:
            self.fill()
        for _ in range(r.randint(2, 7)):
            self.statement()
        kept = [t for t in self.tiles[self.launched:] if t.ready and not t.view]
        for t in kept:
            self.store(t)
        for t in kept:
            if not last and t.team is None and r.random() < 0.5:
                at, whole = self.own(t.shape, cut=False)
                name = "W%d" % len(self.spaces)
                self.spaces.append((name, t.shape, t.dtype, t.exact))
                self.locals.append("%s = T.alloc_global((%s,), \"%s\")" % (name, ", ".join(map(str, whole)), t.dtype))
                self.say("T.copy(%s, %s[%s])" % (t.name, name, at))
        allocs = ["%s = T.alloc_%s((%s,), \"%s\")" % (t.name, t.scope, ", ".join(map(str, t.shape)), t.dtype)
                  for t in self.tiles[self.launched:] if not t.view]
        self.launches.append((allocs, self.lines))
        self.lines, self.shared, self.launched = [], 0, len(self.tiles)

    def text(self):
        n = self.r.choice((1, 1, 1, 1, 2))
        for k in range(n):
            self.launch(k == n - 1)
        args = ", ".join("%s: T.Tensor((%s,), \"%s\")" % (n, ", ".join(map(str, s)), d) for n, s, d in self.params)
        out = ["# random kernel %s" % self.seed]
        if self.dynamic:
            out.append("# with: " + " ".join("%s=%d" % v for v in self.dynamic.items()))
        out += ["import tilelang", "import tilelang.language as T", ""]
        out += ["%s = T.dynamic(\"%s\")" % (v, v) for v in self.dynamic]
        out += ["", "@T.prim_func", "def main(%s):" % args] + ["    " + s for s in self.locals]
        for allocs, lines in self.launches:
            out.append("    with T.Kernel(%d, %d, threads=%d) as (bx, by):" % (self.grid, self.grid_y, self.threads))
            out += ["        " + a for a in allocs] + lines
        return "\n".join(out) + "\n"
