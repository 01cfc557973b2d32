"""doc/numerics.md once more, in numpy: what every operation of every dtype gives.

Floats are carried as float64, which holds all of them, and rounded here; integers as int64 or uint64
arrays of their values.  Nothing of the compiler is used.
"""
import numpy as np

F64 = np.float64

# exponent bits, mantissa bits, special codes: ieee (infinities), fn (all ones is NaN), max (largest number)
FLOATS = {
    "float64": (11, 52, "ieee"), "float32": (8, 23, "ieee"), "float16": (5, 10, "ieee"),
    "bfloat16": (8, 7, "ieee"), "float8_e4m3fn": (4, 3, "fn"), "float8_e5m2": (5, 2, "ieee"),
}
SATURATES = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}
INTS = {"int8": (8, True), "uint8": (8, False), "int16": (16, True), "uint16": (16, False), "int32": (32, True),
        "uint32": (32, False), "int64": (64, True), "uint64": (64, False)}


def bits_of(dtype):
    return 8 if dtype == "bool" else INTS[dtype][0] if dtype in INTS else 1 + sum(FLOATS[dtype][:2])


# ---- floats --------------------------------------------------------------------------------------

def round_float(x, dtype):
    """The nearest number of the dtype, ties to even; x is exact, or rounded to odd in float64."""
    if dtype == "float64":
        return x
    if dtype == "float32":
        return x.astype(np.float32).astype(F64)
    ebits, mbits, _ = FLOATS[dtype]
    bias = (1 << (ebits - 1)) - 1
    _, e = np.frexp(np.where(np.isfinite(x), x, 1.0))
    quantum = np.maximum(e - 1, 1 - bias) - mbits
    r = np.ldexp(np.rint(np.ldexp(x, -quantum)), quantum)
    r = np.where(np.isfinite(x), r, x)
    if dtype in SATURATES:
        most = SATURATES[dtype]
        return np.where(np.isnan(r), r, np.clip(r, -most, most))
    most = (2 - 2.0**-mbits) * 2.0**bias
    return np.where(np.abs(r) > most, np.copysign(np.inf, r), r)


def decode(bits, dtype):
    """Codes as numbers."""
    if dtype in INTS:
        size, signed = INTS[dtype]
        return bits.astype("uint%d" % size).view(("int%d" if signed else "uint%d") % size).astype(
            np.int64 if signed else np.uint64)
    if dtype == "bool":
        return bits != 0
    ebits, mbits, special = FLOATS[dtype]
    size = 1 + ebits + mbits
    if dtype in ("float64", "float32", "float16"):
        return bits.astype("uint%d" % size).view("float%d" % size).astype(F64)
    bits = bits.astype(np.int64)
    bias, e, m = (1 << (ebits - 1)) - 1, bits >> mbits & ((1 << ebits) - 1), bits & ((1 << mbits) - 1)
    v = np.where(e == 0, np.ldexp(m.astype(F64), 1 - bias - mbits),
                 np.ldexp(1 + m * 2.0**-mbits, (e - bias).astype(np.int64)))
    top = (1 << ebits) - 1
    if special == "ieee":
        v = np.where(e == top, np.where(m == 0, np.inf, np.nan), v)
    else:
        v = np.where((e == top) & (m == (1 << mbits) - 1), np.nan, v)
    return np.where(bits >> (size - 1) & 1, -v, v)


def two_sum(a, b):
    """a + b in float64, rounded to odd: what is lost sets the last bit."""
    s = a + b
    bb = s - a
    lost = (a - (s - bb)) + (b - bb)
    u = s.view(np.int64)
    away = (lost > 0) == (s > 0)
    step = np.where(np.isfinite(s) & np.isfinite(lost) & (lost != 0) & (u & 1 == 0), np.where(away, 1, -1), 0)
    return (u + step).view(F64)


def fma(a, b, c, dtype):
    if dtype == "float32":  # 48 digits of the product are exact in float64
        return two_sum(a * b, c).astype(np.float32).astype(F64)
    return round_float(two_sum(a * b, c), dtype)


