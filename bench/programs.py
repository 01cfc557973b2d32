"""programs.py -- the tensor programs of examples/programs beside torch.compile of the same in torch, in one run.

Usage: PYTHONPATH=build/py python3 bench/programs.py [--device cpu|cuda] [--dtype float32|float16|bfloat16]
           [--rounds N] [--only NAME,...] [--json FILE] [--eager] [--least] [--seconds N] [--one-core]
           [--wheels DIR] [--helion N]

Each program is held to torch first; positions that it chooses (top-k) to what they choose among, in float64.  Then the
two take turns, round by round; a round is as many calls as take a tenth of a second, and the median of the rounds
counts, or with --least the least, for a machine that others use too.  --one-core: the time the process had on one core
instead of the clock's, which other work does not lengthen.  cpu: torch.compile as it is, all cores; cuda: mode
max-autotune, times by events.  --wheels: a folder with wheels of helion and what it imports, which are unpacked,
nothing is installed; the programs of programs_helion.py then have Helion's kernels as a second peer, each tuned by its
search in --helion seconds (38; 0: as long as it takes) and held to torch likewise.  Ends with the geometric mean and
the least of the ratios."""

import argparse
import glob
import importlib.util
import json
import math
import os
import statistics
import sys
import tempfile
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

HELION = ("softmax", "layer_norm", "rms_norm", "bias_gelu", "linear_gelu")  # programs_helion.py has them


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


def differs_in_choice(score, got):
    """Why positions along the last axis are not those of the largest scores, in order.  Who has equal scores, but for
    rounding, may stand for each other; nobody may stand twice."""
    got = got.long()
    if got.min() < 0 or got.max() >= score.shape[-1]:
        return "chooses %d of %d" % (got.max() if got.min() >= 0 else got.min(), score.shape[-1])
    order = got.sort(-1).values
    if (order[..., 1:] == order[..., :-1]).any():
        return "chooses one twice"
    best = score.topk(got.shape[-1]).values
    return (best - score.gather(-1, got)).abs().max().item(), best.abs().max().item()


def differs(scope, options, got, want, given):
    """Why results are not what torch gives; None: they are."""
    tolerance = 2e-4 if options.dtype == "float32" else 2e-2
    for k, (g, w) in enumerate(zip(common.as_tuple(got), common.as_tuple(want), strict=True)):
        if g.shape != w.shape:
            return "result %d has shape %s, not %s" % (k, tuple(g.shape), tuple(w.shape))
        if scope.get("CHOSEN") == k:
            found = differs_in_choice(scope["scores"](torch, *[t.double() for t in given]), g)
            if isinstance(found, str):
                return "result %d %s" % (k, found)
            worst, most = found
        else:
            worst, most = (g.double() - w.double()).abs().max().item(), w.double().abs().max().item()
        if not worst <= (1 if scope.get("ROUNDED") == k else tolerance * (1 + most)):
            return "result %d differs by %g" % (k, worst)
    return None


def prepare_helion(options):
    sys.path[:0] = [HERE, os.path.join(HERE, "tune")]
    import peers

    peers.unpack(options.wheels, tempfile.mkdtemp(prefix="wheels"))
    try:
        print("Helion: %s, %g s a kernel" % (peers.prepare_helion(options.helion)[1], options.helion))
    except Exception as why:
        print("Helion cannot be used: %s: %s" % (type(why).__name__, why))


def helion_kernel(name, given):
    """The kernel of programs_helion.py for these arguments, tuned."""
    import programs_helion

    bound = getattr(programs_helion, name).bind(tuple(given))
    bound.set_config(bound.autotune(tuple(given), force=True))
    return bound


def second_peer(name, scope, options, given, want):
    """Helion's kernel, or why there is none; (None, None) where none is meant to be."""
    if not options.wheels or name not in HELION:
        return None, None
    try:
        kernel = helion_kernel(name, given)
        why = differs(scope, options, kernel(*given), want, given)
        return (None, why) if why else (lambda: kernel(*given), None)
    except Exception as why:  # a peer that cannot be had is a note
        return None, "%s: %s" % (type(why).__name__, " ".join(str(why).split())[:200])


def measure(name, options):
    scope = load(name)
    arrays = scope["inputs"](np.random.default_rng(0), *scope["SIZES"]["gpu" if options.device == "cuda" else "cpu"])
    dtype = getattr(torch, options.dtype)
    given = [torch.from_numpy(np.ascontiguousarray(a)) for a in arrays]
    given = [t.to(options.device, dtype if t.dtype == torch.float32 else t.dtype) for t in given]
    program = scope["program"]
    begin = time.perf_counter()
    got = program(*given)
    wait(options.device)
    first = time.perf_counter() - begin
    torch._dynamo.reset()  # else the ninth program is not compiled any more
    plain = lambda *a: scope["peer"](torch, *a)  # noqa: E731
    other = torch.compile(plain, mode="max-autotune" if options.device == "cuda" else None)
    begin = time.perf_counter()
    want = other(*given)
    wait(options.device)
    first_other = time.perf_counter() - begin
    why = differs(scope, options, got, want, given)
    if why:
        return {"name": name, "wrong": why}
    helion, note = second_peer(name, scope, options, given, want)
    fns = [lambda: program(*given), lambda: other(*given)] + ([lambda: plain(*given)] if options.eager else [])
    fns += [helion] if helion else []
    with torch.no_grad() if name != "transformer_backward" else torch.enable_grad():
        took = interleaved(fns, options.rounds, options.device, min if options.least else statistics.median)
    row = {"name": name, "ours_ms": took[0] * 1e3, "theirs_ms": took[1] * 1e3, "ratio": took[1] / took[0],
           "first_s": first, "first_theirs_s": first_other,
           "kernels": program.tiles(*given).count("T.Kernel(")}
    if options.eager:
        row["eager_ms"] = took[2] * 1e3
    if helion:
        row["helion_ms"], row["helion_ratio"] = took[-1] * 1e3, took[-1] / took[0]
    if note:
        row["helion"] = note
    return row


def notes(row):
    found = "  eager %.3f" % row["eager_ms"] if "eager_ms" in row else ""
    if "helion_ms" in row:
        found += "  Helion %.3f, %.2f" % (row["helion_ms"], row["helion_ratio"])
    return found + ("  Helion: " + row["helion"] if "helion" in row else "")


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def print_means(rows):
    right, second = [r["ratio"] for r in rows if "ratio" in r], [r["helion_ratio"] for r in rows if "helion_ratio" in r]
    if right:
        print("geometric mean %.3f, least %.3f, %d of %d right" % (mean(right), min(right), len(right), len(rows)))
    if second:
        print("Helion: geometric mean %.3f, least %.3f of %d" % (mean(second), min(second), len(second)))
    return len(right) == len(rows)


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
    p.add_argument("--wheels", help="a folder with wheels of helion and what it imports")
    p.add_argument("--helion", type=float, default=38, help="seconds of Helion's search for each kernel; 0: no limit")
    options = p.parse_args()
    options.dtype = options.dtype or ("float16" if options.device == "cuda" else "float32")
    if options.wheels:
        prepare_helion(options)
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
            notes(row)), flush=True)
    right = print_means(rows)
    if options.json:
        with open(options.json, "w") as f:
            json.dump(rows, f, indent=1)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
