"""fuzz.py -- correct kernels and correct calls made wrong at random.

Usage: fuzz.py kernels|calls [--seed N] [--from N] [--count N] [--target T]... [--limit SECONDS]
       fuzz.py kernels --show NUMBER [--seed N]       the text of one mutant, and what becomes of it

Each mutant must raise an exception of Python, or give what its meaning gives: that of the tile form
in the simulator.  A crash, a hang, an internal error, a SystemError, an exception without words, a
kernel whose lowered form fails where its meaning does not, and a wrong result are findings; there is
an exit code of 1 then.  Mutants run in a child process that is started again when it dies."""

import argparse
import faulthandler
import os
import random
import subprocess
import sys
import tempfile
import warnings

import fuzz_calls
import fuzz_kernels

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = ["sim -arch=sm_80", "sim -arch=sm_90a", "cpu"]


def work(o):
    """In the child: numbers from o.first on; what is begun is written down before."""
    import resource

    if "ASAN_OPTIONS" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    warnings.simplefilter("ignore")
    rounds = fuzz_kernels.Round if o.what == "kernels" else fuzz_calls.Round
    made = rounds(o.target)
    for number in range(o.first, o.first + o.count):
        with open(o.note, "w") as f:
            f.write("%d" % number)
        faulthandler.dump_traceback_later(o.limit, exit=True)
        rng = random.Random(o.seed * 1000003 + number)
        way, finding = made.run(rng, number)
        faulthandler.cancel_dump_traceback_later()
        print("WAY " + way, flush=True)
        if finding:
            print("FAIL %s --seed %d --show %d: %s" % (o.what, o.seed, number, finding), flush=True)


def children(o):
    """Start children until all numbers were tried; findings and counts of what happened."""
    findings, ways = [], {}
    at, end = o.first, o.first + o.count
    with tempfile.TemporaryDirectory() as d:
        note = os.path.join(d, "note")
        while at < end:
            words = [sys.executable, os.path.abspath(__file__), o.what, "--seed", o.seed, "--from", at,
                     "--count", end - at, "--limit", o.limit, "--note", note]
            for t in o.target:
                words += ["--target", t]
            got = subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace")
            for line in got.stdout.splitlines():
                if line.startswith("FAIL"):
                    findings.append(line)
                elif line.startswith("WAY "):
                    ways[line[4:]] = ways.get(line[4:], 0) + 1
            if got.returncode == 0:
                break
            with open(note) as f:
                died = int(f.read() or at)
            findings.append("FAIL %s --seed %d --show %d: the process ended with %d\n%s" % (
                o.what, o.seed, died, got.returncode, got.stderr[-3000:]))
            at = died + 1
    return findings, ways


def options(words):
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=("kernels", "calls"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--from", dest="first", type=int, default=0)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--limit", type=float, default=600 if "ASAN_OPTIONS" in os.environ else 90)
    p.add_argument("--target", action="append")
    p.add_argument("--show", type=int)
    p.add_argument("--note")
    o = p.parse_args(words)
    o.target = o.target or TARGETS
    return o


def main(words):
    o = options(words)
    if o.show is not None:
        made = (fuzz_kernels.Round if o.what == "kernels" else fuzz_calls.Round)(o.target, show=True)
        print(made.run(random.Random(o.seed * 1000003 + o.show), o.show))
        return 0
    if o.note:
        work(o)
        return 0
    findings, ways = children(o)
    for line in findings:
        print(line)
    print(" ".join("%s=%d" % w for w in sorted(ways.items())))
    print("%d passed, %d failed" % (o.count - len(findings), len(findings)))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
