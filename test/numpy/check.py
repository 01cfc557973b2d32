"""Kernels of test/kernel against numpy: a meaning that was written down outside this program.

Usage: check.py TL [SUBSTRING]      prints what failed and `N passed, M failed`.
"""
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernel")


# ---- narrow floats: every code of a format and its value ------------------------------------------

def codes_of(ebits, mbits, bias, special):
    """Values of the codes without sign; None where a code is no finite number."""
    values = []
    for code in range(1 << (ebits + mbits)):
        e, m = code >> mbits, code & ((1 << mbits) - 1)
        v = m * 2.0 ** (1 - bias - mbits) if e == 0 else (1 + m * 2.0**-mbits) * 2.0 ** (e - bias)
        ieee = special == "ieee" and e == (1 << ebits) - 1
        last = special == "fn" and code == (1 << (ebits + mbits)) - 1
        values.append(None if ieee or last else v)
    return values


FORMATS = {
    "float8_e3m4": (3, 4, 3, "ieee"), "float8_e4m3fn": (4, 3, 7, "fn"), "float8_e5m2": (5, 2, 15, "ieee"),
    "float8_e4m3fnuz": (4, 3, 8, "uz"), "float8_e4m3b11fnuz": (4, 3, 11, "uz"), "float8_e5m2fnuz": (5, 2, 16, "uz"),
    "float6_e2m3fn": (2, 3, 1, "none"), "float6_e3m2fn": (3, 2, 3, "none"), "float4_e2m1fn": (2, 1, 1, "none"),
}


def round_codes(x, fmt):
    """Nearest code, ties to the even one, too large gives the largest."""
    ebits, mbits, bias, special = FORMATS[fmt]
    table = [(v, c) for c, v in enumerate(codes_of(ebits, mbits, bias, special)) if v is not None]
    values = np.array([v for v, _ in table])
    mag = np.minimum(np.abs(x.astype(np.float64)), values[-1])
    hi = np.clip(np.searchsorted(values, mag), 1, len(values) - 1)
    lo = hi - 1
    dl, dh = mag - values[lo], values[hi] - mag
    code = np.where((dl < dh) | ((dl == dh) & (lo % 2 == 0)), lo, hi)
    sign = (np.signbit(x) & ~((special == "uz") & (code == 0))).astype(np.int64) << (ebits + mbits)
    return code | sign


def code_values(codes, fmt):
    ebits, mbits, bias, special = FORMATS[fmt]
    table = np.array([np.nan if v is None else v for v in codes_of(ebits, mbits, bias, special)])
    top = 1 << (ebits + mbits)
    return np.where(codes & top, -1.0, 1.0) * table[codes & (top - 1)]


def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(b):
    return (b.astype(np.uint32) << 16).view(np.float32)


def saturate(x, dtype):
    info = np.iinfo(dtype)
    x = np.trunc(x.astype(np.float64))
    return np.where(x >= info.max, info.max, np.where(x <= info.min, info.min, x)).astype(dtype)


# ---- inputs ------------------------------------------------------------------------------------------

rng = np.random.default_rng(3)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(dtype, *shape, low=-4, high=5):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    low = 0 if dtype.startswith("u") else low
    return rng.integers(low, high, shape).astype(dtype)


def value(dtype, *shape):
    return normal(*shape).astype(dtype) if dtype.startswith("float") else ints(dtype, *shape)


# ---- what the kernels mean: (inputs, outputs) by kernel ---------------------------------------------

def copy_types(src, dst, scale=300, N=1037):
    x = normal(N) if src == "float32" else ints(src, N)
    y = x.astype(np.float32) * np.float32(scale)

    def to(v):
        if dst in FORMATS:
            return round_codes(v, dst).astype(np.uint8)
        if dst == "bfloat16":
            return to_bf16(v)
        if dst == "bool":
            return v != 0
        if dst.startswith("float"):
            with np.errstate(over="ignore"):
                return v.astype(dst)
        return saturate(v, dst) if v.dtype.kind == "f" else v.astype(dst)

    return {"A": x}, {"B": to(x), "C": to(y)}


