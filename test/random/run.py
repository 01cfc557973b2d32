"""run.py -- random kernels (gen.py) through every target.

    python3 run.py TL [--count N] [--from SEED] [--keep DIR] [--jobs N] [--run-every N]

Each is lowered for sm_80, for sm_90a and for the CPU and simulated after every pass (--check-each:
the answers of the tile form, no race, nothing read before it was written).  One in N is compiled to
machine code and run on the CPU against the simulator as well: the C compiler takes seconds.  The last line is "N passed, M failed"; a failure prints its seed."""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

import gen

LIMIT_S = 300
TARGETS = (("sm_80", ["build", "--check-each", "--check-text", "--source", "--target", "cuda -arch=sm_80"]),
           ("sm_90a", ["build", "--check-each", "--check-text", "--source", "--target", "cuda -arch=sm_90a"]),
           ("cpu", ["build", "--check-each", "--source"]),
           ("run", ["verify"]))


def one(tl, seed, folder, targets, run_every):
    path = os.path.join(folder, "k%d.py" % seed)
    with open(path, "w") as f:
        f.write(gen.kernel(seed))
    bad = []
    for name, words in TARGETS:
        if (targets and name not in targets) or (name == "run" and seed % run_every):
            continue
        start = time.time()
        try:
            p = subprocess.run([tl, words[0], path, "-q"] + words[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, timeout=LIMIT_S, errors="replace")
            code, said = p.returncode, p.stderr
        except subprocess.TimeoutExpired:
            code, said = -1, "more than %d s" % LIMIT_S
        if code:
            bad.append("%s: %s" % (name, "\n".join(said.strip().splitlines()[:6])))
        elif time.time() - start > 15:
            sys.stderr.write("seed %d is slow on %s: %.0f s\n" % (seed, name, time.time() - start))
    if not bad:
        os.unlink(path)
    return seed, bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tl")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--from", dest="first", type=int, default=1)
    p.add_argument("--keep", help="where to leave the kernels that fail")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--run-every", type=int, default=8)
    p.add_argument("--target", action="append")
    o = p.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as t, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        folder = o.keep or t
        os.makedirs(folder, exist_ok=True)
        seeds = range(o.first, o.first + o.count)
        for seed, bad in pool.map(lambda s: one(os.path.abspath(o.tl), s, folder, o.target, o.run_every), seeds):
            passed += not bad
            failed += bool(bad)
            for text in bad:
                print("FAIL seed %d on %s" % (seed, text), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
