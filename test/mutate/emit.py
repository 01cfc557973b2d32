"""emit.py -- faults put into the emitters of CUDA text: does anything notice without a GPU?

    python3 emit.py BUILD [--count N] [--seed N] [--jobs N] [--list]

A mutant is one small change in one line that prints CUDA: a comparison or an operator turned, a number one more or
half of it, a branch the wrong way, operands swapped, a cast, a call or a word of the text left out.  Lines are drawn
by a seeded generator from those that the kernels below reach (gcov), functions of device/cuda from those that are in
a text.  Each mutant is compiled and linked with the other objects of BUILD; kernels that reach its line are built
until the text of one differs, and then that text is run on the host (tl build --check-text).  A mutant is

    caught      the host's compiler, NVRTC (if it is here) or the compiler itself refuses, or the results are wrong
    silent      no text of the kernels that reach the line differs (of 120 of them): the same program for all we run
    same        texts differ in what no result depends on: blanks, comments, hints to the compiler, or the host's
                compiler makes the same code of both at -O2
    SURVIVED    24 texts differ, or all there are, and run as before: printed with the difference, to be looked at

Goldens and hashes of texts, which would notice every change, do not count here.  Survivors that somebody looked at and
that change no result are in test/mutate/emit.txt with the reason; they do not count either.  It fails when less than
97 % of the rest are caught."""

import argparse
import glob
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EMITTERS = sorted(glob.glob(ROOT + "/src/target/cuda/emit*.c") + glob.glob(ROOT + "/src/target/print*.c"))
EMITTERS = [e for e in EMITTERS if not e.endswith("emit_profile.c")]  # stamps of a profile, not results
DEVICE = sorted(glob.glob(ROOT + "/device/cuda/*.h"))
FLAGS = ["-std=c11", "-O0", "-g0", "-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-D_GNU_SOURCE", "-fPIC",
         "-fvisibility=hidden"]
LIMIT_S = 60
TEXTS_MOST, CHANGED_MOST = 120, 24  # kernels that a mutant is tried on; texts that differ and are run
RUNS_MOST = 6  # of one kernel: other dtypes reach other lines
KNOWN = ROOT + "/test/mutate/emit.txt"


# ---- kernels -------------------------------------------------------------------------------------

def corpus():
    """The first runs of every kernel of test/kernel, and some examples, on two architectures."""
    seen, found = set(), []
    for path in sorted(glob.glob(ROOT + "/test/kernel/*.py")) + [ROOT + "/test/gpu/kernel/cluster.py"]:
        text = open(path).read()
        if re.search(r"^# (fails|refused):", text, re.M):
            continue
        for line in re.findall(r"^# verify: *(.*)$", text, re.M):
            words = line.split()
            func = "".join(w for w in words[:1] if w.startswith(":"))
            knobs = [w for w in words if not w.startswith((":", "-"))]
            for arch in ("sm_80", "sm_90a"):
                refused = any(w.startswith(("--cuda=", "--%s=" % arch)) for w in words)
                many = sum(k[:2] == (path + func, arch) for k in seen)
                if not refused and many < RUNS_MOST:
                    seen.add((path + func, arch, line))
                    found.append((path + func, knobs, arch))
    return found


def run(words, **keys):
    try:
        p = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, errors="replace", cwd=ROOT, **keys)
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired:
        return -1, "", "more than %d s" % LIMIT_S


def text_of(tl, kernel, check=False, env=None):
    path, knobs, arch = kernel
    words = [tl, "build", path, *knobs, "-q", "--target", "cuda -arch=" + arch, "--source"]
    return run(words + (["--check-text"] if check else []), env=env)


PRAGMA = re.compile(r"^\s*#pragma unroll.*\n", re.M)


def essence(text):
    """Without what no result depends on."""
    text = PRAGMA.sub("", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S))
    text = re.sub(r"__launch_bounds__\((\d+), \d+\)", r"__launch_bounds__(\1)", text)
    text = re.sub(r"\b(__restrict__|const)\b", "", text)
    text = re.sub(r"tl_evict_(first|last)", "tl_evict", text)
    text = re.sub(r"__ldg\(&\((.*?)\)\)", r"\1", text)
    text = re.sub(r"^\s*tl_prefetch\w*\(.*\n", "", text, flags=re.M)
    return re.sub(r"\s+", "", text)


