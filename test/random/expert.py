"""expert.py -- random kernels of threads, so that plain_threads.py knows the answer exactly.

Threads that exchange whole numbers through shared memory, lanes and atomics, part at conditions of their own, and meet
at barriers of the block, of a part of it and in memory; roles that hand tiles over in a ring; operators on tiles in
between.  What a thread reads, nobody may write before the next barrier."""

import random

THREADS = (32, 64, 96, 128, 128, 160, 256, 256, 256, 384)
ROLE = 128


class Tile:
    def __init__(self, name, n, dtype, free):
        self.name, self.n, self.dtype = name, n, dtype
        self.open = free  # may be written: nobody reads it before the next barrier
        self.ready = False


class Expert:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.seed = seed
        self.names = 0
        self.tensors, self.scalars, self.lines = [], {}, []
        self.indent = 3

    def say(self, line):
        self.lines.append("    " * self.indent + line)

    def name(self, letter):
        self.names += 1
        return "%s%d" % (letter, self.names)

    def tensor(self, shape, dtype="int32", low=-30, high=30):
        name = self.name("A")
        self.tensors.append((name, shape, dtype, max(0, low) if dtype[0] == "u" else low, high))
        return name

    def result(self, shape, dtype="int32"):
        name = self.name("R")
        self.tensors.append((name, shape, dtype, 0, 0))
        return name

    # ---- values of a thread

    def leaf(self):
        r = self.r
        c = [self.t, self.t, "lane", "bx", str(r.randint(0, 9))] + self.vars * 2 + self.loops * 2
        if self.n % 32 == 0:
            c.append("warp")
        kind = r.random()
        if kind < 0.15:
            n = r.choice((5, 16, 33, 64, 128))
            dtype = r.choice(("int32", "int32", "int8", "int16", "uint8", "int64"))
            e = "%s[(%s) %% %d]" % (self.tensor((n,), dtype), self.simple(), n)
            return e if dtype == "int32" else "T.cast(%s, \"int32\")" % e
        if kind < 0.35:
            s = [s for s in self.tiles if s.ready]
            if s:
                s = r.choice(s)
                s.open = False
                e = "%s[(%s) %% %d]" % (s.name, self.simple(), s.n)
                return e if s.dtype == "int32" else "T.cast(%s, \"int32\")" % e
        if kind < 0.45 and self.locals:
            a, n = r.choice(self.locals)
            return "%s[%s]" % (a, str(r.randrange(n)) if r.random() < 0.6 else "(%s) %% %d" % (self.simple(), n))
        return r.choice(c)

    def simple(self):
        r = self.r
        c = [self.t, "lane", "bx", str(r.randint(0, 9))] + self.vars + self.loops
        return r.choice(("%s + %s", "%s * %s", "%s - %s", "%s ^ %s")) % (r.choice(c), r.choice(c))

    def value(self, n=None):
        r = self.r
        e = self.leaf()
        for _ in range(r.randint(0, 3) if n is None else n):
            f = self.leaf()
            how = r.choice(("(%s + %s)", "(%s - %s)", "(%s * %s)", "T.max(%s, %s)", "T.min(%s, %s)", "(%s & %s)", "(%s ^ %s)", "(%s | %s)", "if"))
            if how == "if":
                e = "T.if_then_else(%s, %s, %s)" % (self.condition(), e, f)
            else:
                e = how % (e, f)
            if how == "(%s * %s)":  # stays far from 2^31
                e = "(%s %% 97)" % e
            elif r.random() < 0.4:
                e = "(%s %s)" % (e, r.choice(("% 29", "% 5", "// 3", "// 7", ">> 2", "% 97")))
        return e

    def small(self, e):
        return "(%s) %% 61 - 30" % e if self.r.random() < 0.7 else "(%s) %% 53" % e

    def condition(self):
        r = self.r
        c = ["%s < %d" % (self.t, r.randint(0, self.n)), "%s %% %d == %d" % (self.t, r.randint(2, 5), r.randint(0, 1)), "lane >= %d" % r.randint(0, 31),
             "lane == %d" % r.randint(0, 31), "bx == %d" % r.randint(0, 1)]
        c += ["%s > %d" % (v, r.randint(-10, 10)) for v in self.vars] + ["%s %% 2 == 0" % v for v in self.vars]
        e = r.choice(c)
        if r.random() < 0.25:
            e = "%s %s %s" % (e, r.choice(("and", "or")), r.choice(c))
        return e

    # ---- statements of a thread for itself

    def assign(self):
        v = self.r.choice(self.vars)
        kind = self.r.random()
        if kind < 0.2:
            self.say("%s = %s" % (v, "(%s + %s) %% 41" % (v, self.value(1))))
        else:
            self.say("%s = %s" % (v, self.small(self.value())))

    def local(self):
        r = self.r
        if not self.locals:
            return self.assign()
        a, n = r.choice(self.locals)
        kind = r.random()
        if kind < 0.3:
            q = self.name("q")
            self.say("for %s in T.%s(%d):" % (q, r.choice(("serial", "unroll", "vectorized")), n))
            self.say("    %s[%s] = (%s[%s] + %s * %s) %% 37" % (a, q, a, q, q, r.choice(self.vars)))
        else:
            self.say("%s[%s] = %s" % (a, str(r.randrange(n)) if r.random() < 0.5 else "(%s) %% %d" % (self.simple(), n), self.small(self.value())))

    def part(self, depth=0):
        r = self.r
        kind = r.random()
        if kind < 0.4 or depth > 1:
            return r.choice((self.assign, self.assign, self.local))()
        if kind < 0.7:
            self.say("if %s:" % self.condition())
            self.body(depth)
            if r.random() < 0.3:
                self.say("elif %s:" % self.condition())
                self.body(depth)
            if r.random() < 0.4:
                self.say("else:")
                self.body(depth)
            return None
        k = self.name("k")
        if r.random() < 0.3:
            w = self.name("w")
            self.say("%s = T.alloc_var(\"int32\", init=0)" % w)
            self.say("while %s < %s:" % (w, r.choice(("lane % 4", "3", "%s %% 5" % self.t))))
            self.body(depth, ["%s += 1" % w])
            return None
        self.say("for %s in T.serial(%s):" % (k, r.choice(("%d" % r.randint(1, 5), "(%s) %% 5" % self.value(0), "(%s) %% 4 + 1" % r.choice(self.vars), "lane % 3, 5", "0, 7, 2"))))
        self.loops.append(k)
        last = []
        if r.random() < 0.4:
            last = ["if %s:" % self.condition(), "    %s" % r.choice(("break", "continue", "break"))]
        self.body(depth, last)
        self.loops.pop()
        if last and last[1].strip() == "break" and r.random() < 0.5:
            self.assign()
        return None

    def body(self, depth, last=()):
        self.indent += 1
        for line in last if self.r.random() < 0.5 and last and last[0].startswith("if") else ():
            self.say(line)
        for _ in range(self.r.randint(1, 2)):
            self.part(depth + 1)
        for line in last:
            self.say(line)
        self.indent -= 1

    # ---- statements of all threads of a block or of a role

    def meet(self):
        if self.role is None:
            self.say("T.sync_threads()")
        else:
            self.say("T.sync_threads(%d, %d)" % (self.role + 1, ROLE))
        for s in self.tiles:
            s.open = True

    def tile(self, n, dtype="int32"):
        s = Tile(self.name("s"), n, dtype, True)
        self.made.append("            %s = T.alloc_shared((%d,), \"%s\")" % (s.name, n, dtype))
        self.tiles.append(s)
        return s

    def own(self, n):
        """A place of the thread's own among the n threads."""
        r, t = self.r, self.t
        c = [t, "%d - %s" % (n - 1, t), "(%s + %d) %% %d" % (t, r.randint(1, n), n)]
        if n & (n - 1) == 0:
            c += ["%s ^ %d" % (t, r.randrange(n)), "%s * %d %% %d" % (t, r.randrange(1, 99, 2), n)]
        return r.choice(c)

    def free(self, least, dtype=None):
        s = [s for s in self.tiles if s.n >= least and (dtype is None or s.dtype == dtype)]
        if s and self.r.random() < 0.6:
            s = self.r.choice(s)
            if not s.open:
                self.meet()
            return s
        return self.tile(least + self.r.choice((0, 0, 1, 7)), dtype or self.r.choice(("int32", "int32", "int16", "int8", "int64", "float32")))

    def exchange(self):
        r = self.r
        s = self.free(self.n)
        whole = s.ready or s.n == self.n
        s.ready = False
        if not whole:
            self.say("for i in T.Parallel(%d):" % s.n)
            self.say("    %s[i] = %d" % (s.name, r.randint(0, 5)))
            self.meet()
        v = self.small(self.value())
        v = "T.cast(%s, \"%s\")" % (v, s.dtype) if s.dtype != "int32" else v
        self.say("%s[%s] = %s" % (s.name, self.own(self.n), v))
        self.meet()
        s.ready = True
        if r.random() < 0.8:
            self.assign_from(s)

    def assign_from(self, s):
        e = "%s[%s]" % (s.name, "(%s) %% %d" % (self.simple(), s.n))
        e = e if s.dtype == "int32" else "T.cast(%s, \"int32\")" % e
        v = self.r.choice(self.vars)
        s.open = False
        if self.r.random() < 0.3:
            self.say("if %s:" % self.condition())
            self.say("    %s = %s" % (v, self.small("%s + %s" % (e, self.value(0)))))
        else:
            self.say("%s = %s" % (v, self.small("%s + %s" % (e, self.value(0)))))

    def lanes(self):
        r = self.r
        v, x = r.choice(self.vars), r.choice(self.vars)
        uniform = r.random() < 0.3 and self.n > 32
        if uniform:
            self.say("if warp %s:" % r.choice(("% 2 == 0", "> 0", "== 0", "!= 1")))
            self.indent += 1
        w = r.choice(("", "", ", 16", ", 8"))
        m = int(w[2:] or 32)
        e = r.choice(("T.shfl_sync(%s, %s%s)" % (x, r.choice((str(r.randrange(m)), "(lane + %d) %% %d" % (r.randint(1, 9), m), "(%s) %% %d" % (self.simple(), m))), w),
                      "T.shfl_xor(%s, %d%s)" % (x, r.choice((1, 2, 4)), w),
                      "T.shfl_up(%s, %d%s)" % (x, r.randint(1, 5), w), "T.shfl_down(%s, %d%s)" % (x, r.randint(1, 5), w),
                      "T.warp_reduce_sum(%s)" % x, "T.warp_reduce_max(%s)" % x, "T.warp_reduce_min(%s)" % x,
                      "T.cast(T.any_sync(%s > %d), \"int32\")" % (x, r.randint(-20, 20)),
                      "T.cast(T.all_sync(%s > %d), \"int32\")" % (x, r.randint(-30, 5))))
        y = self.name("y")
        self.say("%s = %s" % (y, e))
        self.say("%s = (%s * %d + %s) %% 61 - 30" % (v, y, r.randint(1, 3), r.choice(self.vars)))
        if uniform:
            self.indent -= 1

    def counts(self):
        r = self.r
        if self.role is not None:
            return self.lanes()
        y = self.name("y")
        self.say("%s = T.cast(T.syncthreads_%s(%s > %d), \"int32\")" % (y, r.choice(("count", "and", "or")), r.choice(self.vars), r.randint(-20, 20)))
        self.say("%s = (%s + %s) %% 61 - 30" % (r.choice(self.vars), r.choice(self.vars), y))
        for s in self.tiles:
            s.open = True
        return None

    def atomics(self):
        r = self.r
        n = r.choice((1, 3, 16, 40))
        s = self.free(n, "int32")
        s.ready = False
        how = r.choice(("add", "max", "min", "or"))
        self.say("T.fill(%s, %d)" % (s.name, r.randint(0, 3))) if r.random() < 0.5 else self.say(
            "for i in T.Parallel(%d):\n%s%s[i] = i %% 3" % (s.n, "    " * (self.indent + 1), s.name))
        self.meet()
        v = self.small(self.value(1)) if how != "or" else "(%s) %% 31" % self.value(1)
        line = "T.atomic_%s(%s[(%s) %% %d], %s)" % (how, s.name, self.simple(), s.n, v)
        kind = r.random()
        if kind < 0.4:
            self.say("if %s:" % self.condition())
            self.say("    " + line)
        elif kind < 0.6:
            q = self.name("q")
            self.say("for %s in T.serial(%s):" % (q, r.choice(("3", "lane % 3", "(%s) %% 4" % r.choice(self.vars)))))
            self.say("    " + line)
        else:
            self.say(line)
        self.meet()
        s.ready = True
        self.assign_from(s)
        if how in ("add", "or"):  # what it holds is not bounded
            self.meet()
            self.say("for i in T.Parallel(%d):" % s.n)
            self.say("    %s[i] = %s[i] %% 31" % (s.name, s.name))
            self.meet()

    def ticket(self):
        """Each thread gets a number of its own."""
        c, s = self.tile(1), self.free(self.n, "int32")
        s.ready = False
        self.say("T.fill(%s, 0)" % c.name)
        self.say("T.fill(%s, 7)" % s.name)
        self.meet()
        p = self.name("p")
        cond = self.condition() if self.r.random() < 0.5 else None
        if cond:
            self.say("if %s:" % cond)
            self.indent += 1
        self.say("%s = T.atomic_add(%s[0], 1, return_prev=True)" % (p, c.name))
        self.say("%s[%s] = 3 + %s %% 5" % (s.name, p, p))
        if cond:
            self.indent -= 1
        self.meet()
        s.ready = True
        self.tiles.remove(c)
        self.assign_from(s)

    def tiles_too(self):
        """Operators on tiles that threads read."""
        r = self.r
        kind = r.randint(0, 4)
        n = r.choice((32, 64, 96, 100, 128))
        s = self.free(n)
        if s.dtype == "float32" and kind == 2:
            kind = 1
        s.ready = False
        if kind == 0:
            a = self.tensor((s.n * 2 + r.choice((0, -5)),), s.dtype)
            self.say("T.copy(%s[bx * %d], %s)" % (a, s.n, s.name))
        elif kind == 1:
            self.say("for i in T.Parallel(%d):" % s.n)
            self.say("    %s[i] = T.cast((i * %d + bx) %% %d, \"%s\")" % (s.name, r.randint(1, 9), r.randint(3, 40), s.dtype))
        elif kind == 2:
            d = r.choice((2, 3, 8, 16))
            a = self.tensor((s.n, d), s.dtype, -2, 3)
            f, g = self.name("f"), self.name("f")
            self.made.append("            %s = T.alloc_fragment((%d, %d), \"%s\")" % (f, s.n, d, s.dtype))
            self.made.append("            %s = T.alloc_fragment((%d,), \"%s\")" % (g, s.n, s.dtype))
            self.say("T.copy(%s, %s)" % (a, f))
            self.say("T.reduce_%s(%s, %s, dim=1)" % (r.choice(("sum", "max", "min")) if s.dtype != "int8" else "max", f, g))
            self.say("T.copy(%s, %s)" % (g, s.name))
        elif kind == 3:
            a = self.tensor((s.n,), "int32")
            self.say("for i in T.Parallel(%d):" % s.n)
            self.say("    if i %% %d != 1:" % r.randint(2, 4))
            self.say("        %s[i] = T.cast(%s[i], \"%s\")" % (s.name, a, s.dtype))
            self.say("    else:")
            self.say("        %s[i] = T.cast(%d, \"%s\")" % (s.name, r.randint(0, 9), s.dtype))
        else:
            self.product(s)
        self.meet()
        s.ready = True
        if r.random() < 0.3 and not self.role:
            out = self.result((2, s.n), s.dtype)
            self.say("T.copy(%s, %s[bx, 0])" % (s.name, out))
            s.open = False
        self.assign_from(s)

    def product(self, s):
        r = self.r
        m, n, k = r.choice((64, 64, 128)), r.choice((16, 32, 64)), r.choice((16, 32))
        a, b, c, o = (self.name("g") for _ in range(4))
        for name, rows, cols, kind, dtype in ((a, m, k, "shared", "float16"), (b, k, n, "shared", "float16"), (c, m, n, "fragment", "float32"), (o, m, 1, "fragment", "float32")):
            self.made.append("            %s = T.alloc_%s(%s, \"%s\")" % (name, kind, "(%d, %d)" % (rows, cols) if cols > 1 else "(%d,)" % rows, dtype))
        self.say("T.copy(%s, %s)" % (self.tensor((m, k), "float16", -2, 2), a))
        self.say("T.copy(%s, %s)" % (self.tensor((k, n), "float16", -2, 2), b))
        self.say("T.clear(%s)" % c)
        for _ in range(r.randint(1, 2)):
            self.say("T.gemm(%s, %s, %s)" % (a, b, c))
        self.say("T.reduce_max(%s, %s, dim=1)" % (c, o))
        out = self.result((2, m, n), "float32")
        self.say("T.copy(%s, %s[bx, 0, 0])" % (c, out))
        q = min(m, s.n)
        self.say("for i in T.Parallel(%d):" % s.n)
        self.say("    %s[i] = T.cast(bx + i %% 7, \"%s\")" % (s.name, s.dtype))
        if q == m:
            self.meet()
            self.say("for i in T.Parallel(%d):" % m)
            self.say("    %s[i] = T.cast(T.cast(%s[i], \"int32\") %% 31, \"%s\")" % (s.name, o, s.dtype))

    def roles(self):
        """Each role does its own, and they meet."""
        if self.role is not None or self.n % ROLE or self.n == ROLE or self.indent != 3:
            return self.lanes()
        groups = list(range(self.n // ROLE))
        self.r.shuffle(groups)
        self.meet()
        kept, self.tiles, n, t = self.tiles, [], self.n, self.t
        all_of = []
        for g in groups[: self.r.randint(1, len(groups))]:
            self.role, self.n, self.tiles = g, ROLE, []
            self.t = self.name("tx")
            self.say("with T.ws(%d):" % g)
            self.indent += 1
            self.say("%s = tx - %d" % (self.t, g * ROLE))
            if self.r.random() < 0.2 and len(groups) > 1:
                self.say("T.set_max_nreg(%d, %d)" % self.r.choice(((40, 0), (160, 1))))
            for _ in range(self.r.randint(1, 4)):
                self.statement()
            self.indent -= 1
            all_of += self.tiles
        self.role, self.n, self.t, self.tiles = None, n, t, kept + all_of
        self.meet()
        return None

    def ring(self):
        """One role brings, another one uses."""
        r = self.r
        if self.role is not None or self.n % ROLE or self.n == ROLE or self.indent != 3:
            return self.exchange()
        groups = list(range(self.n // ROLE))
        r.shuffle(groups)
        brings, uses = groups[0], groups[1:]
        if len(uses) > 1 and r.random() < 0.5:
            uses = uses[:1]
        slots, rows, d, steps = r.randint(1, 3), r.choice((8, 16, 32)), r.choice((8, 16, 24, 64)), r.randint(1, 6)
        dtype = r.choice(("int32", "float32", "float16", "int8"))
        data = self.tensor((2, steps, rows, d), dtype, -9, 9)
        s, full, free, acc = self.name("s"), self.name("full"), self.name("free"), self.name("c")
        self.made.append("            %s = T.alloc_shared((%d, %d, %d), \"%s\")" % (s, slots, rows, d, dtype))
        one = r.random() < 0.4
        self.made.append("            %s = T.alloc_barrier([%d] * %d)" % (full, 1 if one else ROLE, slots))
        self.made.append("            %s = T.alloc_barrier([%d] * %d)" % (free, ROLE * len(uses), slots))
        out = self.result((2, len(uses), rows, d), "int32")
        self.meet()
        k = self.name("k")
        how = r.choice(("tma", "copy", "threads", "nest"))
        if how != "tma" and one:
            self.made[-2] = "            %s = T.alloc_barrier([%d] * %d)" % (full, ROLE, slots)
            one = False
        skip = r.random() < 0.3 and self.tensor((steps,), "int32", 0, 2)

        def bring():
            self.say("with T.ws(%d):" % brings)
            self.indent += 1
            at = "%s %% %d" % (k, slots)
            self.say("for %s in T.serial(%d):" % (k, steps))
            self.indent += 1
            self.say("T.barrier_wait(%s[%s], (%s // %d) %% 2 ^ 1)" % (free, at, k, slots))
            if skip:
                self.say("if %s[%s] > 0:" % (skip, k))
                self.indent += 1
            if how == "tma":
                self.say("T.tma_copy(%s[bx, %s, 0, 0], %s[%s, :, :], barrier=%s[%s])" % (data, k, s, at, full, at))
            elif how == "copy":
                self.say("T.copy(%s[bx, %s, 0, 0], %s[%s, :, :])" % (data, k, s, at))
            elif how == "threads":
                q = self.name("q")
                self.say("for %s in T.serial(%d):" % (q, -(-rows * d // ROLE)))
                self.say("    if %s * %d + tx - %d < %d:" % (q, ROLE, brings * ROLE, rows * d))
                p = "%s * %d + tx - %d" % (q, ROLE, brings * ROLE)
                self.say("        %s[%s, (%s) // %d, (%s) %% %d] = %s[bx, %s, (%s) // %d, (%s) %% %d]" % (s, at, p, d, p, d, data, k, p, d, p, d))
            else:
                self.say("for i, j in T.Parallel(%d, %d):" % (rows, d))
                self.say("    %s[%s, i, j] = %s[bx, %s, i, j]" % (s, at, data, k))
            if skip:
                self.indent -= 1
            if one:
                self.say("if tx == %d:" % (brings * ROLE))
                self.indent += 1
            self.say("T.barrier_arrive(%s[%s])" % (full, at))
            self.indent -= 2 + one

        def use(n, g):
            a = "%s_%d" % (acc, n)
            self.made.append("            %s = T.alloc_fragment((%d, %d), \"int32\")" % (a, rows, d))
            self.say("with T.ws(%d):" % g)
            self.indent += 1
            at = "%s %% %d" % (k, slots)
            self.say("T.clear(%s)" % a)
            self.say("for %s in T.serial(%d):" % (k, steps))
            self.indent += 1
            self.say("T.barrier_wait(%s[%s], (%s // %d) %% 2)" % (full, at, k, slots))
            if skip:
                self.say("if %s[%s] > 0:" % (skip, k))
                self.indent += 1
            self.say("for i, j in T.Parallel(%d, %d):" % (rows, d))
            i, j = r.choice((("i", "j"), ("%d - i" % (rows - 1), "j"), ("i", "%d - j" % (d - 1))))
            e = "%s[%s, %s, %s]" % (s, at, i, j)
            self.say("    %s[i, j] = (%s[i, j] * 2 + %s * (%s + %d)) %% 1009" % (a, a, e if dtype == "int32" else "T.cast(%s, \"int32\")" % e, k, n))
            if skip:
                self.indent -= 1
            self.say("T.barrier_arrive(%s[%s])" % (free, at))
            self.indent -= 1
            self.say("T.copy(%s, %s[bx, %d, 0, 0])" % (a, out, n))
            self.indent -= 1

        parts = [bring] + [lambda n=n, g=g: use(n, g) for n, g in enumerate(uses)]
        r.shuffle(parts)
        for p in parts:
            p()
        self.meet()
        return None

    def several(self):
        """A loop of all threads around statements of all threads."""
        if self.depth > 1:
            return self.part()
        k = self.name("k")
        self.meet()
        head = self.r.choice(("T.serial(%d)" % self.r.randint(1, 4), "T.serial(bx + 1)", "T.unroll(2)", "T.serial(%s[bx] %% 4)" % self.tensor((2,), "int32", 0, 9)))
        ready = [(s, s.ready) for s in self.tiles]
        self.say("for %s in %s:" % (k, head))
        self.depth += 1
        self.indent += 1
        self.loops.append(k)
        for _ in range(self.r.randint(1, 3)):
            self.statement()
        self.meet()
        self.loops.pop()
        self.indent -= 1
        self.depth -= 1
        for s in self.tiles:
            s.ready = s.ready and dict(ready).get(s, False)
        return None

    def statement(self):
        r = self.r
        kinds = [(self.part, 3), (self.exchange, 3), (self.lanes, 2), (self.counts, 1), (self.atomics, 1.5), (self.ticket, 0.6),
                 (self.tiles_too, 1.5), (self.several, 1), (self.roles, 1), (self.ring, 1)]
        r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]()

    def text(self):
        r = self.r
        self.n = r.choice(THREADS)
        self.t, self.role, self.depth = "tx", None, 0
        self.tiles, self.made, self.loops, self.locals = [], [], [], []
        self.vars = [self.name("v") for _ in range(r.randint(2, 3))]
        head = ["            tx = T.get_thread_binding()", "            lane = tx % 32", "            warp = tx // 32"]
        for v in self.vars:
            self.say("%s = T.alloc_var(\"int32\", init=%d)" % (v, r.randint(0, 4)))
        for _ in range(r.randint(0, 2)):
            a, n = self.name("a"), r.choice((2, 4, 4, 5))
            self.locals.append((a, n))
            self.say("%s = T.alloc_local((%d,), \"int32\")" % (a, n))
            self.say("for q in T.serial(%d):" % n)
            self.say("    %s[q] = q * %d + tx %% 3" % (a, r.randint(0, 3)))
        for v in self.vars:
            self.say("%s = %s" % (v, self.small("tx * %d + bx" % r.randint(1, 7))))
        for _ in range(r.randint(3, 9)):
            self.statement()
        for v in self.vars:
            self.say("%s[bx, tx] = %s" % (self.result((2, self.n)), v))
        for a, n in self.locals:
            out = self.result((2, self.n, n))
            self.say("for q in T.serial(%d):" % n)
            self.say("    %s[bx, tx, q] = %s[q]" % (out, a))
        params = ["%s: T.Tensor((%s,), \"%s\")" % (n, ", ".join(map(str, s)), d) for n, s, d, _, _ in self.tensors]
        text = ["# expert.py %d" % self.seed]
        text += ["# in: %s %s %s %d %d" % (n, ",".join(map(str, s)), d, lo, hi) for n, s, d, lo, hi in self.tensors]
        text += ["import tilelang.language as T", "", "", "def kernel():", "    @T.prim_func", "    def main(%s):" % ", ".join(params),
                 "        with T.Kernel(%d, threads=%d) as bx:" % (2, self.n)] + head + self.made + self.lines + ["", "    return main", ""]
        return "\n".join(text)


if __name__ == "__main__":
    import sys

    print(Expert(int(sys.argv[1])).text())
