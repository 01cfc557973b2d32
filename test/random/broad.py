"""broad.py -- random kernels of a grammar broader than wide.py's, which it builds on.

    python3 gen.py SEED with SEED over 1000000 prints one

Beside what wide.py has: nests that read and write tensors by themselves (with strides, mirrored, past both ends, by
an index that is read), functions of floats, tiles of three dimensions and reductions along each of them, loops with
steps, with bounds that are read, with while, break and continue, pipelines with conditions in them and inside of
loops, parts of tiles at any place, atomics into shared memory, reducers, any_of and all_of, scans to another tile and
backwards, elif, macros, code of single threads with shuffles, products with A in registers, of 8-bit and 64-bit floats,
conversions between floats and integers; float64, uint32 and bool tensors."""

import gen
import wide

FUNCTIONS = ("T.exp(-T.abs({0}))", "T.tanh({0})", "T.sigmoid({0})", "T.sqrt(T.abs({0}))", "T.log(T.abs({0}) + 1)",
             "T.exp2(T.min({0}, 2))", "T.rsqrt(T.abs({0}) + 1)", "T.erf({0})", "T.abs({0})", "1 / (1 + {0} * {0})",
             "T.atan2({0}, {1} * {1} + 1)", "T.pow(T.abs({0}) + 1, 0.5)", "T.cos(T.tanh({0}))", "T.clamp({0}, -1, 1)")
STEPS = ("T.floor({0})", "T.ceil({0})", "T.trunc({0})", "T.round({0})", "T.if_then_else({0} > 0, {0}, {1})",
         "T.if_then_else(({0} < {1}) ^ ({1} > 0), {1}, 1)", "T.if_then_else({0} >= 0 and {1} < 1, {0}, -1)",
         "T.cast(T.cast({0}, \"int32\"), \"float32\")", "T.cast(T.cast({0} * 7, \"int8\"), \"float32\")")


