"""Every example against values computed by numpy, at ordinary and ragged sizes.

Usage: check.py TL [SUBSTRING]      prints one line a case and `N passed, M failed`.
"""
import inspect
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")


# ---- narrow floats, as unsigned integers --------------------------------------------------------

def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(b):
    return (b.astype(np.uint32) << 16).view(np.float32)


def e4m3_values():
    codes = np.arange(256)
    sign = np.where(codes & 128, -1.0, 1.0)
    exp, man = (codes >> 3) & 15, codes & 7
    value = np.where(exp == 0, man / 8 * 2.0**-6, (1 + man / 8) * 2.0 ** (exp - 7.0))
    value = np.where((codes & 127) == 127, np.nan, value)
    return sign * value


E4M3 = e4m3_values()


def to_e4m3(x):
    finite = np.where(np.isnan(E4M3), np.inf, E4M3)
    return np.abs(x.astype(np.float64)[..., None] - finite).argmin(-1).astype(np.uint8)


def store(x, dtype):
    if dtype == "bfloat16":
        return to_bf16(x)
    if dtype == "float8_e4m3fn":
        return to_e4m3(x)
    return x.astype(dtype)


def value(x, dtype):
    if dtype == "bfloat16":
        return from_bf16(x).astype(np.float64)
    if dtype == "float8_e4m3fn":
        return E4M3[x]
    return x.astype(np.float64)


# ---- the cases: (file:func, knobs, inputs, output name, expected, tolerance) ---------------------

def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def case_vector_add(rng, N=1000, **k):
    a, b = normal(rng, N), normal(rng, N)
    return {"A": a, "B": b}, {"C": a + b}


def case_copy(rng, M, N, **k):
    a = normal(rng, M, N)
    return {"A": a}, {"B": a}


def case_transpose(rng, M, N, **k):
    a = normal(rng, M, N)
    return {"A": a}, {"B": a.T.copy()}


def case_softmax(rng, M, N, **k):
    x = normal(rng, M, N)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return {"X": x}, {"Y": e / e.sum(1, keepdims=True)}


def case_rms_norm(rng, M, N, **k):
    x, w = normal(rng, M, N), normal(rng, N)
    x64 = x.astype(np.float64)
    return {"X": x, "W": w}, {"Y": x64 / np.sqrt((x64**2).mean(1, keepdims=True) + 1e-6) * w}


def case_swiglu(rng, M, N, **k):
    a, b = normal(rng, M, N), normal(rng, M, N)
    a64 = a.astype(np.float64)
    return {"A": a, "B": b}, {"Y": a64 / (1 + np.exp(-a64)) * b}


def case_layer_norm(rng, M, N, **k):
    x, w, b = normal(rng, M, N), normal(rng, N), normal(rng, N)
    x64 = x.astype(np.float64)
    mean, var = x64.mean(1, keepdims=True), x64.var(1, keepdims=True)
    return {"X": x, "W": w, "B": b}, {"Y": (x64 - mean) / np.sqrt(var + 1e-5) * w + b}


def case_row_reduce(rng, M, N, op, **k):
    x = normal(rng, M, N)
    f = {"sum": lambda v: v.astype(np.float64).sum(1), "max": lambda v: v.max(1),
         "min": lambda v: v.min(1), "absmax": lambda v: np.abs(v).max(1)}[op]
    return {"X": x}, {"Y": f(x)}


def case_column_sum(rng, M, N, **k):
    x = normal(rng, M, N)
    return {"X": x}, {"Y": x.astype(np.float64).sum(0)}


def case_cumsum(rng, M, N, reverse=False, **k):
    x = normal(rng, M, N)
    y = x.astype(np.float64)
    return {"X": x}, {"Y": y[:, ::-1].cumsum(1)[:, ::-1] if reverse else y.cumsum(1)}


def product_case(rng, M, N, K, dtype="float32", nt=False, relu=False, tn=False, **k):
    if dtype == "int8":
        a = rng.integers(-128, 128, (K, M) if tn else (M, K)).astype(np.int8)
        b = rng.integers(-128, 128, (N, K) if nt else (K, N)).astype(np.int8)
    else:
        a = store(normal(rng, *((K, M) if tn else (M, K))), dtype)
        b = store(normal(rng, *((N, K) if nt else (K, N))), dtype)
    va, vb = value(a, dtype), value(b, dtype)
    c = (va.T if tn else va) @ (vb.T if nt else vb)
    return {"A": a, "B": b}, {"C": np.maximum(c, 0) if relu else c}


def case_gemm(rng, **k):
    return product_case(rng, **k)


def case_gemm_nt(rng, **k):
    return product_case(rng, nt=True, **k)


def case_gemm_tn(rng, **k):
    return product_case(rng, tn=True, **k)


def case_gemm_relu(rng, **k):
    return product_case(rng, relu=True, **k)


case_gemm_dynamic = case_gemm
case_gemm_eager = case_gemm


def case_gemm_splitk(rng, M, N, K, **k):
    inputs, outputs = product_case(rng, M, N, K)
    start = normal(rng, M, N)
    return {**inputs, "C": start}, {"C": outputs["C"] + start}


