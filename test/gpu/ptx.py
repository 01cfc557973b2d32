"""ptx.py JOB  -- runs a kernel of PTX on the host, one thread at a time; ptx_cuda.c writes the job.

It knows what kernels without bulk copies and MMAs of warpgroups use.  Registers hold bits."""
import math
import mmap
import re
import struct
import sys

SHARED, LOCAL, PARAM = 0x10000000, 0x20000000, 0x30000000  # where these windows start
MASK = {b: (1 << b) - 1 for b in (1, 8, 16, 32, 64)}


def f32(u): return struct.unpack("<f", struct.pack("<I", u & MASK[32]))[0]
def f64(u): return struct.unpack("<d", struct.pack("<Q", u & MASK[64]))[0]
def f16(u): return struct.unpack("<e", struct.pack("<H", u & MASK[16]))[0]
def b64(x): return struct.unpack("<Q", struct.pack("<d", x))[0]


def b32(x):
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:
        return 0x7f800000 if x > 0 else 0xff800000


def b16(x):
    try:
        return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError:
        return 0x7c00 if x > 0 else 0xfc00


def bf16(x):
    u = b32(x)
    return (u + 0x7fff + (u >> 16 & 1)) >> 16 & 0xffff if x == x else 0x7fff


def number(t, u):
    if t == "f32": return f32(u)
    if t == "f64": return f64(u)
    if t == "f16": return f16(u)
    if t == "bf16": return f32(u << 16)
    n = int(t[1:])
    u &= MASK[n]
    return u - (1 << n) if t[0] == "s" and u >> (n - 1) else u


def bits(t, x):
    if t == "f32": return b32(x)
    if t == "f64": return b64(x)
    if t == "f16": return b16(x)
    if t == "bf16": return bf16(x)
    return int(x) & MASK[int(t[1:])]


