#!/usr/bin/env python3
"""make.py -- what an H200 makes of each matrix, move and conversion instruction.

Usage: make.py [--compile-only] [--only=PREFIX | --but=PREFIX] [--map=global] FILE

Writes FILE (test/isa/h200.txt): per row of src/isa and 200 random cases a hash of the result, and
for sums of floats in general a sample of the results themselves.  Operands are made by values.h.
--only and --but choose rows by name; --map=global hands tensor maps over in memory, not as
parameters.  The instructions are bare inline PTX, compiled by NVRTC; nothing here comes from the compiler that
test/unit/isa.c then holds to it.  Needs an sm_90a device, libcuda and libnvrtc.
"""
import ctypes
import glob
import re
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXACT, GENERAL, SAMPLE = 200, 32, 8

# bits, exponent bits, mantissa bits
TYPES = {
    "f16": (16, 5, 10), "bf16": (16, 8, 7), "tf32": (32, 8, 10), "f32": (32, 8, 23),
    "f64": (64, 11, 52), "e4m3": (8, 4, 3), "e5m2": (8, 5, 2), "s8": (8, 0, 0), "u8": (8, 0, 0),
    "s4": (4, 0, 0), "u4": (4, 0, 0), "s32": (32, 0, 0),
}


def fx(t):
    return "FxType{%d, %d, %d}" % TYPES[t]


