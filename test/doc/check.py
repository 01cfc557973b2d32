"""check.py -- the documents are code: what they show runs, everywhere, and gives what they say.

Usage: check.py TL [FILE.md …]      README.md and doc/*.md unless named; PYTHONPATH has the package

    ```python            a whole kernel file: verified on the CPU, then run with the same inputs there and
                         in the simulator for each of ARCHES; all numbers agree.  `# with: N=9` or, unseen by
                         readers, `<!-- with: N=9 -->` on the line before says what to run it with
    ```python in CELLS   cells of one script, run once for each target in place of "cpu"
        $ command        indented: run; its output is as shown.  Numbers agree to three digits, checksums
                         are of any value, `…` is anything and alone the rest.  tl run and tl verify run in the simulator too
    <!-- file: NAME      a file that commands of the page use; to `-->`

The last line is "N passed, M failed"."""

import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARCHES = ("sm_80", "sm_90a")
CELLS = ("doc/python.md", "doc/serving.md", "doc/tensor-programs.md")
LIMIT_S = int(os.environ.get("TEST_SECONDS", 120))
# Of narrow floats the files hold bits: neighbours differ by one.
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "tfloat32": 1e-4, "float16": 2e-3, "bfloat16": 1.6e-2}
RUN_LINE = re.compile(r"^(\w+)  (\w+) \(", re.M)
NUMBER = re.compile(r"[-+]?\d+\.\d+(?:e[-+]?\d+)?")


def run(words, folder):
    p = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
    return p.returncode, p.stdout


def simulated(arch):
    return ["--sim", "-q", "--target", "cuda -arch=" + arch]  # warnings are about one machine


# ---- kernels -----------------------------------------------------------------------------------

def as_numbers(x, dtype):
    if dtype == "bfloat16":
        return (x.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return x.astype(np.float64)


def difference(got, want, dtype):
    g, w = as_numbers(got, dtype), as_numbers(want, dtype)
    if dtype in TOLERANCE:
        rms = np.sqrt(np.mean(w * w))
        wrong = ~(np.abs(g - w) <= TOLERANCE[dtype] * (max(1, rms) + np.abs(w)))
    elif dtype.startswith("float"):
        wrong = np.abs(g - w) > 1
    else:
        wrong = g != w
    if not wrong.any():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(wrong))
    return "%d of %d differ; %s is %s, on the CPU %s" % (wrong.sum(), wrong.size, at, got[at], want[at])


def kernel(tl, text, knobs):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "x.py"), "w") as f:
            f.write(text)
        words = ["x.py"] + shlex.split(knobs)
        code, said = run([tl, "verify"] + words + ["--target", "cpu"], folder)
        if code:
            return ["cpu: " + said]
        outputs = RUN_LINE.findall(run([tl, "run"] + words + ["--target", "cpu"], folder)[1])
        if not outputs:
            return ["it has no output"]
        bad, values = [], {}
        for name, target in [("cpu", ["--target", "cpu"])] + [(a, simulated(a)) for a in ARCHES]:
            files = ["--out=%s=%s.npy" % (tensor, tensor) for tensor, _ in outputs]
            code, said = run([tl, "run"] + words + target + files, folder)
            if code:
                bad.append("%s: %s" % (name, said))
                continue
            values[name] = {t: np.load(os.path.join(folder, t + ".npy")) for t, _ in outputs}
            for tensor, dtype in outputs:
                text = difference(values[name][tensor], values["cpu"][tensor], dtype)
                if text:
                    bad.append("%s: %s: %s" % (name, tensor, text))
        return bad


# ---- cells -------------------------------------------------------------------------------------

RUN_CELLS = """
import importlib.util, linecache, sys
cells, names = eval(sys.stdin.read()), {"__name__": "__main__"}
for i, cell in enumerate(cells):
    if cell.startswith("# needs torch") and importlib.util.find_spec("torch") is None:
        continue
    file = "<cell %d>" % (i + 1)
    linecache.cache[file] = len(cell), None, cell.splitlines(True), file
    exec(compile(cell, file, "exec"), names)
"""


