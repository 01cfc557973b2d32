"""What a kernel file needs to be a script as well: python3 examples/gemm.py M=512 dtype=float16

A file has verify() and bench() with its sizes as keywords, and ends in

    if __name__ == "__main__":
        from tilelang import script
        script.main(verify, bench)

--strict holds it to the contract of tuning harnesses: results within an absolute error of STRICT, and the mean of 50
launches back to back between two events after 10.  --json prints what was found as one line of JSON at the end.
"""

import inspect
import json
import sys
import time

import numpy

STRICT = {"bfloat16": 1e-2, "float16": 1e-3}  # largest absolute error; kernels without these by TOLERANCE
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-3, "bfloat16": 1e-2}


class _Mode:
    """What main was asked for, and what was found."""

    strict, found = False, {}


def torch_with_gpu():
    """torch where there is a GPU for it, else None: arrays are then numpy's."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def best_dtype():
    """What matrix units multiply, where there are any."""
    return "float16" if torch_with_gpu() else "float32"


# ---- arrays --------------------------------------------------------------------------------------


def normal(*shape, dtype="float32", seed=None):
    """Normal numbers that `dtype` can hold, each call others, every run the same."""
    normal.calls += 1
    rng = numpy.random.default_rng(normal.calls if seed is None else seed)
    return rounded(rng.standard_normal(shape), dtype)


normal.calls = 0


def integers(low, high, *shape, dtype="int8"):
    normal.calls += 1
    return numpy.random.default_rng(normal.calls).integers(low, high, shape).astype(dtype)


def rounded(x, dtype):
    """To the nearest number of `dtype`; what numpy lacks (bfloat16, 8-bit floats) stays in float32."""
    if dtype == "float8_e4m3fn":  # three bits behind the first, none under 2 ** -9, at most 448
        least = 2.0 ** (numpy.floor(numpy.log2(numpy.maximum(numpy.abs(x), 2.0**-6))) - 3)
        return numpy.clip(numpy.rint(x / least) * least, -448, 448).astype("float32")
    if dtype != "bfloat16":
        return x.astype(dtype)
    bits = x.astype("float32").view("uint32")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("uint32").view("float32")


def _placed(x, param):
    """On the GPU, of the parameter's type."""
    torch, name = torch_with_gpu(), str(param.dtype) if param is not None else str(x.dtype)
    if torch is None:
        from .utils.tensor import numpy_dtype

        return x.astype(numpy_dtype(name), copy=False)
    return torch.from_numpy(numpy.ascontiguousarray(x)).cuda().to(getattr(torch, name))


def _values(x):
    if hasattr(x, "detach"):
        x = x.detach().double().cpu().numpy()
    return numpy.asarray(x).astype("float64")


def _dtype_of(x):
    return str(x.dtype).rpartition(".")[2]


def _arguments(kernel, inputs):
    params = [p for p in getattr(kernel, "params", []) if not p.is_output]
    params += [None] * (len(inputs) - len(params))
    return [_placed(x, p) for x, p in zip(inputs, params)]


# ---- the two things a script does ----------------------------------------------------------------


def _right(got, expected, tolerance, args):
    """How far off the worst element is, None if every one is near enough."""
    name, x, y = _dtype_of(got), _values(got), numpy.asarray(expected, "float64")
    tol = tolerance if tolerance is not None else max(
        [TOLERANCE.get(name, 0)] + [TOLERANCE.get(_dtype_of(a), 0) for a in args])
    if x.shape != y.shape:
        return float("nan")
    off = numpy.abs(x - y)
    worst = float(off.max(initial=0))
    if not numpy.isfinite(worst):
        _Mode.found["max_abs_err"] = None  # JSON has no word for it
    elif _Mode.found.get("max_abs_err", 0.0) is not None:
        _Mode.found["max_abs_err"] = max(_Mode.found.get("max_abs_err", 0.0), worst)
    most = max([STRICT.get(name, 0)] + [STRICT.get(_dtype_of(a), 0) for a in args if hasattr(a, "dtype")])
    if _Mode.strict and most:  # the contract says nothing of kernels in other types
        return None if bool((off <= most).all()) else worst
    allowed = tol * max(1.0, float(numpy.sqrt(numpy.mean(y * y)))) + tol * numpy.abs(y)
    return None if bool((off <= allowed).all()) else off.max()


def check(kernel, inputs, expected, tolerance=None):
    """Run and compare with what numpy says: an array, or a list of them for a kernel of several results;
    a kernel that returns nothing wrote its last input.

    A result x is right for y when |x - y| <= tol * max(1, rms(y)) + tol * |y|; integers exactly."""
    args = _arguments(kernel, inputs)
    got = kernel(*args)
    got = args[-1] if got is None else got
    pairs = list(zip(got, expected)) if isinstance(expected, list) else [(got, expected)]
    for one, want in pairs:
        off = _right(one, want, tolerance, args)
        if off is not None:
            _Mode.found["verify"] = "FAIL"
            print("VERIFY: FAIL max_abs_err=%g" % off)
            return False
    _Mode.found["verify"] = "PASS"
    print("VERIFY: PASS")
    return True


def back_to_back(run, warmup=10, runs=50):
    """Mean milliseconds of launches one behind the other, between two events; by the clock without
    a GPU."""
    torch = torch_with_gpu()
    for _ in range(warmup):
        run()
    if torch is None:
        start = time.perf_counter()
        for _ in range(runs):
            run()
        return (time.perf_counter() - start) * 1e3 / runs
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    first.record()
    for _ in range(runs):
        run()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / runs


def timed(kernel, inputs, flops=0):
    """The median of 50 runs after 10: by CUDA events on a GPU, by the clock elsewhere.  Strict: the
    mean of 50 back to back."""
    from .profiler import do_bench

    args = _arguments(kernel, inputs)
    if _Mode.strict:
        ms = back_to_back(lambda: kernel(*args))
    else:
        ms = do_bench(lambda: kernel(*args), n_warmup=10, n_repeat=50, return_mode="median")
    _Mode.found.update(tflops=flops / ms * 1e-9, time_ms=ms)
    print("TFLOPS: %.4f time_ms: %.4f" % (flops / ms * 1e-9, ms))
    return ms


def _value(text):
    words = {"True": True, "False": False, "None": None}
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return words.get(text, text)


def main(*steps, argv=None):
    """Each step with the NAME=VALUE of the command line that it has a parameter for."""
    given, words = {}, list(sys.argv[1:] if argv is None else argv)
    _Mode.strict, _Mode.found = "--strict" in words, {}
    for word in [w for w in words if w not in ("--strict", "--json")]:
        name, equal, text = word.partition("=")
        if not equal or not any(name in inspect.signature(s).parameters for s in steps):
            known = sorted({p for s in steps for p in inspect.signature(s).parameters})
            sys.exit("%s: takes NAME=VALUE for %s, --strict and --json" % (word, ", ".join(known)))
        given[name] = _value(text)
    fine = True
    for step in steps:
        wanted = inspect.signature(step).parameters
        fine &= step(**{k: v for k, v in given.items() if k in wanted}) is not False
    if "--json" in words:
        print(json.dumps({**_Mode.found, "strict": _Mode.strict}))
    sys.exit(not fine)