def towards(x, how):
    """A whole number; of something between two floats of 32 bits: the one that is asked for."""
    return {"rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}.get(how, round)(x)


def float_towards(x, how):
    y = f32(b32(x))
    if how in (None, "rn") or y == x or x != x or math.isinf(x):
        return y
    up = y > x
    want_up = how == "rp" or how == "rz" and x < 0
    if up == want_up:
        return y
    u = b32(y)
    return f32(u - 1 if (y > 0) == up else u + 1)


def statements(body):
    """Up to the brace that ends the kernel.  A brace at the start of a statement opens a scope."""
    depth, now, inside = 1, "", False
    for c in body:
        if c == "{" and not now.strip() and not inside:
            depth += 1
        elif c == "}" and not inside and not now.strip():
            depth -= 1
            if depth == 0:
                return
        else:
            inside = (inside or c == "{") and c != "}"
            now += c
            if c == ";":
                yield now.strip()
                now = ""


class Kernel:
    def __init__(self, text, entry):
        start = text.index(".entry " + entry + "(")
        head = text[start:text.index("{", start)]
        self.params = re.findall(r"\.param\s.*?(\w+)(?:\[(\d+)\])?\s*(?:,|\))", head.replace("\n", " "))
        body = text[text.index("{", start) + 1:]
        self.code, self.labels = [], {}
        body = re.sub(r"//[^\n]*", "", body)
        for part in statements(body):
            while (m := re.match(r"(\$?\w+):\s*(?!:)", part)):
                self.labels[m.group(1)] = len(self.code)
                part = part[m.end():]
            part = part.rstrip(";").strip()
            if not part or part.startswith((".reg", ".pragma", ".loc")):
                continue
            if part.startswith(".local"):
                self.local = re.search(r"(\w+)\[", part).group(1)
                continue
            m = re.match(r"(?:@(!?)(%?\w+)\s+)?([\w.:]+)\s*(.*)", part, re.S)
            ops = [x.strip() for x in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+", m.group(4)) if x.strip()]
            if m.group(3).startswith("shfl") or "|" in m.group(4):
                ops = [y for x in ops for y in x.split("|")]
            self.code.append((m.group(1), m.group(2), m.group(3).split("."), ops))


class Thread:
    def __init__(self, block, tid, lane):
        self.block, self.tid, self.lane = block, tid, lane
        self.r, self.local = {}, bytearray(65536)

    def get(self, x, t="b64"):
        r = self.r.get(x)
        if r is not None:
            return r
        if x[0] == "-" or x[0].isdigit():
            if x[:2] in ("0f", "0F"): return int(x[2:], 16)
            if x[:2] in ("0d", "0D"): return int(x[2:], 16)
            return int(x.rstrip("U"), 0) & MASK[64]
        if x.startswith(("%tid.", "%ctaid.", "%ntid.", "%nctaid.")):
            name, axis = x[1:].split(".")
            return {"tid": self.tid, "ctaid": self.block.id, "ntid": self.block.dim, "nctaid": self.block.grid}[name]["xyz".index(axis)]
        if x == "%laneid": return self.lane
        if x in self.block.symbols: return self.block.symbols[x]
        if x.startswith("__local_depot"): return LOCAL
        if x == "_": return 0
        if "shared" in x or "smem" in x or not x.startswith("%"): return SHARED
        return 0  # not set: what it holds does not matter, or the test shows it

    def value(self, x, t):
        return number(t, self.get(x))

    def place(self, x, space):
        m = re.match(r"\[\s*([^+\]]+?)\s*(?:\+\s*(-?\d+))?\s*\]", x)
        at = self.get(m.group(1)) + int(m.group(2) or 0)
        if space == "shared":
            at = at & MASK[32]
            at += 0 if at >= SHARED else SHARED
        return at & MASK[64]

    def memory(self, at):
        if at >= self.block.base: return self.block.memory, at - self.block.base
        if at >= PARAM: return self.block.param, at - PARAM
        if at >= LOCAL: return self.local, at - LOCAL
        return self.block.shared, at - SHARED

    def load(self, at, n):
        m, i = self.memory(at)
        if i < 0 or i + n > len(m): raise IndexError("read of %x" % at)
        return int.from_bytes(m[i:i + n], "little")

    def store(self, at, n, v):
        m, i = self.memory(at)
        if i < 0 or i + n > len(m): raise IndexError("write of %x" % at)
        m[i:i + n] = (v & ((1 << 8 * n) - 1)).to_bytes(n, "little")

    def run(self, kernel):
        pc, code = 0, kernel.code
        while pc < len(code):
            no, guard, op, ops = code[pc]
            at, pc = pc, pc + 1
            if guard and bool(self.get(guard)) == bool(no):
                continue
            if op[0] == "bra":
                pc = kernel.labels[ops[0]]
            elif op[0] in ("ret", "exit"):
                return
            elif op[0] in ("bar", "barrier", "shfl", "vote", "match", "ldmatrix", "mma", "activemask"):
                yield at, op, ops
            else:
                try:
                    getattr(self, "do_" + op[0])(op, ops)
                except Exception as e:
                    raise RuntimeError("%s %s: %s" % (".".join(op), ", ".join(ops), e))

    # ---- one function an instruction
    def do_mov(self, op, o):
        if o[0][0] == "{":
            names, v = [x.strip() for x in o[0][1:-1].split(",")], self.get(o[1])
            n = int(op[1][1:]) // len(names)
            for i, x in enumerate(names): self.r[x] = v >> n * i & MASK[n]
        elif o[1][0] == "{":
            names = [x.strip() for x in o[1][1:-1].split(",")]
            n = int(op[1][1:]) // len(names)
            self.r[o[0]] = sum((self.get(x) & MASK[n]) << n * i for i, x in enumerate(names))
        else:
            n = 1 if op[1] == "pred" else int(op[1][1:])
            self.r[o[0]] = self.get(o[1]) & MASK[n]

    def arith(self, op, o, f):
        t = op[-1]
        if t == "f16x2":
            self.r[o[0]] = sum(b16(f(*[f16(self.get(x) >> n & MASK[16]) for x in o[1:]])) << n for n in (0, 16))
            return
        self.r[o[0]] = bits(t, f(*[self.value(x, t) for x in o[1:]]))

    def do_add(self, op, o): self.arith(op, o, lambda x, y: x + y)
    def do_sub(self, op, o): self.arith(op, o, lambda x, y: x - y)
    def do_neg(self, op, o):
        self.r[o[0]] = self.get(o[1]) ^ 1 << 31 if op[-1] == "f32" else bits(op[-1], -self.value(o[1], op[-1]))
    def do_abs(self, op, o): self.arith(op, o, abs)
    def do_copysign(self, op, o):
        top = 1 << int(op[-1][1:]) - 1
        self.r[o[0]] = self.get(o[2]) & (top - 1) | self.get(o[1]) & top

    def do_min(self, op, o): self.arith(op, o, lambda x, y: y if x != x else x if y != y else min(x, y))
    def do_max(self, op, o): self.arith(op, o, lambda x, y: y if x != x else x if y != y else max(x, y))

    def do_mul(self, op, o):
        t = op[-1]
        if t == "f16x2":
            return self.arith(op, o, lambda x, y: x * y)
        x, y = self.value(o[1], t), self.value(o[2], t)
        if "wide" in op: self.r[o[0]] = x * y & MASK[2 * int(t[1:])]
        elif "hi" in op: self.r[o[0]] = (x * y >> int(t[1:])) & MASK[int(t[1:])]
        else: self.r[o[0]] = bits(t, x * y)

    def do_mad(self, op, o):
        t = op[-1]
        x, y = self.value(o[1], t), self.value(o[2], t)
        z = self.value(o[3], t[0] + str(2 * int(t[1:])) if "wide" in op else t)
        n = int(t[1:]) * (2 if "wide" in op else 1)
        self.r[o[0]] = ((x * y >> int(t[1:]) if "hi" in op else x * y) + z) & MASK[n]

    def do_fma(self, op, o):
        t = op[-1]
        x, y, z = (self.value(v, t) for v in o[1:])
        r = x * y + z
        if t == "f32" and op[1] in ("rm", "rp", "rz"): r = float_towards(r, op[1])
        if "sat" in op: r = 0.0 if r != r else min(max(r, 0.0), 1.0)
        self.r[o[0]] = bits(t, r)

    def do_div(self, op, o):
        t = op[-1]
        x, y = self.value(o[1], t), self.value(o[2], t)
        if t[0] == "f":
            if y == 0: r = math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)
            else: r = x / y
        else:
            r = -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        self.r[o[0]] = bits(t, r)

    def do_rem(self, op, o):
        t = op[-1]
        x, y = self.value(o[1], t), self.value(o[2], t)
        self.r[o[0]] = bits(t, x if y == 0 else abs(x) % abs(y) * (-1 if x < 0 else 1))

    def logic(self, op, o, f):
        n = 1 if op[1] == "pred" else int(op[1][1:])
        self.r[o[0]] = f(*[self.get(x) & MASK[n] for x in o[1:]]) & MASK[n]

    def do_and(self, op, o): self.logic(op, o, lambda x, y: x & y)
    def do_or(self, op, o): self.logic(op, o, lambda x, y: x | y)
    def do_xor(self, op, o): self.logic(op, o, lambda x, y: x ^ y)
    def do_not(self, op, o): self.logic(op, o, lambda x: ~x)

    def do_shl(self, op, o):
        n = int(op[1][1:])
        self.r[o[0]] = self.get(o[1]) << min(self.get(o[2]) & MASK[32], 64) & MASK[n]

    def do_shr(self, op, o):
        self.r[o[0]] = bits(op[1], self.value(o[1], op[1].replace("b", "u")) >> min(self.get(o[2]) & MASK[32], 64))

    def do_shf(self, op, o):
        n = self.get(o[3]) & 31
        both = (self.get(o[2]) & MASK[32]) << 32 | self.get(o[1]) & MASK[32]
        self.r[o[0]] = (both << n >> 32 if op[1] == "l" else both >> n) & MASK[32]

    def do_setp(self, op, o):
        t = op[-1].replace("b", "u")
        x, y = self.value(o[1], t), self.value(o[2], t)
        how, nan = op[1], x != x or y != y
        if how in ("nan", "num"): r = nan == (how == "nan")
        else:
            base = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(how, how)
            loose = base.endswith("u") and len(base) == 3
            r = {"eq": x == y, "ne": x != y and not (t[0] == "f" and nan and not loose), "lt": x < y, "le": x <= y,
                 "gt": x > y, "ge": x >= y}[base[:2]] or (loose and nan)
        if len(op) == 4 and op[2] in ("and", "or"):
            c = self.get(o[3].lstrip("!")) ^ (o[3][0] == "!")
            r = r and c if op[2] == "and" else r or c
        self.r[o[0]] = int(bool(r))

    def do_selp(self, op, o): self.r[o[0]] = self.get(o[1] if self.get(o[3]) else o[2]) & MASK[int(op[1][1:])]

    def do_cvt(self, op, o):
        words = op[1:]
        how = words[0] if words[0][0] == "r" else None
        to, of = words[-2], words[-1]
        if to in ("f16x2", "bf16x2"):
            half = b16 if to == "f16x2" else bf16
            self.r[o[0]] = half(self.value(o[1], "f32")) << 16 | half(self.value(o[2], "f32"))
            return
        x = self.value(o[1], of)
        if to[0] in "su":
            n = int(to[1:])
            if of[0] in "fb" and of != "b32":
                low, high = (-(1 << n - 1), (1 << n - 1) - 1) if to[0] == "s" else (0, MASK[n])
                x = 0 if x != x else low if x < low else high if x > high else min(max(towards(x, how), low), high)
            elif "sat" in words:
                x = min(max(x, 0), MASK[n])
        elif "sat" in words:
            x = 0.0 if x != x else min(max(x, 0.0), 1.0)
        elif how in ("rzi", "rmi", "rpi", "rni") and x == x and not math.isinf(x):
            x = math.copysign(float(towards(x, how)), x)
        elif to == "f32" and how in ("rz", "rm", "rp"):
            y = float(x) if isinstance(x, int) and abs(x) < 1 << 53 or isinstance(x, float) else x
            if isinstance(y, int):  # cut before it becomes a float
                sign, y = (-1 if y < 0 else 1), abs(y)
                cut = max(y.bit_length() - 24, 0)
                y = float(sign * (y >> cut << cut))
            x = float_towards(y, how)
        v = bits(to, x)
        self.r[o[0]] = number(to, v) & MASK[64] if to[0] == "s" else v  # registers may be wider

    def do_cvta(self, op, o):
        v = self.get(o[1])
        if op[1] == "to":
            self.r[o[0]] = v - SHARED if op[2] == "shared" and v >= SHARED else v
        else:
            self.r[o[0]] = v + SHARED if op[1] == "shared" and v < SHARED else v

    def do_ld(self, op, o):
        t, many = op[-1], next((int(x[1:]) for x in op if x in ("v2", "v4")), 1)
        if op[1] == "param":
            m = re.match(r"\[(\w+)(?:\+(\d+))?\]", o[1])
            at = self.block.symbols[m.group(1)] + int(m.group(2) or 0)
        else:
            at = self.place(o[1], op[1])
        names = [x.strip() for x in o[0].strip("{}").split(",")]
        n = int(t[1:]) // 8
        for i, x in enumerate(names[:many]):
            v = self.load(at + n * i, n)
            self.r[x] = number(t, v) & MASK[64] if t[0] == "s" else v

    def do_st(self, op, o):
        n = int(op[-1][1:]) // 8
        at = self.place(o[0], op[1])
        for i, x in enumerate(x.strip() for x in o[1].strip("{}").split(",")):
            self.store(at + n * i, n, self.get(x))

    def do_atom(self, op, o, result=True):
        t = op[-1].replace("b", "u")
        how = next(x for x in op if x in ("add", "min", "max", "and", "or", "xor", "exch", "cas"))
        space = next((x for x in op if x in ("shared", "global")), None)
        p, args = (o[1], o[2:]) if result else (o[0], o[1:])
        n = int(t.lstrip("bfus")) // 8
        where = self.place(p, space)
        values = [x.strip() for x in args[0].strip("{}").split(",")]
        for i, name in enumerate(values):
            was = self.load(where + n * i, n)
            x, y = number(t, was), self.value(name, t)
            if how == "cas": new = self.get(args[1]) if was == self.get(name) & MASK[8 * n] else was
            else: new = bits(t, {"add": lambda: x + y, "min": lambda: min(x, y), "max": lambda: max(x, y),
                                 "and": lambda: x & y, "or": lambda: x | y, "xor": lambda: x ^ y, "exch": lambda: y}[how]())
            self.store(where + n * i, n, new)
            if result: self.r[o[0]] = was

    def do_red(self, op, o): self.do_atom(op, o, False)

    def do_cp(self, op, o):
        if "shared" not in op:  # commit and wait: it is done at once
            return
        n = int(o[2])
        take = n if len(o) < 4 else min(n, self.get(o[3]) & MASK[32])
        to, of = self.place(o[0], "shared"), self.place(o[1], "global")
        self.store(to, n, self.load(of, take) if take else 0)

    def unary(self, op, o, f):
        t = op[-1]
        try: r = f(self.value(o[1], t))
        except (ValueError, ZeroDivisionError): r = math.nan
        except OverflowError: r = math.inf
        self.r[o[0]] = bits(t, r)

    def do_ex2(self, op, o): self.unary(op, o, lambda x: 2.0 ** x if x == x else x)
    def do_lg2(self, op, o): self.unary(op, o, lambda x: -math.inf if x == 0 else math.log2(x))
    def do_sqrt(self, op, o): self.unary(op, o, math.sqrt)
    def do_rsqrt(self, op, o): self.unary(op, o, lambda x: math.inf if x == 0 else 1 / math.sqrt(x))
    def do_rcp(self, op, o): self.unary(op, o, lambda x: math.copysign(math.inf, x) if x == 0 else 1 / x)
    def do_sin(self, op, o): self.unary(op, o, math.sin)
    def do_cos(self, op, o): self.unary(op, o, math.cos)
    def do_tanh(self, op, o): self.unary(op, o, math.tanh)
    def do_popc(self, op, o): self.r[o[0]] = bin(self.get(o[1]) & MASK[int(op[1][1:])]).count("1")
    def do_clz(self, op, o):
        n = int(op[1][1:])
        self.r[o[0]] = n - (self.get(o[1]) & MASK[n]).bit_length()
    def do_bfe(self, op, o):
        v, at, n = self.get(o[1]), self.get(o[2]) & 255, self.get(o[3]) & 255
        v = v >> at & ((1 << n) - 1)
        self.r[o[0]] = (v - (1 << n) if op[1][0] == "s" and n and v >> n - 1 else v) & MASK[32]
    def do_prmt(self, op, o):
        both = (self.get(o[2]) & MASK[32]) << 32 | self.get(o[1]) & MASK[32]
        pick, r = self.get(o[3]), 0
        for i in range(4):
            s = pick >> 4 * i & 15
            byte = both >> 8 * (s & 7) & 255
            r |= (255 if byte & 128 else 0 if s & 8 else byte) << 8 * i if s & 8 else byte << 8 * i
        self.r[o[0]] = r
    def do_membar(self, op, o): pass
    def do_fence(self, op, o): pass
    def do_prefetch(self, op, o): pass
    def do_trap(self, op, o): raise RuntimeError("trap")


class Block:
    def __init__(self, **more): self.__dict__.update(more)

    def meet(self, kernel, at, group):
        """What the lanes of a warp do together."""
        op, ops = kernel.code[at][2:]
        if op[0] == "activemask":
            for t in group: t.r[ops[0]] = sum(1 << x.lane for x in group)
        elif op[0] == "shfl":
            was = {t.lane: t.get(ops[-4]) & MASK[32] for t in group}
            for t in group:
                by, clamp = t.get(ops[-3]) & 31, t.get(ops[-2])
                seg, top = clamp >> 8 & 31, clamp & 31
                first, last = t.lane & seg, t.lane & seg | top & ~seg & 31
                mode = op[2]
                src = {"bfly": t.lane ^ by, "idx": first | by & ~seg, "up": t.lane - by, "down": t.lane + by}[mode]
                ok = src >= last if mode == "up" else src <= last
                t.r[ops[0]] = was[src] if ok and src in was else was[t.lane]
                if len(ops) == 6: t.r[ops[1]] = int(ok)
        elif op[0] == "vote":
            ps = {t: bool(t.get(ops[1].lstrip("!"))) ^ (ops[1][0] == "!") for t in group}
            r = {"ballot": sum(1 << t.lane for t in group if ps[t]), "any": int(any(ps.values())), "all": int(all(ps.values()))}[op[2]]
            for t in group: t.r[ops[0]] = r
        elif op[0] == "match":
            n = int(op[-1][1:])
            vs = {t: t.get(ops[1]) & MASK[n] for t in group}
            for t in group:
                same = sum(1 << x.lane for x in group if vs[x] == vs[t])
                t.r[ops[0]] = same if op[1] == "any" else same if len(set(vs.values())) == 1 else 0
        elif op[0] == "ldmatrix":
            rows = {t.lane: t.place(ops[1], "shared") for t in group}
            n = int(op[4][1:])
            for t in group:
                for i, x in enumerate(x.strip() for x in ops[0].strip("{}").split(",")):
                    if "trans" in op:
                        lo, hi = (t.load(rows[8 * i + t.lane % 4 * 2 + j] + t.lane // 4 * 2, 2) for j in (0, 1))
                        t.r[x] = lo | hi << 16
                    else:
                        t.r[x] = t.load(rows[8 * i + t.lane // 4] + t.lane % 4 * 4, 4)
            assert n
        elif op[0] == "mma":
            self.multiply(op, ops, group)

    @staticmethod
    def multiply(op, ops, group):
        shape, kind = op[3], op[7]
        if kind not in ("f16", "bf16", "tf32") or op[6] != "f32" or "sp" in op[1]:
            raise NotImplementedError(".".join(op))
        lanes = {t.lane: t for t in group}
        names = [[x.strip() for x in o.strip("{}").split(",")] for o in ops]
        k = int(shape.split("k")[1])
        A, B = [[0.0] * k for _ in range(16)], [[0.0] * 8 for _ in range(k)]
        half = {"f16": f16, "bf16": lambda u: f32((u & 0xffff) << 16)}.get(kind)
        for l, t in lanes.items():
            for i, x in enumerate(names[1]):
                if half:
                    for j in (0, 1): A[l // 4 + 8 * (i % 2)][l % 4 * 2 + j + 8 * (i // 2)] = half(t.get(x) >> 16 * j & 0xffff)
                else: A[l // 4 + 8 * (i % 2)][l % 4 + 4 * (i // 2)] = f32(t.get(x) & 0xffffe000)
            for i, x in enumerate(names[2]):
                if half:
                    for j in (0, 1): B[l % 4 * 2 + j + 8 * i][l // 4] = half(t.get(x) >> 16 * j & 0xffff)
                else: B[l % 4 + 4 * i][l // 4] = f32(t.get(x) & 0xffffe000)
        for l, t in lanes.items():
            out = []
            for i, x in enumerate(names[3]):
                r, c = l // 4 + 8 * (i // 2), l % 4 * 2 + i % 2
                out.append(b32(f32(t.get(x)) + sum(A[r][q] * B[q][c] for q in range(k))))
            for x, v in zip(names[0], out): t.r[x] = v

    def run(self, kernel):
        threads, order = [], 0
        for z in range(self.dim[2]):
            for y in range(self.dim[1]):
                for x in range(self.dim[0]):
                    threads.append(Thread(self, (x, y, z), order % 32))
                    order += 1
        live = {t: t.run(kernel) for t in threads}
        waits = {}
        index = {t: i for i, t in enumerate(threads)}
        while live:
            for t in [t for t in live if t not in waits]:
                try: waits[t] = next(live[t])
                except StopIteration: del live[t]
            freed = []
            for w in range((len(threads) + 31) // 32):
                lanes = [t for t in waits if index[t] // 32 == w and t in live]
                for at in {waits[t][0] for t in lanes if waits[t][1][0] not in ("bar", "barrier") or waits[t][1][1] == "warp"}:
                    group = [t for t in lanes if waits[t][0] == at]
                    others = [t for t in live if index[t] // 32 == w and t not in group]
                    mask = group[0].get(kernel.code[at][3][-1]) & MASK[32] if kernel.code[at][2][0] in ("shfl", "vote", "match") else None
                    if mask is not None and any(mask >> t.lane & 1 for t in others): continue
                    self.meet(kernel, at, group)
                    freed += group
            ids = {}
            for t, (at, op, ops) in waits.items():
                if op[0] in ("bar", "barrier") and op[1] != "warp":
                    which = ops[2] if op[1] == "red" and len(ops) > 2 and "popc" not in op else ops[1] if op[1] == "red" else ops[0]
                    ids.setdefault(t.get(which), []).append((t, op, ops))
            for key, group in ids.items():
                sync = next((g for g in group if g[1][1] != "arrive"), group[0])
                n = len(live) if sync[1][1] == "red" or len(sync[2]) < 2 else sync[0].get(sync[2][1])
                if len(group) < min(n, len(live)): continue
                if sync[1][1] == "red":
                    how = sync[1][2]
                    ps = [bool(t.get(o[-1])) for t, _, o in group]
                    r = {"popc": sum(ps), "and": int(all(ps)), "or": int(any(ps))}[how]
                    for t, _, o in group: t.r[o[0]] = r
                freed += [t for t, _, _ in group]
            if live and not freed and all(t in waits for t in live):
                raise RuntimeError("all threads wait: " + str({".".join(w[1]) for w in waits.values()}))
            for t in freed: waits.pop(t, None)


def main():
    lines = open(sys.argv[1]).read().split("\n")
    path, entry, memory, base = lines[0].split()
    g = [int(x) for x in lines[1].split()]
    kernel = Kernel(open(path).read(), entry)
    values = [int(x) for x in lines[2:] if x]
    symbols, param = {}, bytearray(128 * len(values) + 8)
    for i, ((name, _), v) in enumerate(zip(kernel.params, values)):
        symbols[name] = PARAM + 128 * i
        param[128 * i:128 * i + 8] = (v & MASK[64]).to_bytes(8, "little")
    with open(memory, "r+b") as f:
        m = mmap.mmap(f.fileno(), 0)
        for z in range(g[2]):
            for y in range(g[1]):
                for x in range(g[0]):
                    Block(id=(x, y, z), grid=g[:3], dim=g[3:6], shared=bytearray(max(g[6], 1) + 1024), memory=m,
                          base=int(base), param=param, symbols=dict(symbols)).run(kernel)
        m.flush()


main()