def float_binary(op, a, b, dtype):
    if op in "+-*/":
        exact = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op](a, b)
        return round_float(exact, dtype)
    if op == "//":
        return np.floor(round_float(a / b, dtype))
    if op == "truncdiv":
        return np.trunc(round_float(a / b, dtype))
    r = np.fmod(a, b)
    if op == "truncmod":
        return r
    if op == "%":
        return np.where((r != 0) & ((r < 0) != (b < 0)), round_float(r + b, dtype), r)
    pick = np.fmax if op == "max" else np.fmin
    return pick(a, b)


# ---- integers ------------------------------------------------------------------------------------

def wrap(x, dtype):
    """The low bits of an int64 or uint64."""
    size, signed = INTS[dtype]
    return x.astype(np.uint64).astype("uint%d" % size).view(("int%d" if signed else "uint%d") % size).astype(
        np.int64 if signed else np.uint64)


def divided(op, a, b, signed):
    zero = b == 0
    d = np.where(zero, 1, b).astype(a.dtype)
    if signed:
        minus = d == -1
        d = np.where(minus, 1, d)
        q = np.where(minus, 0 - a, a // d) if op in ("//", "truncdiv") else None
        r = np.where(minus, 0, a % d)
        if op == "truncdiv":
            q = np.where(~minus & (r != 0) & ((a < 0) != (b < 0)), q + 1, q)
        if op == "truncmod":
            r = np.where((r != 0) & ((a < 0) != (b < 0)), r - d, r)
    else:
        q, r = a // d, a % d
    return np.where(zero, 0, q if op in ("//", "truncdiv") else r).astype(a.dtype)


def shifted(op, a, b, dtype):
    size, signed = INTS[dtype]
    inside = (b >= 0) & (b < size)
    n = np.where(inside, b, 0).astype(a.dtype)
    if op == "<<":
        return np.where(inside, np.left_shift(a, n), 0).astype(a.dtype)
    rest = np.where(a < 0, -1, 0) if signed else np.zeros_like(a)
    return np.where(inside, np.right_shift(a, n), rest).astype(a.dtype)


def int_binary(op, a, b, dtype):
    if op in ("//", "%", "truncdiv", "truncmod"):
        r = divided(op, a, b, INTS[dtype][1])
    elif op in ("<<", ">>"):
        r = shifted(op, a, b, dtype)
    else:
        r = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
             "^": np.bitwise_xor, "max": np.maximum, "min": np.minimum}[op](a, b)
    return wrap(r, dtype)


# ---- conversions ---------------------------------------------------------------------------------

def float_to_int(x, dtype):
    size, signed = INTS[dtype]
    top = 2.0 ** (size - 1 if signed else size)
    low = -top if signed else 0.0
    t = np.trunc(np.where(np.isnan(x), 0, x))
    big, small = t >= top, t <= low
    kind = np.int64 if signed else np.uint64
    mid = np.where(big | small, 0, t).astype(kind)
    most = np.array(2 ** (size - 1) - 1 if signed else 2**size - 1, kind)
    least = np.array(-(2 ** (size - 1)) if signed else 0, kind)
    return np.where(big, most, np.where(small, least, mid))


def int_to_float(x, dtype):
    """Bits that float64 has no room for are gathered into one."""
    negative = x < 0
    mag = np.where(negative, 0 - x, x).astype(np.uint64)
    if dtype == "float64":
        return np.where(negative, -mag.astype(F64), mag.astype(F64))
    low = mag & np.uint64(0xFFFF)
    odd = (mag - low) | ((low != 0).astype(np.uint64) << np.uint64(16))
    v = np.where(mag >> np.uint64(45) != 0, odd, mag).astype(F64)
    return round_float(np.where(negative, -v, v), dtype)


def cast(x, frm, to):
    if frm == to:
        return x
    if to == "bool":
        return x != 0
    if frm == "bool":
        return x.astype(F64) if to in FLOATS else x.astype(np.int64 if INTS[to][1] else np.uint64)
    if to in FLOATS:
        return round_float(x, to) if frm in FLOATS else int_to_float(x, to)
    return float_to_int(x, to) if frm in FLOATS else wrap(x, to)