def copy_safe(M, N):
    a = normal(M, N)
    c = np.full((64, 128), 3, np.float32)
    c[:M, :N] = a
    return {"A": a}, {"C": c}


def shifted(M, N, b=32):
    a = normal(M, N)
    c = np.zeros((M, N), np.float32)
    # a[y - 7, x - 5] lands at c[y - 9, x - 3]; tiles cover rows from -7 and columns from -5
    for i in range(M):
        for j in range(N):
            y, x = i + 2, j - 2
            top, left = (i + 9) // b, (j + 3) // b
            if top <= -(-M // b) and left <= -(-N // b):
                c[i, j] = a[y, x] if 0 <= y < M and 0 <= x < N else 0
    return {"A": a}, {"C": c}


def transpose(M, N, **k):
    a = normal(M, N)
    return {"A": a}, {"B": a.T.copy()}


def reshape(M, N):
    a = normal(M, N)
    return {"A": a}, {"B": a.reshape(N, M), "C": (a * 2).reshape(-1)}


def retype(N):
    a = normal(N)
    return {"A": a}, {"B": a.view(np.int32) >> 23}


def im2col(N, H, W, C, kernel=3, stride=1, dilation=1, pad=0, **k):
    x = normal(N, H, W, C)
    p = np.zeros((N, H + 2 * pad, W + 2 * pad, C), np.float32)
    p[:, pad : pad + H, pad : pad + W] = x
    OH = (H + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    OW = (W + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    rows = [p[n, i * stride : i * stride + dilation * kernel : dilation,
              j * stride : j * stride + dilation * kernel : dilation][:kernel, :kernel].reshape(-1)
            for n in range(N) for i in range(OH) for j in range(OW)]
    return {"X": x}, {"Y": np.array(rows)}


def gemm(M, N, K, ta=False, tb=False, dtype="float32", **k):
    a = value(dtype, *((K, M) if ta else (M, K)))
    b = value(dtype, *((N, K) if tb else (K, N)))
    wide = np.float64 if dtype.startswith("float") else np.int64
    return {"A": a, "B": b}, {"C": (a.T if ta else a).astype(wide) @ (b.T if tb else b).astype(wide)}


def chain(M, N, D=24):
    q, k, v = normal(M, D), normal(N, D), normal(N, D)
    return {"Q": q, "K": k, "V": v}, {"O": (q.astype(np.float64) @ k.T) @ v}


def clears(M, N, K):
    a, b = normal(M, K), normal(K, N)
    return {"A": a, "B": b}, {"C": a.astype(np.float64) @ b}


def stages(N, b=16, **k):
    x, y = normal(N), normal(N)
    n = -(-N // b) * b
    p = np.zeros(n)
    p[:N] = x.astype(np.float64) * y
    p += np.arange(n) // b
    return {"A": x, "B": y}, {"C": p.reshape(-1, b).sum(0)}


REDUCE = {
    "sum": lambda x, d: x.sum(d), "abssum": lambda x, d: np.abs(x).sum(d), "max": lambda x, d: x.max(d),
    "min": lambda x, d: x.min(d), "absmax": lambda x, d: np.abs(x).max(d),
    "bitand": lambda x, d: np.bitwise_and.reduce(x, d), "bitor": lambda x, d: np.bitwise_or.reduce(x, d),
    "bitxor": lambda x, d: np.bitwise_xor.reduce(x, d),
}
AGAIN = {"sum": np.add, "abssum": None, "max": np.maximum, "min": np.minimum, "absmax": lambda a, b: np.maximum(a, b),
         "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor}


def reduce(op, dim=1, clear=True, dtype="float32", M=17, N=33, **k):
    x = value(dtype, M, N)
    y = value(dtype, M if dim == 1 else N)
    wide = x.astype(np.float64) if dtype.startswith("float") else x
    r = REDUCE[op](wide, dim)
    if not clear:
        r = AGAIN[op](y.astype(r.dtype), r)
    return {"X": x, "Y": y}, {"Y": r.astype(dtype)}


def scan(op, dim=0, reverse=False, M=17, N=33, dtype="float32", **k):
    x = value(dtype, M, N)
    y = np.flip(x, dim) if reverse else x
    y = np.cumsum(y.astype(np.float64), dim) if op == "cumsum" else np.maximum.accumulate(y, dim)
    return {"X": x}, {"Y": np.flip(y, dim) if reverse else y}


def reducers(op="sum", seed=False, M=24, N=40, dtype="float32"):
    x = value(dtype, M, N)
    y = REDUCE[op](x.astype(np.float64) if dtype == "float32" else x, 1)
    return {"X": x}, {"Y": AGAIN[op](y, np.array(2, y.dtype)) if seed else y}


def histogram(N=1000, bins=7, **k):
    x = ints("int32", N)
    h = np.zeros(bins, np.int32)
    return {"X": x, "H": h}, {"H": np.bincount((x + 4) % bins, minlength=bins)}


def add_tiles(M, N, **k):
    x, y = normal(4, M, N), normal(M, N)
    return {"X": x, "Y": y}, {"Y": y + x.astype(np.float64).sum(0)}


def unary(N=100, **k):
    x = normal(N)
    v = x.astype(np.float64)
    p, u = np.abs(v) + 0.25, np.sin(v)
    away = np.copysign(np.floor(np.abs(v * 4) + 0.5), v)
    rows = [np.abs(v), np.arctan(v), np.arcsinh(v), np.ceil(v), np.cos(v), np.cosh(v), np.vectorize(math.erf)(v),
            np.exp(v), np.exp2(v), 10.0**v, np.floor(v), np.rint(v), np.rint(v), 1 / (1 + np.exp(-v)), np.sin(v),
            np.sinh(v), np.tan(v), np.tanh(v), np.trunc(v), np.log(p), np.log2(p), np.log10(p), np.log1p(p), np.sqrt(p),
            1 / np.sqrt(p), np.arccos(u), np.arcsin(u), np.arctanh(u), np.arccosh(p + 1), away]
    return {"X": x}, {"Y": np.array(rows)}


def two(N=100):
    x, y = normal(N), normal(N)
    a, b = x.astype(np.float64), y.astype(np.float64)
    rows = [np.arctan2(a, b), np.copysign(a, b), np.fmod((x * np.float32(10)).astype(np.float64), b), np.hypot(a, b), np.abs(a) ** b,
            a**3, np.sqrt(np.abs(a)), np.maximum(a, b), np.minimum(a, b), a * b + a, np.clip(a, -0.5, 0.75),
            np.nextafter(x, y)]
    return {"X": x, "Y": y}, {"Z": np.array(rows)}


def neighbours(N=512, dtype="float16"):
    """All pairs of special codes, then any."""
    special = np.array([0, 1, 2, 0x3FF, 0x400, 0x3F80, 0x3C00, 0x7BFF, 0x7C00, 0x7F7F, 0x7F80, 0x7E00], np.uint16)
    special = np.concatenate([special, special | 0x8000])
    x, y = (rng.integers(0, 1 << 16, N).astype(np.uint16) for _ in range(2))
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)[:, :: 2]
    x[: pairs.shape[1]], y[: pairs.shape[1]] = pairs
    infinity = {"float16": 0x7C00, "bfloat16": 0x7F80}[dtype]

    def place(code):
        return np.where(code & 0x8000, -(code & 0x7FFF).astype(np.int64), (code & 0x7FFF).astype(np.int64))

    at, to = place(x), place(y)
    step = at + np.sign(to - at)
    code = np.where(at == to, y, np.abs(step) | np.where((step < 0) | ((step == 0) & (at < 0)), 0x8000, 0))
    nan = (np.abs(at) > infinity) | (np.abs(to) > infinity)
    return {"X": x, "Y": y}, {"Z": np.where(nan, 0, code).astype(np.uint16)}


def powers(N=200, dtype="int32"):
    x, e = ints(dtype, N), np.abs(ints(dtype, N)) % 41
    if dtype != "uint16":
        e[::7] *= -1
    x[:8] = [0, 1, 0, 2, 3, 1, 7, 5]
    mask, top = (1 << np.iinfo(dtype).bits) - 1, np.iinfo(dtype).max

    def power(a, n):
        a, n = int(a), int(n)
        v = (pow(a, n) if n >= 0 else {1: 1, -1: -1 if n % 2 else 1}.get(a, 0)) & mask
        return v - mask - 1 if v > top else v

    rows = [[power(a, n) for a, n in zip(x, e)], [power(a, 5) for a in x], [power(3, n) for n in e]]
    return {"X": x, "E": e.astype(dtype)}, {"Z": np.array(rows, dtype=dtype)}


def signed(N=200, dtype="int32"):
    x, y = ints(dtype, N), ints(dtype, N)
    a = (x * 7 + 3).astype(np.int64)
    b = np.where(y == 0, 5, y).astype(np.int64)
    bits = np.iinfo(dtype).bits
    unsigned = a & ((1 << 32) - 1) if bits < 64 else a.view(np.uint64)
    trunc = np.trunc(a / b).astype(np.int64)
    count = np.array([bin(int(v)).count("1") for v in unsigned])
    clz = np.array([bits - int(v).bit_length() for v in np.abs(b)])
    rows = [a // b, a % b, trunc, a - trunc * b, a // 4, a % 4, -(-a // 3), a << 2, a >> 1, a & b, a | b, a ^ b, ~a, -a,
            np.abs(a), np.maximum(a, b) - np.minimum(a, b), count, clz, a // -3, a % -3]
    return {"X": x, "Y": y}, {"Z": np.array(rows).astype(dtype)}


def branches(N):
    x = normal(N)
    i = np.arange(N)
    rows = [np.where(x > 1, 1, np.where(x > 0, 2, np.where((x > -1) & (i % 2 == 0), 3, 4))), np.abs(x), np.where(x > 0, x, 5),
            (-1 < x) & (x <= 0.5), (x > 1) | (x < -1), ~(x > 0)]
    return {"X": x}, {"Y": np.array(rows, dtype=np.float64)}


def steps(N=40):
    x = normal(N)
    y = np.zeros((5, N), np.float32)
    y[0, ::3] = x[::3]
    y[1, N - 1 : 0 : -2] = (x + np.arange(N))[N - 1 : 0 : -2]
    y[2, 2 : N - 2] = (x * np.arange(N))[2 : N - 2]
    y[3] = x[::-1]
    y[4] = np.arange(N)
    return {"X": x}, {"Y": y}


def collatz(N=50):
    x = ints("int32", N)
    out = []
    for i in range(N):
        n, c = abs(int(x[i])) + i + 1, 0
        while n != 1:
            n, c = (n // 2 if n % 2 == 0 else 3 * n + 1), c + 1
        out.append(c)
    return {"X": x}, {"Y": np.array(out)}


def two_steps(N=100):
    x = normal(N)
    return {"X": x}, {"Y": x * 2, "Z": (x * 2)[::-1] + 1}


def waves(M, N, b=16, **k):
    x = normal(M, N)
    return {"X": x}, {"Y": x + (np.arange(M) // b)[:, None]}


def reverse(N):
    x = normal(N)
    return {"X": x}, {"Y": x[::-1].copy()}


def prefix(N=64):
    x = normal(N)
    return {"X": x}, {"Y": np.cumsum(x.astype(np.float64))}


def shuffles(N=64):
    x = normal(N)
    lane, base = np.arange(N) % 32, np.arange(N) // 32 * 32
    rows = [x[base + 3], x[base + (lane ^ 5)], x[base + np.where(lane + 2 < 32, lane + 2, lane)],
            x[base + np.where(lane >= 7, lane - 7, lane)]]
    return {"X": x}, {"Y": np.array(rows)}


def ring(N, **k):
    x = normal(N, 128)
    acc = np.zeros(128)
    for row in x.astype(np.float64):
        acc = acc * 0.5 + row[::-1]
    return {"X": x}, {"Y": acc}


def nibbles(N=64):
    w = rng.integers(0, 256, N).astype(np.uint8)
    return {"W": w}, {"Y": np.stack([(w & 15).astype(np.int32) - 8, (w >> 4).astype(np.int32) - 8], 1)}


def exact_values(N=7, c=1000000007):
    i = np.arange(N, dtype=np.int64)
    x = i * c
    y = np.maximum(x, 3)
    rows = [x, x // 3, np.where(i > 2, x + 1, i), y - x, np.minimum(x, 5) + x % 1000, x >> 1, x > 2**31 - 1, x.astype(np.int32),
            np.abs(x)]
    return {}, {"O": np.array(rows), "F": np.stack([(x.astype(np.float32) * np.float32(0.5)), x + 1.0, y]).astype(np.float64)}


def exact_blocks(N=5, many=70000):
    return {}, {"O": (many - 1) * many * 3 + np.arange(3)[:, None] * 1000000007 + np.arange(N)}


def swizzled(M, N):
    x = normal(M, N).astype(np.float16)
    return {"X": x}, {"Y": x.T.copy()}


CASES = [("copy_types.py", copy_types, [dict(src="float32", dst=d) for d in [*FORMATS, "float16", "bfloat16", "float64", "int32", "int8",
                                                                             "uint8", "bool"] if d != "float4_e2m1fn"]
          + [dict(src="int32", dst=d) for d in ("int8", "float16", "bool")]),
         ("copy_safe_value.py", copy_safe, [dict(M=10, N=21)]), ("copy_regions.py:shifted", shifted, [dict(M=40, N=50)]),
         ("transpose.py", transpose, [dict(M=40, N=70), dict(M=33, N=31, bm=24, bn=40)]),
         ("views.py:reshape", reshape, [dict(M=24, N=40)]), ("views.py:retype", retype, [dict(N=64)]),
         ("im2col.py:im2col", im2col, [dict(N=1, H=5, W=5, C=4), dict(N=2, H=9, W=11, C=5, pad=1),
                                dict(N=1, H=12, W=7, C=8, stride=2, pad=1), dict(N=1, H=13, W=13, C=3, dilation=2, pad=2)]),
         ("gemm_shapes.py", gemm, [dict(M=33, N=47, K=65), dict(M=39, N=49, K=55, ta=True, tb=True),
                                   dict(M=50, N=70, K=90, bm=24, bn=40, bk=48), dict(M=33, N=40, K=70, dtype="float16"),
                                   dict(M=33, N=40, K=71, dtype="int8", accum="int32", tb=True, bk=24)]),
         ("gemm_operands.py:chain", chain, [dict(M=33, N=40)]), ("gemm_operands.py:clears", clears, [dict(M=33, N=40, K=100)]),
         ("pipeline.py:stages", stages, [dict(stages=s, N=100) for s in range(4)] + [dict(stages=3, N=1)]),
         ("reduce_kinds.py", reduce, [dict(op=o) for o in ("sum", "max", "min", "absmax", "abssum")]
          + [dict(op=o, dim=0, clear=False) for o in ("sum", "max", "min")] + [dict(op="absmax", clear=False)]
          + [dict(op=o, dtype="int32") for o in ("bitand", "bitor", "bitxor")]
          + [dict(op="bitand", dtype="uint8", clear=False, dim=0), dict(op="sum", dtype="int8"), dict(op="max", dtype="uint8", clear=False)]),
         ("scans.py:scan", scan, [dict(op=o, dim=d, reverse=r) for o in ("cumsum", "cummax") for d in (0, 1) for r in (False, True)]
          + [dict(op="cummax", dim=0, dtype="int8")]),
         ("reducers.py:reducers", reducers, [dict(op="sum"), dict(op="max", seed=True, N=97), dict(op="bitxor", dtype="int32")]),
         ("atomics.py:element", histogram, [dict(N=1000)]), ("atomics.py:tile", add_tiles, [dict(M=40, N=24)]),
         ("math_float.py:unary", unary, [dict(N=100)]), ("math_float.py:two", two, [dict(N=100)]),
         ("math_float.py:neighbours", neighbours, [dict(), dict(dtype="bfloat16")]),
         ("math_int.py:powers", powers, [dict(dtype=t) for t in ("int32", "uint16", "int64")]),
         ("math_int.py:signed", signed, [dict(dtype=t) for t in ("int32", "int64", "int16", "int8")]),
         ("choices.py:branches", branches, [dict(N=100)]), ("loops.py:steps", steps, [dict(N=40)]),
         ("loops.py:whiles", collatz, [dict(N=50)]), ("launches.py:two_steps", two_steps, [dict(N=100)]),
         ("persistent.py:waves", waves, [dict(M=33, N=40, workers=3), dict(M=64, N=64, workers=7)]),
         ("threads.py:reverse", reverse, [dict(N=64)]), ("threads.py:steps", prefix, [dict(N=64)]),
         ("warps.py:shuffles", shuffles, [dict()]), ("barriers.py:ring", ring, [dict(N=8)]),
         ("exact_values.py:values", exact_values, [dict(), dict(N=9, c=-1500000001)]), ("exact_values.py:blocks", exact_blocks, [dict()]),
         ("packed.py:nibbles", nibbles, [dict(N=64)]), ("layouts.py:swizzled", swizzled, [dict(M=40, N=70)])]


# ---- running ---------------------------------------------------------------------------------------------

def as_number(x):
    return x.astype(np.float64) if x.dtype.kind in "fb" else x.astype(object) if x.dtype == np.uint64 else x.astype(np.int64)


def differs(got, want):
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    g, w = as_number(got), as_number(np.asarray(want))
    if got.dtype.kind in "iub":
        wrong = np.asarray(g != w)
    else:
        tol = {2: 2e-3, 4: 1e-5, 8: 1e-9}.get(got.dtype.itemsize, 0)
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        with np.errstate(invalid="ignore"):
            wrong = ~same & ~(np.abs(g - w) <= tol * np.maximum(1, np.abs(w)) * max(1, len(w) ** 0.5))
    if not wrong.any():
        return None
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return f"{int(wrong.sum())} of {wrong.size} wrong; {list(map(int, at))} is {got[at]}, expected {want[at]}"


def run(tl, name, knobs, inputs, outputs):
    label = name + " " + " ".join(f"{k}={v}" for k, v in knobs.items())
    with tempfile.TemporaryDirectory() as d:
        cmd = [tl, "run", "-q", os.path.join(KERNELS, name)] + [f"{k}={v}" for k, v in knobs.items()]
        for k, v in inputs.items():
            np.save(os.path.join(d, k + ".npy"), v)
            cmd += ["--in", f"{k}={d}/{k}.npy"]
        for k in outputs:
            cmd += ["--out", f"{k}={d}/{k}.out.npy"]
        r = subprocess.run(cmd, capture_output=True, text=True, timeout=300)
        if r.returncode:
            return label, f"exit {r.returncode}: {r.stderr.strip()[-600:]}"
        for k, want in outputs.items():
            why = differs(np.load(os.path.join(d, k + ".out.npy")), want)
            if why:
                return label, f"{k}: {why}"
    return label, None


def main():
    tl = os.path.abspath(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    work = [(tl, name, k, *make(**k)) for name, make, knobs in CASES for k in knobs if only in name]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for label, why in pool.map(lambda w: run(*w), work):
            if why:
                failed += 1
                print(f"FAIL {label}\n     {why}")
    print(f"{len(work) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