def cells(texts, target):
    texts = [t.replace('target="cpu"', 'target="%s"' % target) for t in texts]
    p = subprocess.run([sys.executable, "-c", RUN_CELLS], input=repr(texts), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
    return ["%s: %s" % (target, p.stdout[-2000:])] if p.returncode else []


# ---- commands ----------------------------------------------------------------------------------

def same_line(got, want):
    got, want = (re.sub(r"checksum [0-9a-f]{16}", "checksum", s) for s in (got, want))
    if "…" in want:
        return re.fullmatch(".*".join(map(re.escape, want.split("…"))), got) is not None
    if NUMBER.split(got) != NUMBER.split(want):
        return False
    return all(abs(float(x) - float(y)) <= 1e-3 * max(1, abs(float(y)))
               for x, y in zip(NUMBER.findall(got), NUMBER.findall(want)))


def command(line, shown, tl, folder):
    words = [tl if w == "tl" else w for w in shlex.split(line)]
    bad = []
    for extra in [[]] + [simulated(a) for a in ARCHES if line.startswith(("tl run examples", "tl verify"))]:
        got = run(words + extra, folder)[1].splitlines()
        rest = "…" in shown
        want = shown[:shown.index("…")] if rest else shown
        if (len(got) < len(want) if rest else len(got) != len(want)) or not all(map(same_line, got, want)):
            bad.append("%s prints\n    %s" % (" ".join(["tl"] + words[1:] + extra), "\n    ".join(got)))
    return bad


# ---- pages -------------------------------------------------------------------------------------

def commands_of(text):
    """(command, lines shown) of each indented block that begins with "$ "."""
    for block in re.findall(r"(?:^    .*\n)+", text, re.M):
        lines = [line[4:] for line in block.splitlines()]
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        for i, j in zip(starts, starts[1:] + [len(lines)]):
            yield lines[i][2:], [line.strip() if line.strip() == "…" else line for line in lines[i + 1:j]]


def fences(text):
    """(knobs, text) of each python block."""
    for knobs, block in re.findall(r"(?:<!-- with: (.*) -->\n)?```python\n(.*?)```", text, re.S):
        own = re.search(r"^# with: (.*)$", block, re.M)
        yield own.group(1) if own else knobs, block


def checks(tl, page):
    """What the page holds, as (name, function that returns what is wrong)."""
    with open(os.path.join(ROOT, page)) as f:
        text = f.read()
    blocks = list(fences(text))
    if page in CELLS:
        for target in ["cpu"] + ["sim -arch=" + a for a in ARCHES]:
            yield "cells on " + target, lambda target=target: cells([b for _, b in blocks], target)
    else:
        for knobs, block in blocks:
            name = re.search(r"^def (\w+)", block, re.M).group(1)
            yield name, lambda block=block, knobs=knobs: kernel(tl, block, knobs)
    plain = re.sub(r"<!-- file:.*?-->|```.*?```", "", text, flags=re.S)
    files = re.findall(r"<!-- file: (\S+)\n(.*?)-->", text, re.S)
    for line, shown in commands_of(plain):
        yield "$ " + line, lambda line=line, shown=shown: in_folder(files, lambda folder: command(line, shown, tl, folder))


def in_folder(files, fn):
    """A folder that looks like the root of the project and has the page's own files in it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("doc", "examples", "test"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        for name, text in files:
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        return fn(folder)


def main(tl, pages):
    passed = failed = 0
    pages = pages or ["README.md"] + sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "doc", "*.md")))
    for page in pages:
        for name, check in checks(os.path.abspath(tl), page):
            try:
                bad = check()
            except subprocess.TimeoutExpired:
                bad = ["more than %d s" % LIMIT_S]
            passed += not bad
            failed += bool(bad)
            for text in bad:
                print("FAIL %s, %s: %s" % (page, name, text), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
