"""check.py -- every class of failure that users reported, from the condition they described.

    python3 check.py TL [WORD…]    only cases whose line has all words

A file of this folder says at its head which of its kernels stands for which report:

    # right: TL#2381 :tail bk=24             compiled and run on the CPU, lowered for sm_80 and sm_90a and
                                             simulated after every pass: the answers of the tile form, no report
    # silent: TL#1615 :clean                 the same, and no warning
    # gpu: TL#2612 :branch                   the same without the CPU
    # refused: TL#2978 :all_threads [tag]    an error with this tag, on every target
    # refused-gpu: TL#2201 :huge [tag]       an error with this tag on both GPUs
    # warns: TL#1560 :race [tag]             compiles with this warning
    # text: TL#2560 :far WORDS               the CUDA text has these words

index.md names the classes.  The last line is "N passed, M failed"."""

import concurrent.futures
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GPUS = ("cuda -arch=sm_80", "cuda -arch=sm_90a")
LIMIT_S = 120


def tl(*words):
    try:
        p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, cwd=ROOT)
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired:
        return -1, "", "more than %d s" % LIMIT_S


def gpu(tool, kernel, knobs, target, each):
    more = ["--check-each", "--check-text"] if each else []
    return tl(tool, "build", kernel, *knobs, "--target", target, "--source", *more)


def has(said, kind, tag):
    return re.search(r":\d+:\d+: %s: .*\[%s\]" % (kind, re.escape(tag)), said) is not None


def run(tool, case):
    kind, report, kernel, knobs, want = case
    where = "%s (%s, %s %s)" % (report, kind, kernel, " ".join(knobs))
    bad = []
    if kind in ("right", "silent"):
        code, out, said = tl(tool, "verify", kernel, *knobs, "-q" if kind == "right" else "--werror")
        if code or "VERIFY: PASS" not in out:
            bad.append("cpu: " + (said or out))
    if kind in ("right", "silent", "gpu"):
        for t in GPUS:
            code, _, said = gpu(tool, kernel, knobs + ["-q"], t, True)
            if code:
                bad.append("%s: %s" % (t, said))
    elif kind in ("refused", "refused-gpu"):
        for t in GPUS + (("cpu",) if kind == "refused" else ()):
            code, _, said = gpu(tool, kernel, knobs, t, False)
            if code == 0 or not has(said, "error", want):
                bad.append("%s is not refused with [%s]: %s" % (t, want, said or "no word"))
            elif "^" not in said:
                bad.append("%s: the message has no caret: %s" % (t, said))
    elif kind == "warns":
        code, _, said = gpu(tool, kernel, knobs, GPUS[0], False)
        if code or not has(said, "warning", want):
            bad.append("no warning [%s]: %s" % (want, said))
    elif kind == "text":
        for t in GPUS:
            code, out, said = gpu(tool, kernel, knobs, t, False)
            if code or want not in out:
                bad.append("%s: the text has no '%s' %s" % (t, want, said))
    return where, bad


def cases():
    for name in sorted(os.listdir(HERE)):
        if not name.endswith(".py") or name == "check.py":
            continue
        path = os.path.join("test", "users", name)
        for line in open(os.path.join(HERE, name)):
            m = re.match(r"# (right|silent|gpu|refused|refused-gpu|warns|text): (\S+) (.*)", line)
            if not m:
                continue
            kind, report, rest = m.groups()
            words, want, knobs, func = rest.split(), None, [], ""
            if kind == "text":
                func, want = words[0], rest.split(None, 1)[1]
                words = []
            for w in words:
                if w.startswith(":"):
                    func = w
                elif w.startswith("["):
                    want = w.strip("[]")
                elif w.startswith("examples/"):
                    path = w
                else:
                    knobs.append(w)
            yield kind, report, path + func, knobs, want
            path = os.path.join("test", "users", name)


def main():
    tool, words = os.path.abspath(sys.argv[1]), sys.argv[2:]
    todo = [c for c in cases() if all(w in " ".join(map(str, c)) for w in words)]
    index = open(os.path.join(HERE, "index.md")).read()
    passed = failed = 0
    for report in sorted({c[1] for c in cases()}):
        if report not in index:
            print("FAIL %s is not in index.md" % report)
            failed += 1
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for where, bad in pool.map(lambda c: run(tool, c), todo):
            passed += not bad
            failed += bool(bad)
            for b in bad:
                print("FAIL %s: %s" % (where, "\n".join(b.strip().splitlines()[:6])))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