def each(t):
    return max(32 // TYPES[t][0], 1)


def ctype(t):
    return {"f64": "double", "f32": "float"}.get(t, "unsigned")


def constraint(t):
    return {"f64": "d", "f32": "f"}.get(t, "r")


def from_bits(t, expr):
    return {"f64": "__longlong_as_double(%s)", "f32": "__uint_as_float((unsigned)(%s))"}.get(
        t, "(unsigned)(%s)") % expr


def braces(first, n):
    return "{" + ", ".join("%%%d" % (first + i) for i in range(n)) + "}"


def store(t, to, value):
    """Statements that put one register as 32-bit words at to[...]."""
    if t == "f64":
        return "{ unsigned long long w = __double_as_longlong(%s); %s[0] = (unsigned)w; %s[1] = (unsigned)(w >> 32); }" % (
            value, to, to)
    if t == "f32":
        return "*(%s) = __float_as_uint(%s);" % (to, value)
    return "*(%s) = %s;" % (to, value)


class Row:
    def __init__(self, name, threads, words, text, cases=EXACT, general=0):
        self.name, self.threads, self.words, self.text = name, threads, words, text
        self.cases, self.general = cases, general


# ---- mma ----------------------------------------------------------------------------------------

def mma_rows(number):
    rows = []
    pattern = r"^MMA\((\d+), (\d+), (\d+), (\w+), (\w+), (\w+), (\d+)\)"
    for line in (ROOT / "src/target/cuda/isa/matrix.def").read_text().splitlines():
        found = re.match(pattern, line)
        if not found:
            continue
        m, n, k = (int(x) for x in found.groups()[:3])
        c, a, b = found.groups()[3:6]
        rows.append(mma_row(number + len(rows), m, n, k, c, a, b))
    return rows


def fill_registers(which, operand, t, nslot, row, most):
    """Register r of the lane holds slots r*e ... of the operand, the first in the low bits."""
    e, bits = each(t), TYPES[t][0]
    return f"""
    {ctype(t)} {which}[{nslot // e}];
    for (int r = 0; r < {nslot // e}; r++) {{
        FxBits w = 0;
        for (int j = 0; j < {e}; j++)
            w |= fx_value({fx(t)}, fx_key({row}, turn, {operand}, lane * 64 + r * {e} + j), general, {most}) << {bits} % 64 * j;
        {which}[r] = {from_bits(t, "w")};
    }}"""


def mma_row(row, m, n, k, c, a, b):
    na, nb, nc = m * k // 32, k * n // 32, m * n // 32
    ra, rb, rc = na // each(a), nb // each(b), nc // each(c)
    word = 2 if c == "f64" else 1
    args = ", ".join([f'"+{constraint(c)}"(c[{i}])' for i in range(rc)])
    ins = ", ".join([f'"{constraint(a)}"(a[{i}])' for i in range(ra)] + [f'"{constraint(b)}"(b[{i}])' for i in range(rb)])
    name = f"mma.m{m}n{n}k{k}.{c}.{a}.{b}"
    text = f"""
extern "C" __global__ void row_{row}(unsigned *out)
{{
    int turn = blockIdx.x, lane = threadIdx.x, general = turn >= {EXACT};
    {fill_registers("a", 0, a, na, row, 4)}
    {fill_registers("b", 1, b, nb, row, 4)}
    {fill_registers("c", 2, c, nc, row, 64)}
    asm volatile("mma.sync.aligned.m{m}n{n}k{k}.row.col.{c}.{a}.{b}.{c} {braces(0, rc)}, {braces(rc, ra)}, {braces(rc + ra, rb)}, {braces(0, rc)};"
        : {args} : {ins});
    for (int i = 0; i < {rc}; i++) {{
        unsigned *to = out + ((turn * 32 + lane) * {rc} + i) * {word};
        {store(c, "to", "c[i]")}
    }}
}}
"""
    return Row(name, 32, rc * word, text, EXACT, 0 if c == "s32" else GENERAL)


def quad_rows(number):
    """m8n8k4 of sm_70, four of them in a warp: lanes that differ in bit 3 alone hold the same A, those that
    differ in bit 2 the same B, so that together they are an m16n16k4."""
    rows = []
    for c in ("f32", "f16"):
        row = number + len(rows)
        n, rc = 8, 8 // each(c)
        args = ", ".join([f'"+{constraint(c)}"(c[{i}])' for i in range(rc)])
        text = f"""
extern "C" __global__ void row_{row}(unsigned *out)
{{
    int turn = blockIdx.x, self = threadIdx.x, general = turn >= {EXACT}, lane = self & ~8;
    {fill_registers("a", 0, "f16", 4, row, 4)}
    lane = self & ~4;
    {fill_registers("b", 1, "f16", 4, row, 4)}
    lane = self;
    {fill_registers("c", 2, c, n, row, 64)}
    asm volatile("mma.sync.aligned.m8n8k4.row.col.{c}.f16.f16.{c} {braces(0, rc)}, {braces(rc, 2)}, {braces(rc + 2, 2)}, {braces(0, rc)};"
        : {args} : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < {rc}; i++) {{
        unsigned *to = out + (turn * 32 + lane) * {rc} + i;
        {store(c, "to", "c[i]")}
    }}
}}
"""
        rows.append(Row(f"mma.m16n16k4.{c}.f16.f16", 32, rc, text, EXACT, GENERAL))
    return rows


# ---- ldmatrix, stmatrix -------------------------------------------------------------------------

# name, bytes of an element, rows, bytes of a row, matrices, .trans, row and 16-byte column of lane l
LOADS = [
    ("ldmatrix.a.u16.16x16", 2, 16, 32, 4, 0, "l % 16", "l / 16"),
    ("ldmatrix.a.u16.16x8", 2, 16, 16, 2, 0, "l % 16", "0"),
    ("ldmatrix.a.u8.16x32", 1, 16, 32, 4, 0, "l % 16", "l / 16"),
    ("ldmatrix.a.u8.8x16", 1, 8, 16, 1, 0, "l % 8", "0"),
    ("ldmatrix.a.u32.16x8", 4, 16, 32, 4, 0, "l % 16", "l / 16"),
    ("ldmatrix.a.trans.u16.16x16", 2, 16, 32, 4, 1, "l % 8 + 8 * (l / 16)", "l / 8 % 2"),
    ("ldmatrix.a.trans.u16.8x16", 2, 8, 32, 2, 1, "l % 8", "l / 8 % 2"),
    ("ldmatrix.b.u16.8x16", 2, 8, 32, 2, 0, "l % 8", "l / 8 % 2"),
    ("ldmatrix.b.u16.16x16", 2, 16, 32, 4, 0, "l % 8 + 8 * (l / 16)", "l / 8 % 2"),
    ("ldmatrix.b.u8.16x32", 1, 16, 32, 4, 0, "l % 8 + 8 * (l / 16)", "l / 8 % 2"),
    ("ldmatrix.b.u32.8x8", 4, 8, 32, 2, 0, "l % 8", "l / 8 % 2"),
    ("ldmatrix.b.u16.32x8", 2, 32, 16, 4, 0, "l % 8 + 8 * (l / 8)", "0"),
    ("ldmatrix.b.trans.u16.16x8", 2, 16, 16, 2, 1, "l % 16", "0"),
    ("ldmatrix.b.trans.u16.16x16", 2, 16, 32, 4, 1, "l % 16", "l / 16"),
    ("ldmatrix.b.trans.u16.8x32", 2, 8, 64, 4, 1, "l % 8", "l / 8"),
]


def load_rows(number):
    rows = []
    for name, size, height, width, n, trans, row, col in LOADS:
        i = number + len(rows)
        regs = ", ".join(f'"=r"(d[{j}])' for j in range(n))
        text = f"""
extern "C" __global__ void row_{i}(unsigned *out)
{{
    __shared__ __align__(128) unsigned char s[{height * width}];
    int turn = blockIdx.x, l = threadIdx.x;
    for (int j = l; j < {height * width // size}; j += 32) {{
        FxBits v = fx_random(fx_key({i}, turn, 0, j));
        for (int b = 0; b < {size}; b++)
            s[j * {size} + b] = (unsigned char)(v >> 8 * b);
    }}
    __syncwarp();
    unsigned d[{n}], at = (unsigned)__cvta_generic_to_shared(s + ({row}) % {height} * {width} + ({col}) % {width // 16} * 16);
    asm volatile("ldmatrix.sync.aligned.m8n8.x{n}{".trans" if trans else ""}.shared.b16 {braces(0, n)}, [%{n}];"
        : {regs} : "r"(at) : "memory");
    for (int j = 0; j < {n}; j++)
        out[(turn * 32 + l) * {n} + j] = d[j];
}}
"""
        rows.append(Row(name, 32, n, text))
    return rows


def store_rows(number):
    rows = []
    for n, height, width in ((1, 8, 8), (2, 16, 8), (4, 16, 16)):
        i = number + len(rows)
        regs = ", ".join(f'"r"(d[{j}])' for j in range(n))
        words = height * width // 2
        text = f"""
extern "C" __global__ void row_{i}(unsigned *out)
{{
    __shared__ __align__(128) unsigned short s[{height * width}];
    int turn = blockIdx.x, l = threadIdx.x;
    unsigned d[{n}];
    for (int j = 0; j < {n}; j++)
        d[j] = (unsigned)(fx_random(fx_key({i}, turn, 0, l * 64 + 2 * j)) & 0xffff) |
               (unsigned)(fx_random(fx_key({i}, turn, 0, l * 64 + 2 * j + 1)) & 0xffff) << 16;
    unsigned at = (unsigned)__cvta_generic_to_shared(s + l % {height} * {width} + l / {height} * 8 % {width});
    asm volatile("stmatrix.sync.aligned.m8n8.x{n}.shared.b16 [%0], {braces(1, n)};" : : "r"(at), {regs} : "memory");
    __syncwarp();
    for (int j = l; j < {words}; j += 32)
        out[turn * {words} + j] = s[2 * j] | (unsigned)s[2 * j + 1] << 16;
}}
"""
        rows.append(Row(f"stmatrix.{height}x{width}", 1, words, text))
    return rows


# ---- wgmma --------------------------------------------------------------------------------------

PRODUCTS = [("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"),
            ("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("f32", "e4m3", "e5m2"),
            ("f32", "e5m2", "e4m3"), ("f32", "e5m2", "e5m2"), ("s32", "s8", "s8"),
            ("s32", "s8", "u8"), ("s32", "u8", "s8"), ("s32", "u8", "u8")]


def wgmma_rows(number):
    rows = []

    def add(*args):
        rows.append(wgmma_row(number + len(rows), *args))

    for c, a, b in PRODUCTS:
        for span in (128, 64, 32):
            add(c, a, b, 16, span, False, False, False)
        add(c, a, b, 16, 128, True, False, False)
    add("f32", "bf16", "bf16", 128, 128, False, False, False)
    add("s32", "s8", "s8", 24, 128, False, False, False)
    add("f32", "f16", "f16", 8, 128, False, False, False)
    for t in ("f16", "bf16"):
        for span in (128, 64, 32):
            for ta, tb in ((False, True), (True, False), (True, True)):
                add("f32", t, t, max(span, 32) if span < 128 else 64, span, False, ta, tb)
        add("f32", t, t, 64, 128, True, False, True)
    add("f32", "f16", "f16", 128, 128, False, False, True)
    return rows


def tile_text(row, which, operand, t, mn, k, span, turned):
    """A tile in shared memory: K-major mn x span bytes, or 32 x mn in panels (k as rows)."""
    size = TYPES[t][0] // 8
    height, width = (32, mn * size) if turned else (mn, span)
    cols = width // size
    return height, width, f"""
    for (int j = t; j < {height * cols}; j += 128) {{
        FxBits v = fx_value({fx(t)}, fx_key({row}, turn, {operand}, j), general, 4);
        int at = fx_swizzled({height}, j / {cols}, j % {cols} * {size}, {span});
        for (int b = 0; b < {size}; b++)
            s{which}[at + b] = (unsigned char)(v >> 8 * b);
    }}"""


def descriptor(which, height, span, turned, k):
    mode = {128: 1, 64: 2, 32: 3}[span]
    leading = height * span if turned else 16
    step = "16 * %d" % span if turned else "32"
    return (f"(unsigned long long)((((unsigned)__cvta_generic_to_shared(s{which}) + step * {step}) & 0x3ffff) >> 4) | "
            f"(unsigned long long){leading >> 4} << 16 | (unsigned long long){8 * span >> 4} << 32 | (unsigned long long){mode} << 62")


def wgmma_row(row, c, a, b, n, span, rs, ta, tb):
    """ta, tb: the operand lies with k as rows (MN-major)."""
    bits = TYPES[a][0]
    k = 256 // bits
    e = each(a)
    steps = 2 if ta or tb else span // 32
    rc = n // 2 // each(c)
    ha, wa, fill_a = tile_text(row, "a", 0, a, 64, k, span, ta)
    hb, wb, fill_b = tile_text(row, "b", 1, b, n, k, span, tb)
    mixed = (ta or tb) and not (ta and tb)
    if mixed:  # the K-major operand has span / 32 steps, the other two: use as many as both have
        steps = min(2, span // 32)
    half = a in ("f16", "bf16")
    is_float = c != "s32"
    tail = (", 1, 1" if is_float else "") + (((", %d" % ta) if not rs else "") + ", %d" % tb if half else "")
    regs_a = f"""
    unsigned ra[4];
    for (int r = 0; r < 4; r++) {{
        FxBits w = 0;
        for (int j = 0; j < {e}; j++) {{
            int i = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2), kk = t % 4 * {e} + j + 4 * {e} * (r / 2);
            w |= fx_value({fx(a)}, fx_key({row}, turn, 0, i * {span * 8 // bits} + step * {k} + kk), general, 4) << {bits} * j;
        }}
        ra[r] = (unsigned)w;
    }}"""
    in_a = ', '.join(f'"r"(ra[{i}])' for i in range(4)) if rs else '"l"(da)'
    na = 4 if rs else 1
    name = "wgmma.m64n%dk%d.%s.%s.%s.%s.%d%s%s" % (n, k, c, a, b, "rs" if rs else "ss", span,
                                                  ".ta" if ta else "", ".tb" if tb else "")
    text = f"""
extern "C" __global__ void row_{row}(unsigned *out)
{{
    __shared__ __align__(1024) unsigned char sa[{ha * wa}], sb[{hb * wb}];
    int turn = blockIdx.x, t = threadIdx.x, general = turn >= {EXACT}, step = turn % {steps};
    {fill_a if not rs else ""}{regs_a if rs else ""}
    {fill_b}
    {ctype(c)} c[{rc}];
    for (int r = 0; r < {rc}; r++) {{
        FxBits w = 0;
        for (int j = 0; j < {each(c)}; j++) {{
            int s = r * {each(c)} + j, i = t / 32 * 16 + t % 32 / 4 + 8 * (s / 2 % 2), jj = 8 * (s / 4) + t % 4 * 2 + s % 2;
            w |= fx_value({fx(c)}, fx_key({row}, turn, 2, i * {n} + jj), general, 64) << {TYPES[c][0]} * j;
        }}
        c[r] = {from_bits(c, "w")};
    }}
    {"" if rs else f"unsigned long long da = {descriptor('a', ha, span, ta, k)};"}
    unsigned long long db = {descriptor("b", hb, span, tb, k)};
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n{n}k{k}.{c}.{a}.{b} {braces(0, rc)}, {braces(rc, 4) if rs else "%" + str(rc)}, %{rc + na}, p{tail}; }}"
        : {", ".join(f'"+{constraint(c)}"(c[{i}])' for i in range(rc))} : {in_a}, "l"(db));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < {rc}; i++) {{
        unsigned *to = out + (turn * 128 + t) * {rc} + i;
        {store(c, "to", "c[i]")}
    }}
}}
"""
    return Row(name, 128, rc, text, EXACT, GENERAL if is_float else 0)


# ---- bulk tensor copies -------------------------------------------------------------------------
# The first coordinate must be at a multiple of 16 bytes: anything else is an illegal instruction.

TENSOR_ROWS, BOX_ROWS = 40, 16
MAP_IN_MEMORY = "--map=global" in sys.argv
TMA_TYPE = {1: 0, 2: 1, 4: 2}  # CU_TENSOR_MAP_DATA_TYPE_UINT8, 16, 32


def tma_cols(size, span):
    return (2 * span + 48) // size


def tma_rows(number):
    rows = []
    for size in (1, 2, 4):
        for span in (0, 32, 64, 128):
            i = number + len(rows)
            width = span or 64
            cols, box = tma_cols(size, width), BOX_ROWS * width
            text = f"""
extern "C" __global__ void fill_{i}(unsigned char *tensor)
{{
    for (int j = threadIdx.x; j < {TENSOR_ROWS * cols}; j += blockDim.x) {{
        FxBits v = fx_random(fx_key({i}, 0, 0, j));
        for (int b = 0; b < {size}; b++)
            tensor[j * {size} + b] = (unsigned char)(v >> 8 * b);
    }}
}}
extern "C" __global__ void row_{i}(unsigned *out, {"const Map *map" if MAP_IN_MEMORY else "const __grid_constant__ Map map"})
{{
    __shared__ __align__(1024) unsigned char s[{box}];
    __shared__ __align__(8) unsigned long long bar;
    int turn = blockIdx.x, t = threadIdx.x;
    int x = ((int)(fx_random(fx_key({i}, turn, 1, 0)) % {cols * size // 16 + 2}) - 2) * {16 // size}, y = (int)(fx_random(fx_key({i}, turn, 1, 1)) % {TENSOR_ROWS + 8}) - 8;
    unsigned at = (unsigned)__cvta_generic_to_shared(s), b = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0) {{
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;" : : "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], {box};" : : "r"(b) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {{%2, %3}}], [%4];"
            : : "r"(at), "l"({"map" if MAP_IN_MEMORY else "&map"}), "r"(x), "r"(y), "r"(b) : "memory");
    }}
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile("{{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }}" : "=r"(done) : "r"(b) : "memory");
    for (int j = t; j < {box // 4}; j += 32)
        out[turn * {box // 4} + j] = ((unsigned *)s)[j];
}}
"""
            row = Row(f"tma.load.u{8 * size}.{span}", 1, box // 4, text)
            row.tma = (size, span, cols, width // size)
            rows.append(row)
    return rows


# ---- conversions --------------------------------------------------------------------------------

CONVERSIONS = [
    ("f32", "f16", "f", "h", "cvt.rn.f16.f32 %0, %1;"),
    ("f32", "bf16", "f", "h", "cvt.rn.bf16.f32 %0, %1;"),
    ("f32", "tf32", "f", "r", "cvt.rn.tf32.f32 %0, %1;"),
    ("f32", "e4m3", "f", "h", "cvt.rn.satfinite.e4m3x2.f32 %0, 0f00000000, %1;"),
    ("f32", "e5m2", "f", "h", "cvt.rn.satfinite.e5m2x2.f32 %0, 0f00000000, %1;"),
    ("f16", "f32", "h", "f", "cvt.f32.f16 %0, %1;"),
    ("bf16", "f32", "h", "f", "cvt.f32.bf16 %0, %1;"),
    ("e4m3", "f16", "h", "r", "cvt.rn.f16x2.e4m3x2 %0, %1;"),
    ("e5m2", "f16", "h", "r", "cvt.rn.f16x2.e5m2x2 %0, %1;"),
    ("f64", "f32", "d", "f", "cvt.rn.f32.f64 %0, %1;"),
    ("f64", "f16", "d", "h", "cvt.rn.f16.f64 %0, %1;"),
    ("f32", "s32", "f", "r", "cvt.rzi.s32.f32 %0, %1;"),
    ("f32", "u32", "f", "r", "cvt.rzi.u32.f32 %0, %1;"),
    ("f32", "s8", "f", "r", "cvt.rzi.s8.f32 %0, %1;"),
    ("f32", "u8", "f", "r", "cvt.rzi.u8.f32 %0, %1;"),
    ("s32", "f32", "r", "f", "cvt.rn.f32.s32 %0, %1;"),
    ("u32", "f32", "r", "f", "cvt.rn.f32.u32 %0, %1;"),
    ("s32", "f16", "r", "h", "cvt.rn.f16.s32 %0, %1;"),
]
SIZES = {"u32": 32, **{t: TYPES[t][0] for t in TYPES}}
CONVERT_EACH, CONVERT_CASES = 8, 256


def convert_rows(number):
    """Inputs: any bits, and every second one with an exponent that the result can hold."""
    hold = {"h": "unsigned short", "r": "unsigned", "f": "float", "d": "double"}
    take = {"h": "(unsigned short)v", "r": "(unsigned)v", "f": "__uint_as_float((unsigned)v)", "d": "__longlong_as_double(v)"}
    give = {"h": "y", "r": "y", "f": "__float_as_uint(y)"}
    rows = []
    for a, b, ca, cb, ptx in CONVERSIONS:
        i = number + len(rows)
        text = f"""
extern "C" __global__ void row_{i}(unsigned *out)
{{
    int turn = blockIdx.x, j = threadIdx.x;
    FxBits v = fx_random(fx_key({i}, turn, 0, j)) & fx_mask({SIZES[a]});
    if ({TYPES.get(a, (32, 0, 0))[1]} && j % 2)
        v = (v & ~(fx_mask({TYPES.get(a, (32, 0, 0))[1]}) << {SIZES[a] - 1 - TYPES.get(a, (32, 0, 0))[1]})) |
            (FxBits)({(1 << max(TYPES.get(a, (32, 1, 0))[1] - 1, 0)) - 1} + (int)(v % 24) * {1 if TYPES.get(a, (32, 0, 0))[1] >= 8 else 0} - 12 * {1 if TYPES.get(a, (32, 0, 0))[1] >= 8 else 0}) << {SIZES[a] - 1 - TYPES.get(a, (32, 0, 0))[1]};
    {hold[ca]} x = {take[ca]};
    {hold[cb]} y;
    asm volatile("{ptx}" : "={cb}"(y) : "{ca}"(x));
    out[turn * {CONVERT_EACH} + j] = {give[cb]};
}}
"""
        row = Row(f"convert.{a}.{b}", 1, CONVERT_EACH, text, CONVERT_CASES)
        row.threads_run, row.convert = CONVERT_EACH, b
        rows.append(row)
    return rows


def canonical(t, w):
    """NaNs of a type are one; what is beyond the type's bits is dropped."""
    w &= (1 << SIZES[t]) - 1
    limits = {"f16": (0x7c00, 0x7e00), "bf16": (0x7f80, 0x7fc0), "f32": (0x7f800000, 0x7fc00000),
              "tf32": (0x7f800000, 0x7fc00000), "e4m3": (0x7e, 0x7f), "e5m2": (0x7c, 0x7f)}
    if t in limits and w & ((1 << (SIZES[t] - 1)) - 1) > limits[t][0]:
        return limits[t][1]
    return w


# ---- compiling and running ----------------------------------------------------------------------

def find(names, patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            try:
                return ctypes.CDLL(path)
            except OSError:
                pass
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    sys.exit("none of " + ", ".join(names))


def compile_cuda(source):
    lib = find(["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
               ["/usr/local/cuda*/lib*/libnvrtc.so.1?", "/opt/torch/.venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.1?"])
    program = ctypes.c_void_p()
    lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"isa.cu", 0, None, None)
    options = [b"--gpu-architecture=sm_90a", b"--std=c++17"]
    status = lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    n = ctypes.c_size_t()
    lib.nvrtcGetProgramLogSize(program, ctypes.byref(n))
    log = ctypes.create_string_buffer(n.value)
    lib.nvrtcGetProgramLog(program, log)
    if status:
        sys.exit(log.value.decode())
    lib.nvrtcGetCUBINSize(program, ctypes.byref(n))
    cubin = ctypes.create_string_buffer(n.value)
    lib.nvrtcGetCUBIN(program, cubin)
    return cubin


class Device:
    def __init__(self, cubin):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.check(self.cu.cuInit(0))
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self.check(self.cu.cuDeviceGet(ctypes.byref(device), 0))
        self.check(self.cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self.check(self.cu.cuCtxSetCurrent(context))
        self.module = ctypes.c_void_p()
        self.check(self.cu.cuModuleLoadData(ctypes.byref(self.module), cubin))

    def check(self, status):
        if status:
            sys.exit(f"CUDA error {status}")

    def alloc(self, n):
        p = ctypes.c_uint64()
        self.check(self.cu.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(n)))
        self.check(self.cu.cuMemsetD8_v2(p, ctypes.c_ubyte(0), ctypes.c_size_t(n)))
        return p

    def run(self, name, blocks, threads, args):
        f = ctypes.c_void_p()
        self.check(self.cu.cuModuleGetFunction(ctypes.byref(f), self.module, name.encode()))
        pointers = (ctypes.c_void_p * len(args))(*[ctypes.addressof(a) for a in args])
        self.check(self.cu.cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None))
        self.check(self.cu.cuCtxSynchronize())

    def read(self, p, n):
        buf = ctypes.create_string_buffer(n)
        self.check(self.cu.cuMemcpyDtoH_v2(buf, p, ctypes.c_size_t(n)))
        self.check(self.cu.cuMemFree_v2(p))
        return buf.raw

    def map(self, address, size, span, cols, box):
        storage = (ctypes.c_ubyte * 192)()
        at = ctypes.addressof(storage)
        at += -at % 64
        dims, strides = (ctypes.c_uint64 * 2)(cols, TENSOR_ROWS), (ctypes.c_uint64 * 1)(cols * size)
        boxes, steps = (ctypes.c_uint32 * 2)(box, BOX_ROWS), (ctypes.c_uint32 * 2)(1, 1)
        mode = {0: 0, 32: 1, 64: 2, 128: 3}[span]
        self.check(self.cu.cuTensorMapEncodeTiled(ctypes.c_void_p(at), TMA_TYPE[size], 2, address, dims, strides, boxes,
                                                  steps, 0, mode, 0, 0))
        self.keep = storage
        if not MAP_IN_MEMORY:
            return (ctypes.c_ubyte * 128).from_address(at)
        p = self.alloc(128)
        self.check(self.cu.cuMemcpyHtoD_v2(p, ctypes.c_void_p(at), ctypes.c_size_t(128)))
        return p


def hashes(words, cases, per):
    """FNV-1a of each case, 32 bits at a time."""
    try:
        import numpy
    except ImportError:
        numpy = None
    if numpy is None:
        result = []
        for i in range(cases):
            h = 2166136261
            for w in words[i * per:(i + 1) * per]:
                h = (h ^ w) * 16777619 & 0xffffffff
            result.append(h)
        return result
    table = numpy.array(words[:cases * per], dtype=numpy.uint32).reshape(cases, per)
    h = numpy.full(cases, 2166136261, dtype=numpy.uint32)
    for j in range(per):
        h = (h ^ table[:, j]) * numpy.uint32(16777619)
    return [int(x) for x in h]


def put(out, words, width):
    for i in range(0, len(words), width):
        out.append(" ".join("%08x" % w for w in words[i:i + width]))


def run_row(device, number, row, out):
    per = row.threads * row.words
    total = row.cases + row.general
    p = device.alloc(total * per * 4)
    args = [p]
    if hasattr(row, "tma"):
        size, span, cols, box = row.tma
        tensor = device.alloc(TENSOR_ROWS * cols * size)
        device.run(f"fill_{number}", 1, 128, [tensor])
        args.append(device.map(tensor, size, span, cols, box))
    device.run(f"row_{number}", total, getattr(row, "threads_run", 32 if row.threads == 1 else row.threads), args)
    words = struct.unpack("<%dI" % (total * per), device.read(p, total * per * 4))
    if hasattr(row, "convert"):
        words = [canonical(row.convert, w) for w in words]
    out.append(f"row {number} {row.name} {row.cases} {row.general}")
    put(out, hashes(words, row.cases, per), 16)
    # general cases: SAMPLE results each, spread over the threads; one of 64 bits is two words
    unit = 2 if ".f64." in row.name else 1
    for g in range(row.cases, total):
        sample = []
        for s in range(SAMPLE):
            at = g * per + (g * 7 + s * 37) % (per // unit) * unit
            sample += words[at:at + unit]
        put(out, sample, 16)


def all_rows():
    rows = []
    for make in (mma_rows, load_rows, store_rows, wgmma_rows, tma_rows, convert_rows, quad_rows):
        rows += make(len(rows))
    return rows


def chosen(name):
    for arg in sys.argv[1:]:
        if arg.startswith("--only=") and not name.startswith(arg[7:]):
            return False
        if arg.startswith("--but=") and name.startswith(arg[6:]):
            return False
    return True


def main():
    rows = all_rows()
    source = "#define FX static __device__ __forceinline__\n" + (HERE / "values.h").read_text()
    source += "struct __align__(64) Map { unsigned long long x[16]; };\n" + "".join(r.text for r in rows if chosen(r.name))
    cubin = compile_cuda(source)
    print(len(rows), "rows,", len(cubin), "bytes of code")
    if "--compile-only" in sys.argv:
        return
    device = Device(cubin)
    out = ["# h200.txt -- made by make.py on an H200: per row, hashes of exact cases, then samples of general ones"]
    for i, row in enumerate(rows):
        if chosen(row.name):
            run_row(device, i, row, out)
            print(row.name, flush=True)
    Path(sys.argv[-1]).write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
