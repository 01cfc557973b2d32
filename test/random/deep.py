"""deep.py -- random kernels whose every number is whole and small, so that plain.py knows the answer exactly.

What the other grammars do not draw: indices that come out of tensors of narrow types, in pipelines too; conditions in
pipelined loops; views of other shapes and types, written and read; reductions and scans along any axis of them; parts
of tiles at places that the loop says; loops in any order over tiles of different layouts; locals and loops inside of
T.Parallel; macros with tuples; launches that read what another one wrote; run-time extents and scalars; options in
pairs (stages, threads, widths, layouts)."""

import random

THREADS = (32, 64, 128, 128, 128, 160, 256)
INTS = ("int32", "int32", "int32", "int16", "int8", "uint8", "int64")
FLOATS = ("float32", "float32", "float16", "float16", "float64")
BYTES = {"int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "uint16": 2, "float32": 4, "float16": 2, "float64": 8, "uint32": 4, "bool": 1}


class Tile:
    def __init__(self, name, shape, dtype, scope, small=False):
        self.name, self.shape, self.dtype, self.scope, self.small = name, shape, dtype, scope, small
        self.ready = False
        self.root = self

    @property
    def float(self):
        return self.dtype.startswith("float")


class Deep:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.seed = seed
        self.names = 0
        self.lines, self.macros, self.params, self.head = [], [], [], []
        self.tensors = []  # (name, shape, dtype, low, high)
        self.scalars = {}
        self.written = []
        self.launch_made = []

    def say(self, line):
        self.lines.append("    " * self.indent + line)

    def name(self, letter):
        self.names += 1
        return "%s%d" % (letter, self.names)

    def extent(self, most):
        r = self.r
        return min(most, r.choice((1, 2, 3, 4, 5, 7, 8, 8, 11, 13, 16, 16, 16, 17, 24, 31, 32, 32, 33, 48, 64)))

    def shape(self, rank):
        if rank == 1:
            return (self.extent(64) if self.r.random() < 0.8 else self.r.randint(60, 140),)
        if rank == 2:
            return (self.extent(32), self.extent(40))
        s = [self.extent(5), self.extent(9), self.extent(16)]
        self.r.shuffle(s)
        return tuple(s)

    # ---- tensors

    def tensor(self, shape, dtype, low=-9, high=9):
        name = self.name("A")
        self.tensors.append((name, tuple(shape), dtype, max(low, 0) if dtype.startswith("u") else low, high))
        return name

    def dtype(self):
        return self.r.choice(INTS if self.r.random() < 0.6 else FLOATS)

    def index_tensor(self, n, high, outside=False):
        """Numbers from 0 to high, or around them."""
        dtype = self.r.choice(("int32", "int32", "int64", "int8", "uint8", "int16"))
        return self.tensor((n,), dtype, -3 if outside else 0, high + 3 if outside else high)

    # ---- tiles

    def tile(self, shape=None, dtype=None, scope=None):
        r = self.r
        shape = shape or self.shape(r.choice((1, 2, 2, 2, 3)))
        dtype = dtype or self.dtype()
        size = BYTES[dtype]
        for n in shape:
            size *= n
        if self.bytes + size > 40000:
            return None
        self.bytes += size
        t = Tile(self.name("t"), tuple(shape), dtype, scope or r.choice(("shared", "fragment")))
        # tiles are made at the top of the launch
        shape = "(%s)" % ", ".join(map(str, t.shape)) if len(t.shape) > 1 else "(%d,)" % t.shape
        self.made.append("    " * self.top + "%s = T.alloc_%s(%s, \"%s\")" % (t.name, t.scope, shape, t.dtype))
        self.tiles.append(t)
        return t

    def ready(self, **want):
        found = [t for t in self.tiles if t.root.ready and (not t.views or True) and
                 all(getattr(t, k) == v for k, v in want.items())] if False else [
                     t for t in self.tiles if t.root.ready and all(getattr(t, k) == v for k, v in want.items())]
        return self.r.choice(found) if found else None

    def set(self, t, small):
        t.root.ready = True
        for u in self.tiles:
            if u.root is t.root:
                u.small = small and u.dtype == t.dtype or u.dtype != u.root.dtype

    # ---- places

    def uniform(self):
        """Whole numbers that all threads know."""
        r = self.r
        c = ["bx", "bx", str(r.randint(0, 9))] + self.loops + list(self.uniforms)
        e = r.choice(c)
        return e if r.random() < 0.6 else "(%s %s %s)" % (e, r.choice(("+", "*", "-")), r.choice((r.choice(c), str(r.randint(1, 4)))))

    def within(self, n, over):
        """An index from 0 to n - 1; over: [(variable, extent)]."""
        r = self.r
        if n == 1:
            return "0"
        v = [x for x, e in over if e <= n]
        if v and r.random() < 0.5:
            return r.choice(v)
        v = [(x, e) for x, e in over]
        if not v or r.random() < 0.2:
            return "%s %% %d" % (self.uniform(), n)
        x, e = r.choice(v)
        how = r.randint(0, 6)
        if how == 0 and e <= n:
            return "%d - %s" % (n - 1, x)
        if how == 1:
            return "(%s * %d + %s) %% %d" % (x, r.randint(1, 7), r.choice((self.uniform(), str(r.randint(0, 5)), r.choice(v)[0])), n)
        if how == 2 and e % 2 == 0 and e // 2 <= n:
            return "%s // 2" % x
        if how == 3:
            q = r.randint(2, 5)
            return "(%s // %d + %s) %% %d" % (x, q, self.uniform(), n)
        if how == 4:
            return "T.min(%s, %d)" % (x, n - 1)
        if how == 5:
            return "(%s ^ %d) %% %d" % (x, r.choice((1, 2, 4)), n)
        return "(%s + %d) %% %d" % (x, r.randint(0, n), n)

    def around(self, n, over):
        """An index of a tensor that may lie outside, not always so."""
        r = self.r
        e = self.within(n, over)
        if r.random() < 0.6:
            return e
        k = r.randint(1, max(1, n // 2))
        if r.random() < 0.4 and any(x == e and m > k for x, m in over):
            return "%s - %d" % (e, k)  # not for all of its values: those count from the end
        return "%s + %d" % (e if e.isalnum() else "(%s)" % e, k)

    # ---- values, all int32

    def whole(self, t, at):
        e = "%s[%s]" % (t.name, at)
        if t.root.dtype != t.dtype:
            return "(T.cast(%s, \"int32\") & 63)" % e
        if t.dtype == "int32":
            return e
        if t.dtype == "bool":
            return "T.if_then_else(%s, 1, 0)" % e
        return "T.cast(%s, \"int32\")" % e

    def term(self, out, over):
        """A number of the nest that stores to `out`."""
        r = self.r
        loops = [v for v, _ in over]
        shape = tuple(e for _, e in over)
        for _ in range(4):
            kind = r.randint(0, 8)
            if kind <= 2:
                t = self.ready()
                if not t or (out and t.root is out.root):
                    continue
                if not t.small:
                    continue
                if t.scope == "fragment":
                    if t.shape == shape:
                        return self.whole(t, ", ".join(loops))
                    if len(t.shape) == 1 and len(shape) == 2 and t.shape[0] in shape and t.shape[0] > 1:
                        return self.whole(t, loops[shape.index(t.shape[0])])
                    if len(t.shape) == 2 and len(shape) == 3 and t.shape in (shape[:2], shape[1:]):
                        return self.whole(t, ", ".join(loops[:2] if t.shape == shape[:2] else loops[1:]))
                    continue
                return self.whole(t, ", ".join(self.within(n, over + self.inner) for n in t.shape))
            if kind == 3:
                d = r.choice((1, 2, 2))
                s = tuple(self.extent(40) for _ in range(d))
                dtype = self.dtype()
                name = self.tensor(s, dtype)
                return self.whole(Tile(name, s, dtype, "global"), ", ".join(self.around(n, over + self.inner) for n in s))
            if kind == 4 and self.at_top():
                n, rows = self.extent(40), r.randint(2, 20)
                index = self.index_tensor(n, rows, r.random() < 0.3)
                dtype = self.dtype()
                d = self.extent(32)
                table = Tile(self.tensor((rows, d), dtype), (rows, d), dtype, "global")
                return self.whole(table, "%s[%s], %s" % (index, self.within(n, over), self.within(d, over + self.inner)))
            if kind == 5:
                return r.choice(loops)
            if kind == 6 and self.inner:
                return self.inner[0][0]
            if kind == 7:
                return self.uniform()
        return str(r.randint(1, 9))

    def condition(self, over):
        r = self.r
        v, n = r.choice(over)
        c = ["%s < %d" % (v, r.randint(0, n)), "%s %% %d == %d" % (v, r.randint(2, 3), r.randint(0, 1)),
             "%s + %s < %d" % (v, self.uniform(), r.randint(1, n + 4)),
             "%s >= %s" % (v, self.uniform())]
        if len(over) > 1:
            c.append("%s <= %s" % (over[0][0], over[1][0]))
        e = r.choice(c)
        if r.random() < 0.3:
            e = "%s %s %s" % (e, r.choice(("and", "or")), r.choice(c))
        return e

    def sum(self, out, over, n):
        r = self.r
        e = self.term(out, over)
        for _ in range(n - 1):
            f = self.term(out, over)
            e = r.choice(("(%s + %s)", "(%s - %s)", "(%s * %s)", "T.max(%s, %s)", "T.min(%s, %s)", "(%s * 3 + %s)", "(%s & %s)", "(%s ^ %s)")) % (e, f)
            if r.random() < 0.4:  # stays far from 2^31
                e = "%s %% %d" % (e if e[0] == "(" or e[:2] == "T." else "(%s)" % e, r.randint(11, 99))
                e = "(%s)" % e
            if r.random() < 0.15:
                e = "T.if_then_else(%s, %s, %s)" % (self.condition(over), e, self.term(out, over))
        return e

    def bring(self, e, dtype):
        low = 0 if dtype.startswith("u") else 30
        e = "(%s) %% 61 - %d" % (e, low) if low else "(%s) %% 61" % e
        return e if dtype == "int32" else "T.cast(%s, \"%s\")" % (e, dtype)

    # ---- statements

    def at_top(self):
        return self.indent == self.top

    def can_new(self):
        return self.indent == self.top

    def nest(self, t=None):
        r = self.r
        new = False
        if t is None:
            if self.can_new() and r.random() < 0.5:
                t = self.tile()
                new = True
            else:
                t = self.ready()
        if not t:
            return False
        whole = not t.root.ready
        names = ["i", "j", "k"][: len(t.shape)]
        over = list(zip(names, t.shape))
        order = list(range(len(names)))
        if r.random() < 0.3:
            r.shuffle(order)
        options = r.choice(("",) * 8 + (", coalesced_width=1", ", coalesced_width=2"))
        self.say("for %s in T.Parallel(%s%s):" % (", ".join(names[o] for o in order), ", ".join(str(t.shape[o]) for o in order), options))
        self.indent += 1
        self.inner = []
        at = ", ".join(names)
        own = self.whole(t, at) if not whole and t.small else None
        pre = []
        if r.random() < 0.2:
            v = self.name("v")
            q, n = self.name("q"), r.randint(1, 5)
            self.say("%s = T.alloc_var(\"int32\", init=%d)" % (v, r.randint(0, 3)))
            self.say("for %s in T.%s(%d):" % (q, r.choice(("serial", "serial", "unroll")), n))
            self.inner = [(q, n)]
            e = self.sum(t, over, r.randint(1, 2))
            self.inner = []
            self.say("    %s = (%s * 2 + %s) %% 101" % (v, v, e))
            pre.append(v)
        if r.random() < 0.2:
            v = self.name("x")
            self.say("%s = %s" % (v, self.sum(t, over, 2)))
            pre.append(v)
        e = self.sum(t, over, r.randint(1, 3))
        for p in pre:
            e = "(%s + %s)" % (e, p)
        if own and r.random() < 0.7:
            e = "(%s %s %s)" % (e, r.choice("+-"), own)
        store = "%s[%s] = %s" % (t.name, at, self.bring(e, t.dtype))
        if not whole and r.random() < 0.35:
            self.say("if %s:" % self.condition(over))
            self.say("    " + store)
            if r.random() < 0.4:
                self.say("else:")
                self.say("    %s[%s] = %s" % (t.name, at, self.bring(self.sum(t, over, 2), t.dtype)))
        else:
            self.say(store)
        self.indent -= 1
        if t.small or whole or "if " not in self.lines[-1]:
            small = True
        # what was large and is stored under a condition stays so
        if not whole and not t.small and self.lines[-1].lstrip() != store:
            small = False
        self.set(t, small)
        return True

    def load(self, shape=None, dtype=None, scope=None):
        """A tile out of a tensor, part of which may lie outside."""
        r = self.r
        t = self.tile(shape, dtype, scope)
        if not t:
            return None
        n = [e + r.choice((0, 0, 0, 5, -3)) for e in t.shape]
        n = [max(1, k) for k in n]
        n[0] = max(1, t.shape[0] * self.grid + r.choice((0, 0, -3, 4)))
        dtype = t.dtype if r.random() < 0.7 else self.dtype()
        if t.dtype.startswith("u") and "float" in dtype:
            dtype = "int16"
        name = self.tensor(n, dtype, 0 if t.dtype.startswith("u") else -30, 30)
        if any(n[d] < t.shape[d] for d in range(1, len(n))) or r.random() < 0.5:
            at = ["bx * %d" % t.shape[0]] + ["0" if r.random() < 0.8 else str(r.randint(0, 3)) for _ in n[1:]]
            if len(at) == 1 and t.shape[0] == 1:
                at = ["bx : bx + 1"]
            if all(e == 1 for e in t.shape):
                at = ["bx * %d : bx * %d + 1" % (1, 1)] + ["0:1"] * (len(n) - 1)
        else:
            at = ["bx * %d : bx * %d + %d" % (t.shape[0], t.shape[0], t.shape[0])] + ["0:%d" % e for e in t.shape[1:]]
        option = r.choice(("",) * 6 + (", coalesced_width=1", ", disable_tma=True"))
        self.say("T.copy(%s[%s], %s%s)" % (name, ", ".join(at), t.name, option))
        self.set(t, True)
        return t

    def loads(self):
        return self.at_top() and self.load() is not None

    def part(self):
        """From a part of a tile to a part of another one."""
        r = self.r
        a = self.ready()
        if not a or not a.small or a.dtype != a.root.dtype:
            return False
        n = [r.randint(1, e) for e in a.shape]
        if all(k == 1 for k in n):
            return False
        rank = [b for b in self.tiles if b.root.ready and len(b.shape) == len(n)
                and all(e >= k for e, k in zip(b.shape, n)) and b.small and b.dtype == b.root.dtype]
        b = r.choice(rank) if rank else None
        if b is None or b.dtype.startswith("u") and not a.dtype.startswith("u") or b.scope == "fragment" == a.scope and b.root is a.root:
            return False

        def where(t):
            at = []
            for e, k in zip(t.shape, n):
                room = e - k
                lo = str(r.randint(0, room)) if room == 0 or r.random() < 0.6 else "%s %% %d" % (self.uniform(), room + 1)
                if t.scope == "fragment" and not lo.isdigit():
                    lo = str(r.randint(0, room))
                at.append("%s:%s + %d" % (lo, lo, k) if not lo.isdigit() else "%s:%d" % (lo, int(lo) + k))
            return "%s[%s]" % (t.name, ", ".join(at))

        self.say("T.copy(%s, %s)" % (where(a), where(b)))
        self.set(b, True)
        return True

    def moves(self):
        """A whole tile to a new one."""
        r = self.r
        a = self.ready()
        if not a or not a.small or not self.can_new() or a.dtype != a.root.dtype:
            return False
        dtype = r.choice((a.dtype, a.dtype, self.dtype()))
        if dtype.startswith("u") and not a.dtype.startswith("u"):
            dtype = a.dtype
        b = self.tile(a.shape, dtype)
        if not b:
            return False
        self.say("T.copy(%s, %s)" % (a.name, b.name))
        self.set(b, True)
        return True

    def views(self):
        r = self.r
        a = self.ready()
        if not a or not self.can_new() or a is not a.root:
            return False
        size = 1
        for e in a.shape:
            size *= e
        if r.random() < 0.4 and a.scope == "shared" and not a.float and a.dtype != "int64":
            dtype = r.choice(("int8", "uint8", "int16", "int32"))
            bytes_ = size * BYTES[a.dtype]
            if dtype == a.dtype or bytes_ % BYTES[dtype]:
                return False
            # as the last extent says
            last = a.shape[-1] * BYTES[a.dtype]
            if last % BYTES[dtype]:
                return False
            shape = a.shape[:-1] + (last // BYTES[dtype],)
            v = Tile(self.name("w"), shape, dtype, a.scope, True)
            self.say("%s = T.view(%s, (%s,), \"%s\")" % (v.name, a.name, ", ".join(map(str, shape)), dtype))
        else:
            div = [d for d in range(1, size + 1) if size % d == 0]
            p = r.choice(div)
            shape = r.choice(((p, size // p), (size,), (p, size // p)))
            if len(shape) == 2 and r.random() < 0.4:
                q = r.choice([d for d in range(1, shape[1] + 1) if shape[1] % d == 0])
                shape = (p, q, shape[1] // q)
            v = Tile(self.name("w"), shape, a.dtype, a.scope)
            v.small = a.small
            self.say("%s = T.reshape(%s, (%s,))" % (v.name, a.name, ", ".join(map(str, shape))))
        v.root = a
        self.tiles.append(v)
        return True

    def reduces(self):
        r = self.r
        a = self.ready()
        if not a or not a.small or len(a.shape) < 2 or a.dtype == "uint8" or a.dtype != a.root.dtype:
            return False
        d = r.randrange(len(a.shape))
        left = a.shape[:d] + a.shape[d + 1:]
        old = [b for b in self.tiles if b.root.ready and b.small and b.shape == left and b.dtype == a.dtype == b.root.dtype and b.root is not a.root]
        clear = True
        if old and r.random() < 0.5:
            b, clear = r.choice(old), r.random() < 0.5
        elif self.can_new():
            b = self.tile(left, a.dtype if r.random() < 0.8 else "float32" if a.float else "int32", "fragment" if r.random() < 0.8 else None)
        else:
            return False
        if not b:
            return False
        kind = r.choice(("sum", "max", "min", "absmax", "abssum") if clear else ("sum", "max", "min", "absmax"))
        if BYTES[a.dtype] == 1 and kind.startswith("abs"):
            kind = "max"
        if b.dtype != a.dtype and kind in ("sum", "abssum") and BYTES[a.dtype] < 4:
            kind = "max"
        self.say("T.reduce_%s(%s, %s, dim=%d%s)" % (kind, a.name, b.name, d - (len(a.shape) if r.random() < 0.3 else 0), "" if clear else ", clear=False"))
        self.set(b, kind in ("max", "min", "absmax"))
        return True

    def scans(self):
        r = self.r
        a = self.ready()
        if not a or not a.small or len(a.shape) > 2 or BYTES[a.dtype] < 4 or a.dtype == "float64" or a is not a.root or a.dtype == "int64":
            return False
        if a.scope == "fragment" and len(a.shape) == 1:
            return False
        d = r.randrange(len(a.shape))
        b = a
        if r.random() < 0.5:
            if not self.can_new():
                return False
            b = self.tile(a.shape, a.dtype, a.scope)
            if not b:
                return False
        self.say("T.%s(%s, %sdim=%d%s)" % (r.choice(("cumsum", "cummax")), a.name, "" if b is a else b.name + ", ", d, r.choice(("", ", reverse=True"))))
        self.set(b, False)
        return True

    def tames(self):
        """What has become large is made small."""
        big = [t for t in self.tiles if t.root.ready and not t.small]
        if not big:
            return False
        t = self.r.choice(big)
        names = ["i", "j", "k"][: len(t.shape)]
        self.say("for %s in T.Parallel(%s):" % (", ".join(names), ", ".join(map(str, t.shape))))
        e = "%s[%s]" % (t.name, ", ".join(names))
        e = e if t.dtype in ("int32",) else "T.cast(%s, \"int32\")" % e
        self.say("    %s[%s] = %s" % (t.name, ", ".join(names), self.bring(e, t.dtype)))
        self.set(t, True)
        return True

    def fills(self):
        r = self.r
        t = self.tile() if self.can_new() and r.random() < 0.5 else self.ready()
        if not t:
            return False
        if t.root.ready and r.random() < 0.5 and any(e > 1 for e in t.shape) and t.scope == "shared" and t.small:
            lo = [r.randrange(e) for e in t.shape]
            at = ", ".join("%d:%d" % (a, r.randint(a + 1, e)) for a, e in zip(lo, t.shape))
            self.say("T.fill(%s[%s], %d)" % (t.name, at, r.randint(0, 30)))
        else:
            self.say("T.fill(%s, %d)" % (t.name, r.randint(0, 30)))
        self.set(t, True)
        return True

    def bins(self):
        r = self.r
        if not self.at_top():
            return False
        b = self.tile((r.randint(1, 40),), r.choice(("int32", "float32")), "shared")
        if not b:
            return False
        self.say("T.fill(%s, %d)" % (b.name, r.randint(-3, 3)))
        self.set(b, True)
        shape = self.shape(r.choice((1, 2)))
        over = list(zip("ij", shape))
        self.say("for %s in T.Parallel(%s):" % (", ".join("ij"[: len(shape)]), ", ".join(map(str, shape))))
        self.indent += 1
        if r.random() < 0.4:
            self.say("if %s:" % self.condition(over))
            self.indent += 1
        self.inner = []
        v = self.bring(self.sum(b, over, 2), b.dtype)
        k = "(%s) %% %d" % (self.sum(b, over, 1), b.shape[0])
        kind = "add" if b.float or r.random() < 0.6 else "max"
        self.say("T.atomic_%s(%s[%s], %s)" % (kind, b.name, k, v))
        self.indent = self.top
        b.small = False
        return True

    # ---- products

    def gemm(self):
        r = self.r
        if not self.at_top():
            return False
        M, N, K = r.choice((16, 32, 64)), r.choice((8, 16, 24, 32)), r.choice((16, 32))
        dtype = r.choice(("float16", "float16", "float32", "int8"))
        ta, tb = r.random() < 0.3, r.random() < 0.5
        a = self.load((K, M) if ta else (M, K), dtype, "shared")
        b = a and self.load((N, K) if tb else (K, N), dtype, "shared")
        c = b and self.tile((M, N), "int32" if dtype == "int8" else "float32", "fragment")
        if not c:
            return False
        if r.random() < 0.4:
            self.nest(a)
        self.say("T.clear(%s)" % c.name)
        more = (", transpose_A=True" if ta else "") + (", transpose_B=True" if tb else "")
        more += r.choice(("", "", ", policy=T.GemmWarpPolicy.FullRow", ", policy=T.GemmWarpPolicy.FullCol"))
        self.say("T.gemm(%s, %s, %s%s)" % (a.name, b.name, c.name, more))
        self.set(c, False)
        self.tames()
        return True

    def pipeline(self):
        """A loop with stages: what it brings may hang on what it reads."""
        r = self.r
        if not self.at_top():
            return False
        k, n, stages = self.name("p"), r.randint(1, 6), r.randint(0, 4)
        rows, d = r.choice((8, 16, 16, 32)), r.choice((8, 16, 16, 24, 32, 40))
        use = r.choice(("gemm", "sum", "sum", "rows"))
        if use == "gemm":
            d = r.choice((16, 32))
        dtype = r.choice(("float16", "float16", "float32", "int8", "int32")) if use != "gemm" else r.choice(("float16", "float32", "int8"))
        s = self.tile((rows, d), dtype, "shared")
        acc_type = "int32" if not s or not s.float else "float32"
        N = r.choice((16, 32))
        if use == "gemm":
            acc = s and self.tile((rows if rows >= 16 else 16, N), acc_type, "fragment")
            if s and rows < 16:
                return False
        elif use == "sum":
            acc = s and self.tile((rows, d), acc_type, r.choice(("fragment", "fragment", "shared")))
        else:
            acc = s and self.tile((rows,), acc_type, "fragment")
        if not acc:
            return False
        w = self.load((d, N), dtype, "shared") if use == "gemm" else None
        if use == "gemm" and not w:
            return False
        self.say("T.fill(%s, %d)" % (acc.name, r.choice((0, 0, 3))))
        table_rows = rows * n + r.choice((0, -3, 4))
        table = self.tensor((max(table_rows, 1), d + r.choice((0, 0, 0, 8, -3))), dtype, -7, 7)
        how = r.choice(("plain", "page", "gather", "gather_tile", "gather_tile", "mask"))
        idx = None
        if how in ("gather_tile", "mask"):
            idx = self.tile((rows,), r.choice(("int32", "int32", "int64", "int16")), r.choice(("fragment", "shared")))
            if not idx:
                return False
        index = self.index_tensor(rows * n if how != "page" else n, table_rows if how != "page" else n, how != "page" and r.random() < 0.5)
        mask = self.tensor((n,), r.choice(("int32", "int8")), -2, 4)
        count = str(n) if r.random() < 0.6 else self.scalar(0, n)
        self.say("for %s in T.Pipelined(%s, num_stages=%d):" % (k, count, stages))
        self.indent += 1
        conditional = r.random() < 0.35
        leaves = False
        if leaves and r.random() < 0.5:
            self.say("if %s[%s] == 3:" % (mask, k))
            self.say("    %s" % r.choice(("break", "continue")))
        if conditional:
            self.say("if %s:" % r.choice(("%s[%s] > 0" % (mask, k), "%s %% 2 == 0" % k, "%s < bx + 1" % k, "%s[%s] != 0 and %s > 0" % (mask, k, k))))
            self.indent += 1
        if how == "plain":
            self.say("T.copy(%s[%s * %d, 0], %s)" % (table, k, rows, s.name))
        elif how == "page":
            self.say("page = %s[%s]%s" % (index, k, r.choice(("", " %% %d" % n))))
            self.say("T.copy(%s[page * %d, 0], %s)" % (table, rows, s.name))
        elif how == "gather":
            self.say("for i, j in T.Parallel(%d, %d):" % (rows, d))
            self.say("    %s[i, j] = %s[%s[%s * %d + i], j]" % (s.name, table, index, k, rows))
        elif how == "gather_tile":
            if r.random() < 0.5:
                self.say("T.copy(%s[%s * %d], %s)" % (index, k, rows, idx.name))
            else:
                self.say("for i in T.Parallel(%d):" % rows)
                self.say("    %s[i] = %s" % (idx.name, r.choice(("%s[%s * %d + i]", "T.max(%s[%s * %d + i], 1)", "%s[%s * %d + i] // 2")) % (index, k, rows)))
            self.say("for i, j in T.Parallel(%d, %d):" % (rows, d))
            self.say("    %s[i, j] = %s[%s[i], j]" % (s.name, table, idx.name))
        else:
            self.say("for i in T.Parallel(%d):" % rows)
            self.say("    %s[i] = %s[%s * %d + i]" % (idx.name, index, k, rows))
            self.say("for i, j in T.Parallel(%d, %d):" % (rows, d))
            self.say("    %s[i, j] = T.if_then_else(%s[i] %% 2 == 0, %s[%s * %d + i, j], 0)" % (s.name, idx.name, table, k, rows))
        if use == "gemm":
            self.say("T.gemm(%s, %s, %s)" % (s.name, w.name, acc.name))
        elif use == "rows":
            kind = r.choice(("sum", "max"))
            self.say("T.reduce_%s(%s, %s, dim=1, clear=False)" % (kind, s.name, acc.name))
            if s.dtype != acc.dtype:
                self.lines.pop()
                self.say("for i in T.Parallel(%d):" % rows)
                self.say("    for q in T.serial(%d):" % d)
                self.say("        %s[i] += %s[i, q]" % (acc.name, s.name))
        else:
            self.say("for i, j in T.Parallel(%d, %d):" % (rows, d))
            self.say("    %s[i, j] = %s[i, j] * %d %s T.cast(%s[i, j], \"%s\")%s" %
                     (acc.name, acc.name, r.choice((1, 1, -1)), r.choice("+-"), s.name, acc_type, " * (%s + 1)" % k if not s.float else ""))
        if idx and r.random() < 0.4:
            e = self.ready(shape=(rows,), dtype="int32", scope="fragment")
            if e and e.small and e is not idx:
                self.say("for i in T.Parallel(%d):" % rows)
                self.say("    %s[i] = (%s[i] + T.cast(%s[i], \"int32\")) %% 61 - 30" % (e.name, e.name, idx.name))
        if conditional:
            self.indent -= 1
            if r.random() < 0.4:
                self.say("else:")
                names = "i, j" if len(acc.shape) == 2 else "i"
                self.say("    for %s in T.Parallel(%s):" % (names, ", ".join(map(str, acc.shape))))
                self.say("        %s[%s] -= 1" % (acc.name, names))
        if leaves and not conditional and r.random() < 0.5:
            self.say("if %s[%s] == 2:" % (mask, k))
            self.say("    break")
        self.indent -= 1
        self.set(acc, False)
        self.tames()
        return True

    def reload(self):
        """What a tile held is gone: it is brought again."""
        r = self.r
        t = self.ready()
        if not t or t.dtype != t.root.dtype or all(e == 1 for e in t.shape):
            return False
        k = self.uniform()
        dtype = t.dtype if r.random() < 0.8 else self.dtype()
        if t.dtype.startswith("u"):
            dtype = t.dtype
        name = self.tensor((3 * t.shape[0],) + t.shape[1:], dtype, 0 if t.dtype.startswith("u") else -30, 30)
        at = ["%s %% 3 * %d" % (k, t.shape[0])] + ["0"] * (len(t.shape) - 1)
        if t.shape[0] == 1:
            at = ["%s %% 3 : %s %% 3 + 1" % (k, k)] + ["0:%d" % e for e in t.shape[1:]]
        self.say("T.copy(%s[%s], %s)" % (name, ", ".join(at), t.name))
        self.set(t, True)
        return True

    def again(self):
        """A product of tiles that are there."""
        r = self.r
        for _ in range(4):
            a = self.ready(scope="shared")
            if not a or len(a.shape) != 2 or not a.small or a.dtype not in ("float16", "int8", "float32") \
                    or a.dtype != a.root.dtype or a.shape[0] % 16 or a.shape[1] % 16:
                continue
            bs = [b for b in self.tiles if b.scope == "shared" and b.root.ready and b.small
                  and b.dtype == a.dtype == b.root.dtype and len(b.shape) == 2 and b.shape[0] == a.shape[1] and b.shape[1] % 8 == 0]
            cs = [c for c in self.tiles if c.scope == "fragment" and c.root.ready and c.small and c is c.root
                  and c.dtype == ("int32" if a.dtype == "int8" else "float32") and len(c.shape) == 2]
            for b in bs:
                for c in cs:
                    if c.shape == (a.shape[0], b.shape[1]):
                        self.say("T.gemm(%s, %s, %s%s)" % (a.name, b.name, c.name, r.choice(("", "", ", clear_accum=True"))))
                        self.set(c, False)
                        self.tames()
                        return True
        return False

    def stores(self):
        """A tile to a tensor of its own, wherever that stands."""
        r = self.r
        t = self.ready()
        if not t or t.dtype != t.root.dtype or all(e == 1 for e in t.shape) or not t.small:
            return False
        name = self.name("R")
        self.tensors.append((name, (self.grid * 3,) + t.shape, t.dtype, 0, 0))
        self.say("T.copy(%s, %s[bx * 3 + %s %% 3, %s])" % (t.name, name, self.uniform(), ", ".join("0" for _ in t.shape)))
        return True

    def scalar(self, low, high):
        name = self.name("n")
        self.scalars[name] = self.r.randint(low, high)
        return name

    # ---- control

    def inside(self, head, n):
        self.say(head)
        self.indent += 1
        was, flags = len(self.lines), [(t, t.small, t.root.ready) for t in self.tiles]
        for _ in range(n):
            self.statement()
        if len(self.lines) == was:
            self.fill_some()
        self.indent -= 1
        for t, small, _ in flags:
            t.small = t.small and small

    def fill_some(self):
        t = self.ready()
        if t:
            self.say("T.fill(%s, 2)" % t.name)
        else:
            self.say("pass")

    def loop(self):
        r = self.r
        if len(self.loops) > 1:
            return False
        for t in [t for t in self.tiles if t.root.ready and not t.small]:
            self.tames()
        k = self.name("k")
        kind = r.randint(0, 6)
        before = len(self.tiles)
        if kind == 0:
            head = "for %s in T.serial(%d, %d, %d):" % (k, r.randint(0, 2), r.randint(1, 5), r.randint(1, 3))
        elif kind == 1:
            head = "for %s in T.serial(%d, %d, -%d):" % (k, r.randint(1, 4), r.randint(-1, 1), r.randint(1, 2))
        elif kind == 2:
            head = "for %s in (%s):" % (k, ", ".join(str(r.randint(0, 5)) for _ in range(r.randint(2, 3))))
        elif kind == 3:
            head = "for %s in T.unroll(%d):" % (k, r.randint(1, 3))
        elif kind == 4:
            m = self.index_tensor(self.grid, 4)
            head = "for %s in T.serial(%s[bx]):" % (k, m)
        elif kind == 5:
            m = self.index_tensor(self.grid, 4)
            self.say("%s = T.alloc_var(\"int32\", init=%s)" % (k, r.choice(("%s[bx]" % m, "0", "1"))))
            head = "while %s < 3:" % k
        else:
            head = "for %s in T.serial(%s):" % (k, self.scalar(0, 4))
        if kind != 5:
            self.loops.append(k)
        was = len(self.lines)
        self.loop_body(head, r.randint(1, 3), "%s += 1" % k if kind == 5 else None)
        if kind != 5:
            self.loops.pop()
        return True

    def loop_body(self, head, n, last):
        r = self.r
        self.say(head)
        self.indent += 1
        was = len(self.lines)
        for _ in range(n):
            self.statement()
            while any(t.root.ready and not t.small for t in self.tiles):
                self.tames()
        if last:
            self.say(last)
        elif r.random() < 0.5 and self.loops and " in (" not in head:
            self.say("if %s == %s:" % (self.loops[-1], self.uniform()))
            self.say("    %s" % r.choice(("break", "break", "continue")))
            if r.random() < 0.7:
                self.statement()
                while any(t.root.ready and not t.small for t in self.tiles):
                    self.tames()
        if len(self.lines) == was:
            self.fill_some()
        self.indent -= 1

    def branch(self):
        r = self.r
        if self.indent > self.top + 2:
            return False
        while any(t.root.ready and not t.small for t in self.tiles):
            self.tames()
        m = self.index_tensor(self.grid, 4)
        c = r.choice(("%s[bx] > %d" % (m, r.randint(0, 3)), "bx %% 2 == %d" % r.randint(0, 1), "%s > %d" % (self.uniform(), r.randint(0, 3))))
        self.branch_body("if %s:" % c)
        if r.random() < 0.3:
            self.branch_body("elif %s[bx] == %d:" % (m, r.randint(0, 2)))
        if r.random() < 0.5:
            self.branch_body("else:")
        return True

    def branch_body(self, head):
        self.loop_body_plain(head)

    def loop_body_plain(self, head):
        self.say(head)
        self.indent += 1
        was = len(self.lines)
        for _ in range(self.r.randint(1, 2)):
            self.statement()
            while any(t.root.ready and not t.small for t in self.tiles):
                self.tames()
        if len(self.lines) == was:
            self.fill_some()
        self.indent -= 1

    def names_value(self):
        """A name for a number that all threads know."""
        r = self.r
        if not self.at_top():
            return False
        v = self.name("u")
        if r.random() < 0.5:
            m = self.index_tensor(self.grid, 9)
            self.say("%s = %s[bx]" % (v, m))
            if r.random() < 0.5:
                self.lines.pop()
                self.say("%s = T.cast(%s[bx], \"int32\") * 2 + bx" % (v, m))
        else:
            self.say("%s = %s" % (v, self.uniform()))
        self.uniforms.append(v)
        return True

    def macro(self):
        """With a tuple of tiles; gives back numbers."""
        r = self.r
        a = self.ready()
        if not a or not a.small or a.dtype != a.root.dtype:
            return False
        same = [b for b in self.tiles if b.root.ready and b.small and b.dtype == b.root.dtype and b.shape == a.shape and b.root is not a.root]
        if not same:
            return False
        b = r.choice(same)
        f = self.name("macro")
        i = ", ".join(["i", "j", "k"][: len(a.shape)])
        n = ", ".join("n[%d]" % d for d in range(len(a.shape))) if len(a.shape) > 1 else "n[0]"
        self.macros += ["@T.macro", "def %s(pair, n, c):" % f, "    t, u = pair",
                        "    for %s in T.Parallel(%s):" % (i, n),
                        "        t[%s] = T.cast((T.cast(t[%s], \"int32\") * c + T.cast(u[%s], \"int32\")) %% 61%s, \"%s\")" %
                        (i, i, i, "" if a.dtype.startswith("u") else " - 30", a.dtype),
                        "    return c + 1, c * 2 - %d" % r.randint(0, 3), "", ""]
        x, y = self.name("y"), self.name("y")
        call = "%s((%s, %s), (%s,), %s)" % (f, a.name, b.name, ", ".join(map(str, a.shape)), r.choice(("bx", "2", "bx + 1", "3")))
        self.say("%s, %s = %s" % (x, y, call))
        if self.at_top():
            self.uniforms += [x, y]
        self.set(a, True)
        return True

    def statement(self):
        r = self.r
        kinds = [(self.nest, 5), (self.part, 2), (self.reduces, 2), (self.scans, 1), (self.tames, 1),
                 (self.fills, 0.5), (self.macro, 0.7), (self.reload, 1), (self.again, 3), (self.stores, 1)]
        if self.indent <= self.top + 1:
            kinds += [(self.loop, 1.2), (self.branch, 1)]
        if self.at_top():
            kinds += [(self.loads, 2), (self.moves, 1), (self.views, 1.5), (self.gemm, 1.2), (self.pipeline, 1.6), (self.bins, 0.5), (self.names_value, 0.7)]
        for _ in range(4):
            if r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]():
                return

    # ---- the whole

    def result(self, t):
        r = self.r
        shape = (self.grid,) + t.shape
        extents = list(shape)
        if r.random() < 0.2 and extents[-1] > 1:
            extents[-1] -= 1
        name = self.name("R")
        self.tensors.append((name, tuple(extents), t.dtype, 0, 0))
        if r.random() < 0.6 and any(e > 1 for e in t.shape):
            self.say("T.copy(%s, %s[bx, %s])" % (t.name, name, ", ".join("0" for _ in t.shape)))
            if r.random() < 0.3:
                self.lines[-1] = self.lines[-1].replace("])", "], disable_tma=True)")
        else:
            i = ", ".join(["i", "j", "k"][: len(t.shape)])
            self.say("for %s in T.Parallel(%s):" % (i, ", ".join(map(str, t.shape))))
            self.say("    %s[bx, %s] = %s[%s]" % (name, i, t.name, i))

    def launch(self, n):
        r = self.r
        self.tiles, self.made, self.loops, self.uniforms, self.inner = [], [], [], [], []
        self.bytes = 0
        self.grid = r.choice((1, 2, 3))
        self.top = self.indent = 3
        body, self.lines = self.lines, []
        self.load()
        for _ in range(n):
            self.statement()
        while any(t.root.ready and not t.small for t in self.tiles):
            self.tames()
        out = [t for t in self.tiles if t.root.ready and t is t.root]
        for t in r.sample(out, min(len(out), r.randint(2, 6))):
            self.result(t)
        threads = r.choice(THREADS)
        body += ["        with T.Kernel(%d, threads=%d) as bx:" % (self.grid, threads)] + self.made + self.lines
        self.lines = body

    def text(self):
        for _ in range(self.r.choice((1, 1, 1, 2))):
            self.launch(self.r.randint(3, 10))
        params = ["%s: T.Tensor((%s,), \"%s\")" % (n, ", ".join(map(str, s)), d) for n, s, d, _, _ in self.tensors]
        params += ["%s: T.int32" % n for n in self.scalars]
        text = ["# deep.py %d" % self.seed]
        text += ["# in: %s %s %s %d %d" % (n, ",".join(map(str, s)), d, lo, hi) for n, s, d, lo, hi in self.tensors]
        text += ["# with: %s=%d" % x for x in self.scalars.items()]
        text += ["import tilelang.language as T", "", ""] + self.macros
        text += ["def kernel():", "    @T.prim_func", "    def main(%s):" % ", ".join(params)] + self.lines + ["", "    return main", ""]
        return "\n".join(text)


if __name__ == "__main__":
    import sys

    print(Deep(int(sys.argv[1])).text())