# ---- building ------------------------------------------------------------------------------------

class Tree:
    def __init__(self, build, folder):
        self.build, self.folder, self.made = os.path.abspath(build), folder, threading.Lock()
        self.objects = sorted(glob.glob(self.build + "/src/**/*.o", recursive=True))
        self.objects = [o for o in self.objects if "/src/py/" not in o and "/src/target/template/" not in o
                        and os.path.exists(ROOT + "/" + os.path.relpath(o, self.build)[:-2] + ".c")]
        self.include = ["-I" + ROOT + "/src", "-I" + ROOT + "/include"]

    def object_of(self, path):
        return self.build + "/" + os.path.relpath(path, ROOT)[:-2] + ".o"

    def compile(self, source, out, gen=None, more=(), name=None):
        """name: the folder whose neighbours its #include lines mean"""
        words = [os.environ.get("CC", "cc"), *FLAGS, *more, "-I" + (gen or self.build + "/gen"), *self.include]
        if name:
            words += ["-iquote", os.path.dirname(name)]
        return run([*words, "-c", "-o", out, source])

    def link(self, replaced, out, more=()):
        objects = [replaced.get(o, o) for o in self.objects]
        return run([os.environ.get("CC", "cc"), "-Wl,-S", *more, "-o", out, *objects, "-lm", "-lpthread", "-ldl"])


def coverage(tree, kernels, jobs):
    """{path: {line: [kernels]}} of the emitters."""
    folder = tree.folder + "/cov"
    os.makedirs(folder)
    replaced = {}
    for path in EMITTERS:
        out = "%s/%s.o" % (folder, os.path.basename(path)[:-2])
        code, _, said = tree.compile(path, out, more=["--coverage"])
        if code:
            sys.exit("emit.py: %s does not compile:\n%s" % (path, said))
        replaced[tree.object_of(path)] = out
    code, _, said = tree.link(replaced, folder + "/tl", more=["--coverage"])
    if code:
        sys.exit("emit.py: no program to measure with:\n" + said)
    tree.plain = folder + "/tl"
    tree.nvrtc = run([tree.plain, "build", ROOT + "/examples/vector_add.py", "--target", "cuda -arch=sm_80"])[0] == 0
    found = {p: {} for p in EMITTERS}
    lock = threading.Lock()

    def one(number):
        own = "%s/%d" % (folder, number)
        env = dict(os.environ, GCOV_PREFIX=own, GCOV_PREFIX_STRIP=str(folder.count("/")))
        code, text, _ = text_of(folder + "/tl", kernels[number], env=env)
        data = glob.glob(own + "/**/*.gcda", recursive=True)
        if code or not data:
            return None
        for d in data:
            shutil.copy(folder + "/" + os.path.basename(d)[:-5] + ".gcno", os.path.dirname(d))
        code, out, _ = run(["gcov", "--json-format", "--stdout", *data])
        with lock:
            for line in out.splitlines():
                for f in json.loads(line)["files"]:
                    path = os.path.join(ROOT, f["file"])
                    if path in found:
                        for l in f["lines"]:
                            if l["count"]:
                                found[path].setdefault(l["line_number"], []).append(number)
        shutil.rmtree(own, ignore_errors=True)
        return text

    with ThreadPoolExecutor(jobs) as pool:
        texts = list(pool.map(one, range(len(kernels))))
    return found, texts


# ---- faults --------------------------------------------------------------------------------------

def turn(pairs):
    def all_of(line):
        for old, new in pairs:
            for m in re.finditer(old, line):
                yield m.start(), m.end(), m.expand(new)
    return all_of


