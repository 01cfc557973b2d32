"""exact.py -- random kernels of whole numbers (deep.py, or expert.py of threads) against what their text gives as plain
Python (plain.py, plain_threads.py).

    python3 exact.py TL [--grammar deep|expert] [--from SEED] [--count N] [--target NAME]… [--run NAME]… [--jobs N]
                     [--keep DIR]

The other random kernels are held to the meaning that the compiler itself gives them; where that is wrong all agree.
Here numpy says what each element has to be, to the last bit.  The meaning (`tl run --sim`) and the CPU are compared
with it, and for each target (sm_80 and sm_90a unless given) the simulator and the text are held to the meaning; what
a target has no words for it may refuse of kernels of threads.  --run cuda has a device of this machine do it in place of
all that; with --run webgpu what WGSL has no words or room for may be refused.

A failure prints its seed and what differs; with --keep its kernel and tensors stay in DIR/SEED.  The last line is
"N passed, M failed"."""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import deep
import expert
import plain
import plain_threads

LIMIT_S = 300
TELL_S = 30
GRAMMARS = {"deep": (deep.Deep, plain.run), "expert": (expert.Expert, plain_threads.run)}
TARGETS = {"sm": "cuda -arch=", "gf": "hip -mcpu="}
REFUSED = re.compile(r"error: .*\[(unsupported-here|on-chip-bytes|local-bytes|tile-threads)\]")


def tensors_of(text, seed):
    """({name: array}, {scalar: value}) by the lines of the text that say what is to be given."""
    draw, arrays, scalars = np.random.default_rng(seed), {}, {}
    for line in text.splitlines():
        if line.startswith("# in: "):
            name, shape, dtype, low, high = line[6:].split()
            shape = tuple(int(n) for n in shape.split(","))
            result = name.startswith("R")
            arrays[name] = np.zeros(shape, dtype) if result else draw.integers(int(low), int(high) + 1, shape).astype(dtype)
        elif line.startswith("# with: "):
            scalars.update((n, int(v)) for n, v in (word.split("=") for word in line[8:].split()))
    return arrays, scalars


def ask(words):
    """What tl says where it does not end well; ""."""
    try:
        p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, errors="replace")
    except subprocess.TimeoutExpired:
        return "more than %d s" % LIMIT_S
    return ("\n".join(p.stdout.strip().splitlines()[-6:]) or "exit %d" % p.returncode) if p.returncode else ""


def differs(name, got, want):
    """Where the first element is that differs; ""."""
    bad = got.astype("float64") != want.astype("float64")
    if not bad.any():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(bad))
    return "%s%s is %s, not %s; %d of %d differ" % (name, list(at), got[at], want[at], bad.sum(), bad.size)


def try_seed(tl, grammar, seed, runs, targets, folder):
    """What is wrong with the kernel of this seed, by place; {}."""
    of, means = GRAMMARS[grammar]
    text = of(seed).text()
    arrays, scalars = tensors_of(text, seed)
    path = os.path.join(folder, "kernel.py")
    with open(path, "w") as f:
        f.write(text)
    given = ["%s=%d" % s for s in scalars.items()]
    for name, a in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), a)
        given += ["--in", "%s=%s" % (name, os.path.join(folder, name + ".npy"))]
    want = {name: a.copy() for name, a in arrays.items()}
    means(text, dict(want, **scalars))
    wrong = {}
    for where in runs:
        words = ["--sim"] if where == "meaning" else ["--target", where]
        out = {n: os.path.join(folder, "%s.%s.npy" % (n, where)) for n in arrays if n.startswith("R")}
        said = ask([tl, "run", path, "-q"] + words + given + [w for n, p in out.items() for w in ("--out", "%s=%s" % (n, p))])
        if where.startswith("webgpu") and REFUSED.search(said):
            continue
        for n in () if said else out:
            said = said or differs(n, np.load(out[n]), want[n])
        if said:
            wrong[where] = said
    for name in targets:
        target = TARGETS.get(name[:2], "") + name
        said = ask([tl, "verify", path, "-q", "--sim", "--text", "--target", target] + given)
        if said and not (grammar == "expert" and "[unsupported-here]" in said):
            wrong[name] = said
    return wrong


def main():
    p = argparse.ArgumentParser(description="random kernels against numpy")
    p.add_argument("tl")
    p.add_argument("--from", dest="first", type=int, default=1)
    p.add_argument("--count", type=int, default=40)
    p.add_argument("--target", action="append")
    p.add_argument("--run", action="append", help="a target that runs here: cuda, cpu, opencl; no other place unless given")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--grammar", choices=GRAMMARS, default="deep")
    p.add_argument("--keep")
    o = p.parse_args()
    runs, targets = o.run or ["meaning", "cpu"], o.target or ([] if o.run else ["sm_80", "sm_90a"])
    passed, failed, told = 0, 0, time.time()
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        def one(seed):
            folder = os.path.join(work, str(seed))
            os.mkdir(folder)
            wrong = try_seed(o.tl, o.grammar, seed, runs, targets, folder)
            if wrong and o.keep:
                shutil.copytree(folder, os.path.join(o.keep, str(seed)), dirs_exist_ok=True)
            shutil.rmtree(folder)
            return seed, wrong

        for seed, wrong in pool.map(one, range(o.first, o.first + o.count)):
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for where, said in wrong.items():
                print("FAIL seed %d, %s: %s" % (seed, where, said), flush=True)
            if time.time() - told > TELL_S:
                told = time.time()
                print("%d of %d" % (passed + failed, o.count), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