class Broad(wide.Wide):
    def __init__(self, seed):
        wide.Wide.__init__(self, seed)
        self.macros = []
        self.names = 0

    def name(self, letter):
        self.names += 1
        return "%s%d" % (letter, self.names)

    def dtype(self):
        r = self.r
        if self.family == "floats" and r.random() < 0.1:
            return "float64"
        if self.family == "ints" and r.random() < 0.15:
            return r.choice(("uint32", "uint64"))
        return wide.Wide.dtype(self)

    def at_top(self):
        return self.indent == self.top and not self.loops and self.team is None

    def flat_block(self):
        return "(by * %d + bx)" % self.grid if self.grid_y > 1 else "bx"

    def blocks_all(self):
        return self.grid * self.grid_y

    # ---- tensors without tiles ----

    def place(self, n, i="i"):
        """An index around 0 … n: into a tensor read by a nest, of which a part may lie outside."""
        r = self.r
        return r.choice((i, i, "%s + %d" % (i, r.randint(1, 9)), "%s - %d" % (i, r.randint(1, 9)), "%d - %s" % (n - 1, i),
                         "%s * %d" % (i, r.randint(2, 3)), "%s // %d" % (i, r.randint(2, 5)), "(%s * 7) %% %d" % (i, n), "%s ^ 1" % i,
                         "%s * %d + %s" % (self.flat_block(), n, i)))

    def direct(self):
        """C[…] = f(A[…], B[…]) element by element, the last blocks past the end."""
        r = self.r
        if not self.at_top():
            return False
        rank = r.choice((1, 1, 2))
        shape = self.shape(rank)
        i = ("i", "j")[:rank]
        total = self.blocks_all() * shape[0] - r.choice((0, 0, r.randint(0, shape[0] - 1)))
        out_dtype = self.dtype()
        first = "%s * %d + i" % (self.flat_block(), shape[0])
        terms = []
        for _ in range(r.randint(1, 3)):
            dtype = self.dtype()
            if wide.is_int(dtype) != wide.is_int(out_dtype):
                dtype = out_dtype
            extents = tuple(max(1, e + r.choice((0, 0, -3, 5))) for e in (total,) + shape[1:])
            at = [first if r.random() < 0.6 else self.place(shape[0])] + [self.place(e, "j") for e in shape[1:]]
            name = self.param(extents, dtype)
            terms.append("T.cast(%s[%s], \"%s\")" % (name, ", ".join(at), out_dtype if wide.is_int(out_dtype) else "float32"))
        e = self.joined(terms, wide.is_int(out_dtype), True)
        out = self.param((total,) + shape[1:], out_dtype)
        self.say("for %s in T.Parallel(%s):" % (", ".join(i), ", ".join(map(str, shape))))
        inner = "    "
        if r.random() < 0.3:
            self.say("    if %s:" % self.where(i, shape))
            inner += "    "
        bound = r.random() < 0.4
        if bound:
            self.say("%sif %s < %d:" % (inner, first, total))
            inner += "    "
        self.say("%s%s[%s] = %s" % (inner, out, ", ".join((first,) + i[1:]), e))
        return True

    def joined(self, terms, integers, exact):
        """An expression of the terms; exact: decisions may be taken on them."""
        r = self.r
        e = terms[0]
        for x in terms[1:] or [terms[0]]:
            if integers:
                e = r.choice(("(%s + %s)", "(%s - %s)", "(%s * %s)", "T.max(%s, %s)", "(%s & %s)", "(%s | (%s))")) % (e, x)
            elif exact and r.random() < 0.4:
                e = r.choice(STEPS).format(e, x)
            elif r.random() < 0.5:
                e, exact = r.choice(FUNCTIONS).format(e, x), False
            else:
                e, exact = r.choice(("(%s * 0.5 + %s)", "(%s - %s)", "T.max(%s, %s)", "(%s * %s)")) % (e, x), False
        return e

    def found(self):
        """Rows that an index names, some of which are not there."""
        r = self.r
        if not self.at_top():
            return False
        rows, n, d = r.randint(1, 40), self.extent(64), r.choice((1, 3, 8, 16, 20, 32))
        dtype = self.dtype()
        index = self.param((n,), r.choice(("int32", "int32", "int64", "uint8")))
        table = self.param((rows, d), dtype)
        how = r.choice(("%s[i]" % index, "%s[i] %% %d" % (index, rows), "T.max(%s[i], 0)" % index, "(i * 5 + %s[i]) %% %d" % (index, rows)))
        t = self.tile(None, (n, d), dtype)
        if not t:
            return False
        self.say("for i, j in T.Parallel(%d, %d):" % (n, d))
        if r.random() < 0.3:
            self.say("    %s[i, j] = T.if_then_else(%s[i] > 0, %s[%s, j], T.cast(%d, \"%s\"))" %
                     (t.name, index, table, how, r.randint(0, 2), dtype))
        else:
            self.say("    %s[i, j] = %s[%s, j]" % (t.name, table, how))
        t.ready = t.exact = True
        return True

    # ---- nests on tiles ----

    def function(self):
        """A function of floats, tile by tile; of exact ones also steps."""
        r = self.r
        a = self.ready()
        if not a or wide.is_int(a.dtype) or a.view:
            return False
        b = self.ready(shape=a.shape)
        b = a if not b or wide.is_int(b.dtype) or b.view else b
        i = ", ".join(("i", "j")[: len(a.shape)])
        wide_type = "float64" if a.dtype == "float64" else "float32"
        x, y = ("T.cast(%s[%s], \"%s\")" % (t.name, i, wide_type) for t in (a, b))
        exact = a.exact and b.exact
        step = exact and r.random() < 0.5
        e = r.choice(STEPS if step else FUNCTIONS).format(x, y)
        self.say("for %s in T.Parallel(%s):" % (i, ", ".join(map(str, a.shape))))
        self.say("    %s[%s] = T.cast(%s, \"%s\")" % (a.name, i, e, a.dtype))
        a.exact = step
        return True

    def whole(self):
        """Floats that become integers, and integers that become floats: in a tile of its own, which no other statement has."""
        a = self.ready()
        if not a or a.view or not a.exact or self.indent > self.top:
            return False
        r = self.r
        dtype = r.choice(gen.FLOATS + ("float64",)) if wide.is_int(a.dtype) else r.choice(wide.INTS + ("uint32", "bool"))
        t = self.tile(None, a.shape, dtype)
        if not t:
            return False
        i = ", ".join(("i", "j")[: len(a.shape)])
        self.say("for %s in T.Parallel(%s):" % (i, ", ".join(map(str, a.shape))))
        e = "%s[%s] > 0" if dtype == "bool" else "T.cast(%%s[%%s], \"%s\")" % dtype
        self.say("    %s[%s] = %s" % (t.name, i, e % (a.name, i)))
        if r.random() < 0.4 and dtype != "bool" and not wide.is_int(a.dtype):  # and back, what it has lost
            self.say("for %s in T.Parallel(%s):" % (i, ", ".join(map(str, a.shape))))
            self.say("    %s[%s] = T.cast(%s[%s], \"%s\")" % (a.name, i, t.name, i, a.dtype))
        at, extents = self.own(t.shape)
        self.say("T.copy(%s, %s[%s])" % (t.name, self.param(extents, dtype), at))
        return True

    def part(self):
        """A part of a tile, to or from any place of a tensor or another tile."""
        r = self.r
        t = self.ready()
        if not t or t.view or self.loops:
            return False
        lo = [r.randint(0, e - 1) for e in t.shape]
        n = [r.randint(1, e - a) for e, a in zip(t.shape, lo)]
        mine = ", ".join("%d:%d" % (a, a + k) for a, k in zip(lo, n))
        at = [r.randint(0, 6) for _ in n]
        extents = tuple(max(1, a + k - r.choice((0, 0, 0, 2))) for a, k in zip(at, n))
        other = ", ".join("%d:%d" % (a, a + k) for a, k in zip(at, n))
        if r.random() < 0.5 and self.at_top():
            extents = (self.blocks_all(),) + extents
            self.say("T.copy(%s[%s], %s[%s, %s])" % (t.name, mine, self.param(extents, t.dtype), self.flat_block(), other))
        else:
            self.say("T.copy(%s[%s], %s[%s])" % (self.param(extents, t.dtype), other, t.name, mine))
            t.exact = t.exact and self.indent == self.top
        return True

    def cube(self):
        """A tile of three dimensions; what is left of it along one of them."""
        r = self.r
        if not self.at_top():
            return False
        shape = (r.randint(1, 5), self.extent(24), self.extent(32))
        shape = tuple(r.sample(shape, 3))
        dtype = r.choice(("int32", "int64") if self.integers else ("float32", "float16", "bfloat16"))
        t = self.tile(None, shape, dtype)
        if not t:
            return False
        at, extents = self.own(shape)
        self.say("T.copy(%s[%s], %s)" % (self.param(extents, dtype), at, t.name))
        if r.random() < 0.6:
            self.say("for i, j, k in T.Parallel(%d, %d, %d):" % shape)
            self.say("    %s[i, j, k] = %s[i, j, k] * 2 + T.cast(%s, \"%s\")" % (t.name, t.name, r.choice("ijk"), dtype))
        dim = r.randint(-1, 2)
        left = shape[:dim % 3] + shape[dim % 3 + 1:]
        b = self.tile(None, left, dtype if r.random() < 0.6 or self.integers else "float32")
        if not b:
            at, extents = self.own(shape)
            self.say("T.copy(%s, %s[%s])" % (t.name, self.param(extents, dtype), at))
            return True
        self.say("T.reduce_%s(%s, %s, dim=%d)" % (r.choice(("sum", "max", "min", "absmax")), t.name, b.name, dim))
        b.ready = True
        return True

    def scan(self):
        r = self.r
        if self.family not in ("floats", "ints") or self.indent > self.top:
            return wide.Wide.scan(self)
        a = self.ready(rank=2) or self.ready(rank=1, scope="shared")
        if not a or a.view or wide.bits(a.dtype) < 16 or (wide.is_int(a.dtype) and wide.bits(a.dtype) < 32):
            return False
        b = self.tile(a.scope, a.shape, a.dtype)
        if not b:
            return False
        op = "cummax" if self.loops or r.random() < 0.3 else "cumsum"
        back = ", reverse=True" if r.random() < 0.5 else ""
        self.say("T.%s(%s, %s, dim=%d%s)" % (op, a.name, b.name, r.randint(0, len(a.shape) - 1), back))
        b.ready, b.exact = True, False
        return True

    # ---- sums of many ----

    def bins(self):
        """Atomics into shared memory."""
        r = self.r
        t = self.ready(dtype="int32" if self.integers else "float32")
        if not t or not self.at_top():
            return False
        n = r.randint(1, 40)
        b = self.tile("shared", (n,), t.dtype)
        if not b:
            return False
        i = ("i", "j")[: len(t.shape)]
        kind = r.choice(("add", "max", "min")) if self.integers else "add"
        self.say("T.clear(%s)" % b.name)
        self.say("for %s in T.Parallel(%s):" % (", ".join(i), ", ".join(map(str, t.shape))))
        self.say("    T.atomic_%s(%s[(%s) %% %d], %s[%s])" % (kind, b.name, " * 3 + ".join(i), n, t.name, ", ".join(i)))
        b.ready = True
        return True

    def reducer(self):
        r = self.r
        a = self.ready(rank=2, dtype="int32" if self.integers else "float32")
        if not a or a.view or not self.at_top():
            return False
        d = r.randint(0, 1)
        b = self.tile("fragment", (a.shape[d],), a.dtype)
        if not b:
            return False
        acc = self.name("acc")
        op = r.choice(("sum", "max", "min") + (("bitor", "bitand", "bitxor") if self.integers else ()))
        self.say("%s = T.alloc_reducer((%d,), \"%s\", op=\"%s\")" % (acc, a.shape[d], a.dtype, op))
        self.say("T.reducer_init(%s%s)" % (acc, r.choice(("", ", 2"))))
        self.say("for i, j in T.Parallel(%d, %d):" % a.shape)
        self.say("    T.reducer_update(%s[%s], %s[i, j])" % (acc, "ij"[d], a.name))
        self.say("T.finalize_reducer(%s, %s)" % (acc, b.name))
        b.ready = True
        return True

    def asks(self):
        """What any or all elements of a tile say decides what the block does."""
        r = self.r
        t = self.ready(rank=1, scope="shared")
        if not t or t.view or not wide.is_int(t.dtype) or self.indent > self.top or self.team is not None:
            return False
        part = "%s[0:%d]" % (t.name, r.randint(1, t.shape[0])) if r.random() < 0.4 else t.name
        self.inside("if T.%s_of(%s):" % (r.choice(("any", "all")), part), r.randint(1, 2))
        if r.random() < 0.5:
            self.inside("else:", 1)
        return True

    # ---- control ----

    def loop(self):
        r = self.r
        if self.indent > self.top + 1 or r.random() < 0.4:
            return wide.Wide.loop(self)
        var = self.loop_var("k")
        kind = r.randint(0, 4)
        self.loops.append((var, 4))
        if kind == 0:
            self.inside("for %s in T.serial(%d, %d, %d):" % (var, r.randint(0, 1), r.randint(1, 4), r.randint(1, 2)), r.randint(1, 2))
        elif kind == 1:
            self.inside("for %s in T.serial(3, %d, -1):" % (var, r.randint(-1, 2)), r.randint(1, 2))
        elif kind == 2:
            bound = self.param((self.grid,), "int32")
            self.inside("for %s in T.serial(T.min(T.max(%s[bx], 0), 4)):" % (var, bound), r.randint(1, 2))
        elif kind == 3:
            self.say("for %s in T.serial(4):" % var)
            self.say("    if %s == %s:" % (var, r.choice(("2", "bx", "1", "bx + 1"))))
            self.say("        %s" % r.choice(("break", "continue")))
            self.block(r.randint(1, 2))
        else:
            self.say("%s = T.alloc_var(\"int32\", init=%d)" % (var, r.randint(0, 2)))
            self.say("while %s < 3:" % var)
            self.block(r.randint(1, 2))
            self.say("    %s = %s + %d" % (var, var, r.randint(1, 2)))
        self.loops.pop()
        return True

    def block(self, n):
        self.indent += 1
        for _ in range(n):
            self.statement(inner=True)
        self.indent -= 1

    def cases(self):
        r = self.r
        if self.indent > self.top + 1:
            return False
        name = self.param((self.blocks_all(),), "int32")
        at = "%s[%s]" % (name, self.flat_block())
        self.inside("if %s > %d:" % (at, r.randint(0, 2)), 1)
        self.inside("elif %s %s:" % (r.choice((at, "bx")), r.choice(("== 0", "< 0", "% 2 == 0"))), 1)
        if r.random() < 0.6:
            self.inside("else:", 1)
        return True

    def macro(self):
        """A part of the kernel that stands outside of it, used on two tiles."""
        r = self.r
        a = self.ready(rank=1) or self.ready(rank=2)
        if not a or a.view or self.loops:
            return False
        b = self.ready(rank=len(a.shape), dtype=a.dtype)
        name = self.name("macro")
        i = ("i", "j")[: len(a.shape)]
        sizes = ["n%d" % d for d in range(len(i))]
        e = "T.max(t[{0}], -t[{0}])" if not wide.is_int(a.dtype) else "t[{0}] * 3 - count"
        self.macros += ["@T.macro", "def %s(t, %s, count):" % (name, ", ".join(sizes)),
                        "    for %s in T.Parallel(%s):" % (", ".join(i), ", ".join(sizes)),
                        "        if i >= count:", "            t[%s] = %s" % (", ".join(i), e.format(", ".join(i))), "", ""]
        for t in {id(a): a, id(b): b}.values() if b and not b.view else [a]:
            self.say("%s(%s, %s, %s)" % (name, t.name, ", ".join(map(str, t.shape)), r.choice(("0", "2", "bx", "bx + 1"))))
            t.exact = t.exact and self.indent == self.top
        return True

    def threads_own(self):
        """What single threads do: registers, shuffles, votes."""
        r = self.r
        if not self.at_top() or self.roles:
            return False
        n = self.threads
        dtype = "int32" if self.integers else "float32"
        v, tx = self.name("v"), self.name("tx")
        x, y = self.param((n,), dtype), self.param((self.blocks_all(), n), dtype)
        self.say("%s = T.get_thread_binding()" % tx)
        self.say("%s = T.alloc_var(\"%s\")" % (v, dtype))
        self.say("%s = %s[%s]" % (v, x, r.choice((tx, "%d - %s" % (n - 1, tx), "(%s * 5 + bx) %% %d" % (tx, n)))))
        for _ in range(r.randint(1, 3)):
            e = r.choice(("T.shfl_xor(%s, %d)" % (v, r.choice((1, 2, 4, 8, 16))), "T.shfl_sync(%s, %d)" % (v, r.randint(0, 31)),
                          "T.shfl_down(%s, %d)" % (v, r.randint(1, 31)), "T.shfl_up(%s, %d)" % (v, r.randint(1, 31)),
                          "T.warp_reduce_max(%s)" % v, "T.warp_reduce_min(%s)" % v, "T.warp_reduce_sum(%s)" % v))
            self.say("%s = %s%s" % (v, e, r.choice(("", " - %s" % v, " + %s" % v))))
        if r.random() < 0.3:
            self.say("%s = %s + T.cast(T.any_sync(%s[%s] > 0), \"%s\")" % (v, v, x, tx, dtype))
        self.say("%s[%s, %s] = %s" % (y, self.flat_block(), tx, v))
        return True

    # ---- products ----

    def gemm(self):
        r = self.r
        if self.at_top() and r.random() < 0.4:
            return self.other_gemm()
        return wide.Wide.gemm(self)

    def other_gemm(self):
        """With A in registers, k in parts, of 8-bit or 64-bit floats, or whole float32."""
        r = self.r
        M, N, K = r.choice((16, 32, 48, 64)), r.choice((8, 16, 24, 32)), r.choice((16, 32, 64))
        kinds = {"floats": ("float16", "bfloat16", "float32", "float64"), "eights": wide.EIGHTS, "halves": wide.HALVES,
                 "ints": ("int8", "uint8")}
        dtype = r.choice(kinds[self.family])
        accum = "int32" if self.integers else "float64" if dtype == "float64" else "float32"
        if self.work + M * N * K > 2 * gen.PRODUCTS:
            return False
        self.work += M * N * K
        tb = r.random() < 0.5
        a = self.load("shared", (M, K), dtype)
        b = a and self.load("shared", (N, K) if tb else (K, N), dtype)
        c = b and self.tile("fragment", (M, N), accum)
        if not c:
            return False
        name, more = a.name, ", transpose_B=True" if tb else ""
        if r.random() < 0.4 and wide.bits(dtype) < 64:
            f = self.tile("fragment", (M, K), dtype)
            self.say("T.copy(%s, %s)" % (a.name, f.name))
            name = f.name
        if dtype == "float32" and r.random() < 0.5:
            more += ", precision=\"float32\""
        self.say("T.gemm(%s, %s, %s%s, clear_accum=True)" % (name, b.name, c.name, more))
        c.ready = True
        return True

    def pipelined(self):
        r = self.r
        if r.random() < 0.5 or self.family not in ("floats", "ints", "halves") or self.indent > self.top or self.team is not None:
            return wide.Wide.pipelined(self)
        return self.pipelined_if() if r.random() < 0.6 else self.pipelined_twice()

    def stage_tiles(self):
        r = self.r
        M, N, K = r.choice((16, 32, 64)), r.choice((8, 16, 32, 64)), r.choice((16, 32))
        dtype = "int8" if self.integers else r.choice(("float16", "bfloat16", "float32"))
        if self.work + 4 * M * N * K > 4 * gen.PRODUCTS:
            return None
        a = self.tile("shared", (M, K), dtype)
        b = a and self.tile("shared", (K, N), dtype)
        c = b and self.tile("fragment", (M, N), "int32" if self.integers else "float32")
        if not c:
            return None
        self.work += 4 * M * N * K
        self.say("T.clear(%s)" % c.name)
        c.ready = True
        return a, b, c

    def pipelined_if(self):
        """Turns that are left out, by what is read or by the turn."""
        r = self.r
        tiles = self.stage_tiles()
        if not tiles:
            return False
        a, b, c = tiles
        var, n = self.loop_var("p"), r.randint(2, 5)
        (M, K), N = a.shape, b.shape[1]
        mask = self.param((n,), "int32")
        A, B = self.param((M, K * n - r.choice((0, 0, 3))), a.dtype), self.param((K * n, N), b.dtype)
        cond = r.choice(("%s[%s] > 0" % (mask, var), "%s %% 2 == 0" % var, "%s < bx + 1" % var, "%s != 1" % var, "%s[%s] != 0" % (mask, var)))
        self.say("for %s in T.Pipelined(%d, num_stages=%d):" % (var, n, r.randint(0, 3)))
        self.indent += 1
        self.say("if %s:" % cond)
        self.say("    T.copy(%s[0, %s * %d], %s)" % (A, var, K, a.name))
        self.say("    T.copy(%s[%s * %d, 0], %s)" % (B, var, K, b.name))
        self.say("    T.gemm(%s, %s, %s)" % (a.name, b.name, c.name))
        self.indent -= 1
        return True

    def pipelined_twice(self):
        """A pipeline inside of a loop; what it makes is added up."""
        r = self.r
        tiles = self.stage_tiles()
        if not tiles:
            return False
        a, b, c = tiles
        outer, var, n, times = self.loop_var("k"), self.loop_var("p"), r.randint(1, 3), r.randint(1, 2)
        (M, K), N = a.shape, b.shape[1]
        A, B = self.param((M * times, K * n), a.dtype), self.param((K * n, N * times - r.choice((0, 0, 3))), b.dtype)
        self.say("for %s in T.serial(%d):" % (outer, times))
        self.say("    for %s in T.Pipelined(%s, num_stages=%d):" % (var, r.choice((str(n), "%s + 1" % outer)), r.randint(0, 3)))
        self.say("        T.copy(%s[%s * %d, %s * %d], %s)" % (A, outer, M, var, K, a.name))
        self.say("        T.copy(%s[%s * %d, %s * %d], %s)" % (B, var, K, outer, N, b.name))
        self.say("        T.gemm(%s, %s, %s)" % (a.name, b.name, c.name))
        return True

    # ---- the whole ----

    def statement(self, inner=False):
        r = self.r
        kinds = [(self.function, 3), (self.part, 1), (self.macro, 0.5)]
        if self.indent < self.top + 2:
            kinds += [(self.cases, 1), (self.loop, 1)]
        if not inner:
            kinds += [(self.direct, 3), (self.found, 1), (self.whole, 1), (self.cube, 1), (self.bins, 1), (self.reducer, 1),
                      (self.asks, 1), (self.threads_own, 1), (self.gemm, 1), (self.pipelined, 1), (self.scan, 0.5)]
        if r.random() < 0.5:
            for _ in range(3):
                if r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]():
                    return
        wide.Wide.statement(self, inner)

    def text(self):
        text = wide.Wide.text(self)
        head, mark, rest = text.partition("\n@T.prim_func\n")
        return head + "\n" + "\n".join(self.macros) + mark + rest if self.macros else text
