"""programs.py -- the tensor programs of examples/programs beside torch.compile of the same in torch, in one run.

Usage: PYTHONPATH=build/py python3 bench/programs.py [--device cpu|cuda] [--dtype float32|float16|bfloat16]
           [--rounds N] [--only NAME,...] [--json FILE] [--eager] [--least] [--seconds N] [--one-core]

Each program is held to numpy first (cpu) or to torch in float32 (cuda).  Then the two take turns, round by round; a
round is as many calls as take a tenth of a second, and the median of the rounds counts, or with --least the least, for
a machine that others use too.  --one-core: the time the process had on one core instead of the clock's, which other
work does not lengthen.  cpu: torch.compile as it is, all cores; cuda: mode max-autotune, times by events.  Ends
with the geometric mean and the least of the ratios."""

import argparse
import glob
import importlib.util
import json
import math
import os
import statistics
import sys
import time

import numpy as np

ONE_CORE = "--one-core" in sys.argv
if ONE_CORE:  # before pools of threads are made
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import torch  # noqa: E402

import tilelang as tl  # noqa: F401, E402

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "examples", "programs")
sys.path.insert(0, FOLDER)

import common  # noqa: E402


def load(name):
    spec = importlib.util.spec_from_file_location("program_" + name, os.path.join(FOLDER, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return vars(module)


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def seconds(fn, n, device):
    """Of one call, of n in a row."""
    if device == "cuda":
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(n):
            fn()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / 1e3 / n
    clock = time.process_time if ONE_CORE else time.perf_counter
    start = clock()
    for _ in range(n):
        fn()
    return (clock() - start) / n


def interleaved(fns, rounds, device, of=statistics.median):
    """The median of each over rounds in which all have their turn."""
    once = []
    for fn in fns:
        fn()
        wait(device)
        once.append(max(seconds(fn, 1, device), 1e-7))
    many = [max(1, min(1000, int(0.1 / t))) for t in once]
    took = [[] for _ in fns]
    for r in range(rounds):
        for i in range(len(fns)) if r % 2 == 0 else reversed(range(len(fns))):
            took[i].append(seconds(fns[i], many[i], device))
    return [of(t) for t in took]


def measure(name, options):
    scope = load(name)
    arrays = scope["inputs"](np.random.default_rng(0), *scope["SIZES"]["gpu" if options.device == "cuda" else "cpu"])
    dtype = getattr(torch, options.dtype)
    given = [torch.from_numpy(np.ascontiguousarray(a)) for a in arrays]
    given = [t.to(options.device, dtype if t.dtype == torch.float32 else t.dtype) for t in given]
    program = scope["program"]
    begin = time.perf_counter()
    got = common.as_tuple(program(*given))
    wait(options.device)
    first = time.perf_counter() - begin
    torch._dynamo.reset()  # else the ninth program is not compiled any more
    plain = lambda *a: scope["peer"](torch, *a)  # noqa: E731
    other = torch.compile(plain, mode="max-autotune" if options.device == "cuda" else None)
    begin = time.perf_counter()
    want = common.as_tuple(other(*given))
    wait(options.device)
    first_other = time.perf_counter() - begin
    for k, (g, w) in enumerate(zip(got, want, strict=True)):
        worst = (g.double() - w.double()).abs().max().item()
        bar = (2e-4 if options.dtype == "float32" else 2e-2) * (1 + w.double().abs().max().item())
        if not worst <= (1 if scope.get("ROUNDED") == k else bar):
            return {"name": name, "wrong": "result %d differs by %g" % (k, worst)}
    fns = [lambda: program(*given), lambda: other(*given)] + ([lambda: plain(*given)] if options.eager else [])
    with torch.no_grad() if name != "transformer_backward" else torch.enable_grad():
        took = interleaved(fns, options.rounds, options.device, min if options.least else statistics.median)
    row = {"name": name, "ours_ms": took[0] * 1e3, "theirs_ms": took[1] * 1e3, "ratio": took[1] / took[0],
           "first_s": first, "first_theirs_s": first_other,
           "kernels": program.tiles(*given).count("T.Kernel(")}
    if options.eager:
        row["eager_ms"] = took[2] * 1e3
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--dtype")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--only", default="")
    p.add_argument("--json")
    p.add_argument("--eager", action="store_true")
    p.add_argument("--least", action="store_true")
    p.add_argument("--one-core", action="store_true")
    p.add_argument("--seconds", type=float, help="begin no program after so long")
    options = p.parse_args()
    options.dtype = options.dtype or ("float16" if options.device == "cuda" else "float32")
    names = sorted(os.path.basename(f)[:-3] for f in glob.glob(os.path.join(FOLDER, "*.py")))
    names = [n for n in names if n != "common" and (not options.only or n in options.only.split(","))]
    print("torch %s, %s, %s, %d threads" % (torch.__version__, options.device, options.dtype, torch.get_num_threads()))
    print("%-22s %9s %9s %7s %8s %8s %s" % ("program", "ours ms", "torch ms", "ratio", "first s", "torch s", "kernels"))
    rows = []
    begun = time.time()
    for name in names:
        if options.seconds and time.time() - begun > options.seconds:
            print("%-22s not run: %g s have passed" % (name, options.seconds))
            continue
        try:
            row = measure(name, options)
        except Exception as why:  # one program that fails is a row, not the end
            row = {"name": name, "wrong": "%s: %s" % (type(why).__name__, " ".join(str(why).split())[-400:])}
        rows.append(row)
        if "wrong" in row:
            print("%-22s WRONG: %s" % (name, row["wrong"]), flush=True)
            continue
        print("%-22s %9.3f %9.3f %7.2f %8.2f %8.2f %4d%s" % (
            name, row["ours_ms"], row["theirs_ms"], row["ratio"], row["first_s"], row["first_theirs_s"], row["kernels"],
            "  eager %.3f" % row["eager_ms"] if options.eager else ""), flush=True)
    right = [r["ratio"] for r in rows if "ratio" in r]
    if right:
        print("geometric mean %.3f, least %.3f, %d of %d right" % (
            math.exp(sum(map(math.log, right)) / len(right)), min(right), len(right), len(rows)))
    if options.json:
        with open(options.json, "w") as f:
            json.dump(rows, f, indent=1)
    return 0 if len(right) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
