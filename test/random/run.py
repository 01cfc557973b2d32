"""run.py -- random kernels (gen.py, wide.py) through every target.

    python3 run.py TL [--count N] [--from SEED] [--final] [--text] [--run-every N] [--target NAME]…
                      [--jobs N] [--keep DIR] [--done FILE]

Each is lowered for sm_80, for sm_90a and for the CPU and simulated after every pass (--check-each: the answers of
the tile form, no race, nothing read before it was written), and their CUDA text is run on the host.  One in N is compiled to machine code and run on the
CPU against the simulator as well: the C compiler takes seconds.  With --final kernels are simulated only as they
are at the end, and each runs on the CPU: a third of the time, for many; with --text their CUDA text runs too.

--done FILE notes the seeds that passed: the same command goes on where it was stopped.  A failure prints its seed,
what was said, and a smaller kernel that fails in the same way; kernels that fail stay in --keep.  The last line
is "N passed, M failed"."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

import gen

LIMIT_S = 300
SHRINK_S = 60
TELL_S = 30
CHECKED = {"sm_80": ["build", "--check-each", "--check-text", "--source", "--target", "cuda -arch=sm_80"],
           "sm_90a": ["build", "--check-each", "--check-text", "--source", "--target", "cuda -arch=sm_90a"],
           "cpu": ["build", "--check-each", "--source"],
           "run": ["verify", "--target", "cpu"]}
FINAL = {"sm_80": ["verify", "--sim", "--target", "cuda -arch=sm_80"],
         "sm_90a": ["verify", "--sim", "--target", "cuda -arch=sm_90a"],
         "run": ["verify", "--target", "cpu"]}


# ---- one kernel --------------------------------------------------------------------------------

def ask(tl, path, text, words):
    """What tl says of a kernel that is wrong; "" when nothing is."""
    with open(path, "w") as f:
        f.write(text)
    try:
        p = subprocess.run([tl, words[0], path, "-q"] + gen.knobs(text) + words[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=LIMIT_S, errors="replace")
    except subprocess.TimeoutExpired:
        return "more than %d s" % LIMIT_S
    said = "\n".join(p.stdout.strip().splitlines()[-6:])
    return (said or "exit %d" % p.returncode) if p.returncode else ""


def kind_of(said):
    """Two failures are the same when their tags, or without one their words, are."""
    tags = re.findall(r"\[[a-z-]+\]", said)
    return tags or re.sub(r"[-+.\d]+(e[-+]?\d+)?|\w*\d\w*", "#", said).split()[:4]


def blocks(lines, start):
    """Each statement of the body with what is inside of it, the last one first."""
    for i in range(len(lines) - 1, start, -1):
        depth = len(lines[i]) - len(lines[i].lstrip())
        j = i + 1
        while j < len(lines) and len(lines[j]) - len(lines[j].lstrip()) > depth:
            j += 1
        yield i, j


def shrink(tl, path, text, words, said):
    """Statements are taken out as long as the kernel fails as before; but whoever takes out a store makes a read of
    what nobody wrote."""
    if "[uninitialised]" in said:
        return text
    end, lines = time.time() + SHRINK_S, text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("with T.Kernel"))
    smaller = True
    while smaller:
        smaller = False
        for i, j in blocks(lines, start):
            if time.time() > end:
                return "\n".join(lines) + "\n"
            fewer = lines[:i] + lines[j:]
            if j <= len(lines) and kind_of(ask(tl, path, "\n".join(fewer) + "\n", words) or "x") == kind_of(said):
                lines, smaller = fewer, True
                break
    return "\n".join(lines) + "\n"


def one(tl, seed, folder, targets, run_every):
    path = os.path.join(folder, "k%d.py" % seed)
    text, bad = gen.kernel(seed), []
    for name, words in targets.items():
        if name == "run" and seed % run_every:
            continue
        start = time.time()
        said = ask(tl, path, text, words)
        if said:
            small = shrink(tl, os.path.join(folder, "small%d.py" % seed), text, words, said)
            with open(os.path.join(folder, "small%d.py" % seed), "w") as f:
                f.write(small)
            with open(path, "w") as f:
                f.write(text)
            bad.append("FAIL seed %d on %s: %s\n%s# tl %s k.py %s" % (seed, name, said, small, words[0], " ".join(map(repr, words[1:]))))
        elif time.time() - start > 15:
            sys.stderr.write("seed %d is slow on %s: %.0f s\n" % (seed, name, time.time() - start))
    if not bad:
        os.unlink(path)
    return seed, bad


# ---- many --------------------------------------------------------------------------------------

def choose(o):
    targets = FINAL if o.final else CHECKED
    more = ["--text"] if o.text else []
    return {name: words + (more if "--sim" in words else []) for name, words in targets.items()
            if not o.target or name in o.target}


def seeds_left(o):
    done = set()
    if o.done and os.path.exists(o.done):
        with open(o.done) as f:
            done = {int(line) for line in f if line.strip().isdigit()}
    wanted = range(o.first, o.first + o.count)
    left = [s for s in wanted if s not in done]
    return left, len(wanted) - len(left)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tl")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--from", dest="first", type=int, default=1)
    p.add_argument("--final", action="store_true")
    p.add_argument("--text", action="store_true")
    p.add_argument("--keep", help="where to leave the kernels that fail")
    p.add_argument("--done", help="a file of seeds that have passed")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--run-every", type=int)
    p.add_argument("--target", action="append")
    o = p.parse_args()
    run_every = o.run_every or (1 if o.final else 8)
    targets, (seeds, passed), failed = choose(o), seeds_left(o), 0
    told = time.time()
    if o.done:
        os.makedirs(os.path.dirname(os.path.abspath(o.done)), exist_ok=True)
    with tempfile.TemporaryDirectory() as t, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool, \
            open(o.done or os.devnull, "a") as notes:
        folder = o.keep or t
        os.makedirs(folder, exist_ok=True)
        tries = [pool.submit(one, os.path.abspath(o.tl), s, folder, targets, run_every) for s in seeds]
        for future in concurrent.futures.as_completed(tries):
            seed, bad = future.result()
            passed += not bad
            failed += bool(bad)
            if not bad:
                notes.write("%d\n" % seed)
                notes.flush()
            for text in bad:
                print(text, flush=True)
            if time.time() - told > TELL_S:
                told = time.time()
                print("%d of %d, %d wrong" % (passed + failed, o.count, failed), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