def case_gemv(rng, N, K, **k):
    a, x = normal(rng, N, K), normal(rng, K)
    return {"A": a, "x": x}, {"y": a.astype(np.float64) @ x}


def case_dequant_gemm(rng, M, N, K, group=128, **k):
    a = normal(rng, M, K).astype(np.float16)
    w = rng.integers(0, 16, (N, K)).astype(np.uint8)
    s = (np.abs(normal(rng, N, -(-K // group))) * 0.1).astype(np.float16)
    packed = (w[:, 0::2] | (w[:, 1::2] << 4)).astype(np.uint8)
    scale = np.repeat(s, group, axis=1)[:, :K].astype(np.float64)
    b = ((w.astype(np.float64) - 8) * scale).astype(np.float16).astype(np.float64)
    return {"A": a, "W": packed, "S": s}, {"C": a.astype(np.float64) @ b.T}


def case_convolution(rng, N, C, H, W, F, K=3, S=1, D=1, P=1, **k):
    x, w = normal(rng, N, H, W, C), normal(rng, K, K, C, F)
    OH, OW = (H + 2 * P - D * (K - 1) - 1) // S + 1, (W + 2 * P - D * (K - 1) - 1) // S + 1
    p = np.zeros((N, H + 2 * P, W + 2 * P, C))
    p[:, P : P + H, P : P + W] = x
    out = np.zeros((N, OH, OW, F))
    for i in range(K):
        for j in range(K):
            out += p[:, i * D : i * D + (OH - 1) * S + 1 : S, j * D : j * D + (OW - 1) * S + 1 : S] @ w[i, j].astype(np.float64)
    return {"data": x, "kernel": w}, {"out": out}


def case_flash_attention(rng, B=1, H=2, S=64, D=32, groups=1, causal=False, window=0, **k):
    q = normal(rng, B, H, S, D)
    key, v = normal(rng, B, H // groups, S, D), normal(rng, B, H // groups, S, D)
    kk, vv = (np.repeat(t, groups, axis=1).astype(np.float64) for t in (key, v))
    s = q @ kk.transpose(0, 1, 3, 2) / np.sqrt(D)
    i, j = np.arange(S)[:, None], np.arange(S)[None, :]
    seen = np.ones((S, S), bool)
    if causal:
        seen &= j <= i
    if window > 0:
        seen &= j >= i - window
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return {"Q": q, "K": key, "V": v}, {"O": e / e.sum(-1, keepdims=True) @ vv}


def case_flash_decoding(rng, B=2, H=3, S=100, D=32, **k):
    q, key, v = normal(rng, B, H, D), normal(rng, B, S, H, D), normal(rng, B, S, H, D)
    s = np.einsum("bhd,bshd->bhs", q.astype(np.float64), key) / np.sqrt(D)
    e = np.exp(s - s.max(-1, keepdims=True))
    return {"Q": q, "K": key, "V": v}, {"O": np.einsum("bhs,bshd->bhd", e / e.sum(-1, keepdims=True), v)}


def case_mamba_chunk_scan(rng, batch=1, chunks=2, L=16, heads=2, D=16, N=8, **k):
    c, b = normal(rng, batch, chunks, L, N), normal(rng, batch, chunks, L, N)
    x = normal(rng, batch, chunks, heads, L, D)
    dt = np.abs(normal(rng, batch, heads, chunks, L))
    da = -np.abs(normal(rng, batch, heads, chunks, L)).cumsum(-1).astype(np.float32)
    st = normal(rng, batch, chunks, heads, D, N)
    out = np.zeros((batch, chunks, heads, L, D))
    for u in range(batch):
        for w in range(chunks):
            cb = c[u, w].astype(np.float64) @ b[u, w].T
            for h in range(heads):
                a = da[u, h, w].astype(np.float64)
                wt = np.tril(cb * np.exp(np.minimum(a[:, None] - a[None, :], 0)) * dt[u, h, w][None, :])
                out[u, w, h] = np.exp(a)[:, None] * (c[u, w] @ st[u, w, h].T.astype(np.float64)) + wt @ x[u, w, h]
    return {"Cm": c, "Bm": b, "X": x, "dt": dt, "dA": da, "state": st}, {"Out": out}


def case_linear_attention(rng, B=1, H=2, S=100, D=16, DV=16, **k):
    q, key, v = normal(rng, B, H, S, D), normal(rng, B, H, S, D), normal(rng, B, H, S, DV)
    s = np.tril(q.astype(np.float64) @ key.transpose(0, 1, 3, 2))
    return {"Q": q, "K": key, "V": v}, {"O": s @ v}


MN = [dict(M=1, N=1), dict(M=17, N=31), dict(M=65, N=129), dict(M=63, N=127), dict(M=128, N=256)]
ROWS = [dict(M=1, N=1), dict(M=5, N=31), dict(M=67, N=1000), dict(M=64, N=512)]
MNK = [dict(M=1, N=1, K=1), dict(M=37, N=53, K=29), dict(M=129, N=97, K=257), dict(M=127, N=95, K=255)]
CASES = {
    "vector_add.py": [dict(N=1), dict(N=4095), dict(N=4097), dict(N=10007)],
    "copy.py": MN, "transpose.py": MN, "softmax.py": ROWS, "swiglu.py": MN, "rms_norm.py": ROWS, "layer_norm.py": ROWS,
    "reduce.py:row_reduce": [dict(op=o, **s) for o, s in zip(["sum", "max", "min", "absmax"], ROWS)],
    "reduce.py:column_sum": MN,
    "cumsum.py": ROWS + [dict(M=33, N=100, reverse=True)],
    "gemm.py:gemm": MNK + [dict(M=64, N=80, K=96, dtype=t) for t in ("float64", "float16", "bfloat16", "float8_e4m3fn", "int8")]
    + [dict(M=70, N=50, K=33, dtype=t, block_M=32, block_N=48, block_K=16) for t in ("float32", "bfloat16", "int8")],
    "gemm.py:gemm_nt": MNK + [dict(M=33, N=65, K=47, dtype=t) for t in ("float16", "int8", "float8_e4m3fn")],
    "gemm.py:gemm_tn": MNK + [dict(M=33, N=65, K=47, dtype=t) for t in ("float16", "int8", "float8_e4m3fn")],
    "gemm.py:gemm_relu": MNK[1:3],
    "gemm_dynamic.py": MNK, "gemm_eager.py": MNK,
    "gemm_splitk.py": [dict(M=1, N=1, K=5), dict(M=129, N=97, K=1031), dict(M=128, N=96, K=1024)],
    "gemv.py": [dict(N=1, K=1), dict(N=17, K=513), dict(N=15, K=511), dict(N=101, K=1009)],
    "dequant_gemm.py": [dict(M=1, N=1, K=2), dict(M=65, N=97, K=258), dict(M=31, N=53, K=254)],
    "convolution.py": [dict(N=1, C=1, H=5, W=5, F=1), dict(N=2, C=3, H=9, W=11, F=49), dict(N=1, C=8, H=13, W=7, F=17, K=3, S=2, P=1),
                       dict(N=1, C=5, H=12, W=12, F=7, K=3, D=2, P=2)],
    "flash_attention.py": [dict(S=1, H=1), dict(S=127, H=2, causal=True), dict(S=257, H=2, D=31), dict(S=129, H=4, groups=2, causal=True, window=20),
                           dict(S=300, H=2, D=64, causal=True, block_M=64, block_N=64)],
    "flash_decoding.py": [dict(S=1, splits=1), dict(S=101, splits=3), dict(S=513, splits=4), dict(S=511, H=1, D=64)],
    "mamba_chunk_scan.py": [dict(), dict(L=1, D=1, N=1), dict(L=31, heads=3, D=17, N=13), dict(L=65)],
    "linear_attention.py": [dict(S=1), dict(S=101), dict(S=63), dict(S=65, D=31, DV=17)],
}
TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2}


def run(tl, name, knobs, number):
    file, _, func = name.partition(":")
    func = func or file[:-3]
    make = globals()["case_" + func]
    # The case's own defaults are knobs of the kernel too.
    defaults = {p.name: p.default for p in inspect.signature(make).parameters.values() if p.default is not p.empty}
    knobs = {**defaults, **knobs}
    inputs, outputs = make(np.random.default_rng(number), **knobs)
    label = name + " " + " ".join(f"{k}={v}" for k, v in knobs.items())
    with tempfile.TemporaryDirectory() as d:
        cmd = [tl, "run", os.path.join(EXAMPLES, file) + ":" + func] + [f"{k}={v}" for k, v in knobs.items()]
        for k, v in inputs.items():
            np.save(os.path.join(d, k + ".npy"), v)
            cmd += ["--in", f"{k}={d}/{k}.npy"]
        for k in outputs:
            cmd += ["--out", f"{k}={d}/{k}.out.npy"]
        r = subprocess.run(cmd, capture_output=True, text=True, timeout=300)
        if r.returncode:
            return label, f"exit {r.returncode}: {r.stderr.strip()[-600:]}"
        for k, want in outputs.items():
            got = np.load(os.path.join(d, k + ".out.npy")).astype(np.float64)
            if got.shape != want.shape:
                return label, f"{k}: shape {got.shape}, expected {want.shape}"
            scale = max(1.0, float(np.abs(want).max()))
            err = float(np.abs(got - want).max()) / scale
            if not err <= 1e-5 * max(1.0, np.sqrt(knobs.get("K", 1))):
                return label, f"{k}: error {err:.3g} of {scale:.3g}"
    return label, None


def main():
    tl = os.path.abspath(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    work = [(tl, n, k, i) for i, (n, k) in enumerate((n, k) for n, ks in CASES.items() for k in ks) if only in n]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for label, why in pool.map(lambda w: run(*w), work):
            if why:
                failed += 1
                print(f"FAIL {label}\n     {why}")
            elif "-v" in sys.argv:
                print(f"ok   {label}")
    print(f"{len(work) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