def numbers(line):
    for m in re.finditer(r"(?<![\w.%])(\d+)(?![\w.])", line):
        n = int(m.group(1))
        yield m.start(1), m.end(1), str(n + 1)
        if n > 1:
            yield m.start(1), m.end(1), str(n // 2)


def swapped(line):
    for m in re.finditer(r"(?<=[(,])( ?)([\w.>\[\]-]+), ([\w.>\[\]-]+)(?=[,)])", line):
        if m.group(2) != m.group(3):
            yield m.start(), m.end(), "%s%s, %s" % (m.group(1), m.group(3), m.group(2))


def branches(line):
    m = re.search(r"\bif \((.*)\)( \{)?$", line.rstrip())
    if m and line.count("(") == line.count(")"):
        yield m.start(1), m.end(1), "!(%s)" % m.group(1)
    for m in re.finditer(r"\? ([^?:]+) : ([^?:;,)]+)(?=[;,)])", line):
        yield m.start(), m.end(), "? %s : %s" % (m.group(2), m.group(1))


def dropped(line):
    m = re.match(r"\s+((?:str_put|str_printf|emit_|put)\w*\(.*\));$", line.rstrip())
    if m and "indent" not in line:
        yield m.start(1), m.end(1), ""


OPERATORS = turn([(r"(?<= )< ", "<= "), (r"(?<= )<= ", "< "), (r"(?<= )> ", ">= "), (r"(?<= )>= ", "> "), (r"== ", "!= "),
                  (r"!= ", "== "), (r"&& ", "|| "), (r"\|\| ", "&& "), (r"(?<= )\+ ", "- "), (r"(?<= )- ", "+ "),
                  (r"(?<= )\* (?=\w)", "+ "), (r"(?<= )/ ", "* "), (r"(?<= )% (?=\w)", "/ "), (r"\btrue\b", "false"),
                  (r"\bfalse\b", "true"), (r"kid\[0\]", "kid[1]"), (r"kid\[1\]", "kid[0]"), (r"!(?=\w)", ""),
                  (r"\bfirst\b", "0"), (r"(?<= )>> ", "<< "), (r"(?<= )<< ", ">> "), (r"(?<= )& ", "| "), (r"(?<= )\| ", "& ")])
WORDS = turn([(r"\bf16\b", "bf16"), (r"\bbf16\b", "f16"), (r"_f32_", "_f64_"), (r"\bs32\b", "u32"), (r"\.rn\.", ".rz."),
              (r"_rn\b", "_rz"), (r"_rz\b", "_rn"), (r"\(%s\)", ""), (r"\((?:u?int\d+_t|float|double)\)", ""), (r"uint32_t", "uint16_t"),
              (r"uint64_t", "uint32_t"), (r"int64_t", "int32_t"), (r"\bint32_t", "uint32_t"), (r"_trans\b", ""), (r"_u32", "_i32"), (r"_i32", "_i64"),
              (r"\bfloat\b", "double"), (r"max", "min"), (r"min", "max"), (r"float4", "float2"), (r"uint4", "uint2"),
              (r"%lld", "1%lld"), (r"0xffffffffu", "0xffffu"), (r"%s%s", "%s"), (r"_sync\(", "("), (r"\.aligned", ""),
              (r"row\.col", "col.row"), (r"arrive", "wait"), (r"&%s", "%s"), (r"xor", "down"), (r"Add", "Sub"), (r"Max", "Min"), (r"__syncthreads", "__syncwarp")])
KINDS = [OPERATORS, numbers, swapped, branches, dropped, WORDS]


def is_code(line):
    s = line.strip()
    return s and not s.startswith(("/*", "*", "//", "#", "}", "{", "diag_fail", "BUG", '"[')) and "BUG(" not in line


def faults(line):
    """All changes of a line, without its comment."""
    code = re.sub(r"/\*.*?(\*/|$)", lambda m: " " * len(m.group(0)), line)
    if not is_code(code):
        return []
    found = [(kind.__name__ if kind not in (OPERATORS, WORDS) else "operators" if kind is OPERATORS else "words", a, b, new)
             for kind in KINDS for a, b, new in kind(code)]
    return [f for f in found if line[f[1]:f[2]] != f[3]]


def changed(line, fault):
    return line[:fault[1]] + fault[3] + line[fault[2]:]


def given(path):
    """Survivors out of the output of another run."""
    found = []
    for m in re.finditer(r"^SURVIVED (\S+):(\d+) .*\n    \S+: (.*)$", open(path).read(), re.M):
        line = open(ROOT + "/" + m.group(1)).read().split("\n")[int(m.group(2)) - 1]
        found.append((ROOT + "/" + m.group(1), int(m.group(2)), ("given", 0, len(line), m.group(3))))
    return found


def draw(count, seed, lines, device):
    """(path, line number, fault): first the line, each as likely, then one of its changes."""
    random_ = random.Random(seed)
    pool = [(p, n) for p in sorted(lines) for n in sorted(lines[p])] + [(p, n) for p in sorted(device) for n in sorted(device[p])]
    text = {p: open(p).read().split("\n") for p in {p for p, _ in pool}}
    pool = [(p, n) for p, n in pool if faults(text[p][n - 1])]
    seen, drawn = set(), []
    for _ in range(count * 20):
        path, n = random_.choice(pool)
        fault = random_.choice(faults(text[path][n - 1]))
        if len(drawn) < count and (path, n, fault) not in seen:
            seen.add((path, n, fault))
            drawn.append((path, n, fault))
    return drawn, len(pool)


# ---- one mutant ----------------------------------------------------------------------------------

def device_lines(texts):
    """{path: {line: [kernels]}}: lines of functions that texts have."""
    found = {}
    for path in DEVICE:
        inside, name = False, None
        for n, line in enumerate(open(path).read().split("\n"), 1):
            m = re.match(r"(?:namespace tl \{ )?(?:template <.*> ?)?(?:TL_DEVICE|struct) .*?(\w+)\(", line)
            if m:
                name = m.group(1)
            users = [i for i, t in enumerate(texts) if t and name and re.search(r"\b%s\b" % name, t)]
            if users and line.strip() and (line.startswith((" ", "TL_DEVICE", "template", "namespace"))):
                found.setdefault(path, {})[n] = users
            if line.startswith("}"):
                name = None
    return found


def make(tree, mutant, own):
    """The program with the fault in it, or None: C does not take it."""
    path, n, fault = mutant
    lines = open(path).read().split("\n")
    lines[n - 1] = changed(lines[n - 1], fault)
    source, gen, victim = "%s/%s" % (own, os.path.basename(path)), None, path
    with open(source, "w") as f:
        f.write("\n".join(lines))
    if path.endswith(".h"):
        gen = own + "/gen"
        shutil.copytree(tree.build + "/gen", gen)
        folder = own + "/device/cuda"
        os.makedirs(folder)
        for d in DEVICE:
            shutil.copy(source if d == path else d, folder)
        code, out, _ = run(["sh", "-c", 'cd "$0" && sh %s/tools/embed.sh device/cuda/*.h' % ROOT, own])
        with open(gen + "/device_cuda.h", "w") as f:
            f.write(out)
        victim = source = ROOT + "/src/target/cuda/emit_device.c"
    code, _, _ = tree.compile(source, own + "/m.o", gen=gen, name=victim)
    if code or tree.link({tree.object_of(victim): own + "/m.o"}, own + "/tl")[0]:
        return None
    return own + "/tl"


def host_code(tl, kernel, folder):
    """Assembly of the text as the host sees it, optimised; None: there is none."""
    shutil.rmtree(folder, ignore_errors=True)
    text_of(tl, kernel, check=True, env=dict(os.environ, TILELANG_CACHE_DIR=folder))
    found = glob.glob(folder + "/kernels/*/kernel.c")
    if len(found) != 1:
        return None
    flags = ["-x", "c++", "-std=c++17", "-O2", "-w", "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off", "-fno-exceptions"]
    code, out, _ = run([os.environ.get("CC", "cc"), *flags, "-S", "-o", "-", found[0]])
    return re.sub(r"^\s*\.(file|ident).*\n", "", out, flags=re.M) if code == 0 else None


def is_same_code(tree, tl, kernels, changed_, own):
    for i in changed_:
        was, now = (host_code(t, kernels[i], own + "/code") for t in (tree.plain, tl))
        if was is None or was != now:
            return False
    return True


def judge(tree, kernels, texts, mutant, users):
    """(verdict, what to say)"""
    differ, same, changed_ = 0, None, []
    with tempfile.TemporaryDirectory(dir=tree.folder) as own:
        tl = make(tree, mutant, own)
        if not tl:
            return "no C", ""
        for i in users[:TEXTS_MOST]:
            if differ == CHANGED_MOST:
                break
            code, text, said = text_of(tl, kernels[i])
            if code == 0 and text == texts[i]:
                continue
            if code == 0 and essence(text) == essence(texts[i]):
                same = same or "same"
                continue
            differ += 1
            code2, _, said = (code, "", said) if code else text_of(tl, kernels[i], check=True)
            if code2:
                return "caught", "%s: %s" % (os.path.basename(kernels[i][0]), said.strip().split("\n")[0][:160])
            first = [(a, b) for a, b in zip(texts[i].split("\n"), text.split("\n")) if a != b][:1]
            same = "%s on %s: %s" % (os.path.basename(kernels[i][0]), kernels[i][2], first)
            changed_.append(i)
        for i in changed_[:3] if tree.nvrtc else []:
            path, knobs, arch = kernels[i]
            code, _, said = run([tl, "build", path, *knobs, "-q", "--target", "cuda -arch=" + arch])
            if code:
                return "caught", "NVRTC, %s: %s" % (os.path.basename(path), said.strip().split("\n")[0][:160])
        if differ and is_same_code(tree, tl, kernels, changed_, own):
            return "same", ""
    return ("SURVIVED", same) if differ else ("same" if same else "silent", "")


def key_of(mutant):
    """A name that stays when lines move."""
    path, n, fault = mutant
    line = open(path).read().split("\n")[n - 1]
    return "%s: %s" % (os.path.relpath(path, ROOT), re.sub(r"\s+", " ", changed(line, fault).strip()))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--kernels", type=int, default=0, help="only so many of them, for a short run")
    p.add_argument("--again", help="only the survivors that are in this output of a run")
    p.add_argument("--bar", type=float, default=97, help="per cent that must be caught")
    p.add_argument("--verbose", action="store_true")
    o = p.parse_args()
    known = {l.split("\t")[0] for l in open(KNOWN).read().split("\n")} if os.path.exists(KNOWN) else set()
    kernels = corpus()
    if o.kernels:
        kernels = random.Random(o.seed).sample(kernels, min(o.kernels, len(kernels)))
    count = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(o.build, folder)
        lines, texts = coverage(tree, kernels, o.jobs)
        device = device_lines(texts)
        drawn, npool = draw(o.count * 2, o.seed, lines, device)
        if o.again:
            drawn, o.count = given(o.again), 1 << 30
        print("%d kernels reach %d lines that can be changed" % (sum(t is not None for t in texts), npool), flush=True)

        def one(m):
            users = (lines if m[0] in lines else device)[m[0]].get(m[1], [])
            order = random.Random("%s %d" % m[:2]).sample(users, len(users))
            return m, judge(tree, kernels, texts, m, order)

        left = o.count
        with ThreadPoolExecutor(o.jobs) as pool:
            for start in range(0, len(drawn), 32):
                for m, (verdict, why) in pool.map(one, drawn[start:start + 32]):
                    if left == 0:
                        break
                    if verdict == "SURVIVED" and key_of(m) in known:
                        verdict = "known"
                    count[verdict] = count.get(verdict, 0) + 1
                    left -= verdict in ("caught", "SURVIVED", "known")
                    if verdict == "SURVIVED" or o.verbose:
                        print("%s %s:%d [%s]\n    %s\n    %s" % (verdict, os.path.relpath(m[0], ROOT), m[1], m[2][0], key_of(m), why), flush=True)
                if left == 0:
                    break
    print(", ".join("%d %s" % (n, v) for v, n in sorted(count.items())))
    caught, known_n, bad = count.get("caught", 0), count.get("known", 0), count.get("SURVIVED", 0)
    share = 100.0 * caught / max(caught + bad, 1)
    print("%.1f %% of those that change what a text does are caught; the bar is %g %%" % (share, o.bar))
    below = share < o.bar
    print("%d passed, %d failed" % (caught + known_n + (0 if below else bad), bad if below else 0))
    return below


if __name__ == "__main__":
    sys.exit(main())
