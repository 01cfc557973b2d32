"""emit.py -- faults put into the emitters of CUDA text: does anything notice without a GPU?

    python3 emit.py BUILD [--count N] [--seed N] [--jobs N] [--state DIR] [--seconds N] [--shard I/N]

--state keeps what was found: a run that was stopped, or that --seconds ended, goes on where it was.  --shard takes
every Nth mutant of the draw.

A mutant is one small change in one line that prints CUDA: a comparison or an operator turned, a number one more or
half of it, a branch the wrong way, operands swapped, a cast, a call or a word of the text left out.  Lines are drawn
by a seeded generator from those that the kernels below reach (gcov), functions of device/cuda from those that are in
a text.  Each mutant is compiled and linked with the other objects of BUILD; kernels that reach its line are built
until the text of one differs, and then that text is run on the host (tl build --check-text).  A mutant is

    caught      the host's compiler, NVRTC (if it is here) or the compiler itself refuses, or the results are wrong
    silent      no text of the kernels that reach the line differs (of 160 of them): the same program for all we run
    same        texts differ in what no result depends on: blanks, comments, hints to the compiler, or the host's
                compiler makes the same code of both at -O2, or NVRTC the same PTX (of each kind of difference four
                texts are compared); or it is in a function that decides whether a shorter
                form may be taken (DECISIONS) and only says more often that it may not
    SURVIVED    40 texts differ, or all there are, and run as before: printed with the difference, to be looked at

Goldens and hashes of texts, which would notice every change, do not count here.  Survivors that somebody looked at and
that change no result are in test/mutate/emit.txt with the reason; they do not count either.  Where the reason begins
with the name of a golden of test/emit/cuda in brackets, that golden is about what the mutant changes and its text must
change, or the mutant has survived.  It fails when less than 97 % of the rest are caught."""

import argparse
import difflib
import glob
import hashlib
import json
import os
import pickle
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EMITTERS = sorted(glob.glob(ROOT + "/src/target/cuda/emit*.c") + glob.glob(ROOT + "/src/target/print*.c"))
EMITTERS = [e for e in EMITTERS if not e.endswith("emit_profile.c")]  # stamps of a profile, not results
DEVICE = sorted(glob.glob(ROOT + "/device/cuda/*.h"))
FLAGS = ["-std=c11", "-O0", "-g0", "-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-D_GNU_SOURCE", "-fPIC",
         "-fvisibility=hidden"]
LIMIT_S = 20
TEXTS_MOST, CHANGED_MOST = 160, 40  # kernels that a mutant is tried on; texts that differ and are run
FIRST = ("stores_two_ways", "index_signs", "asserts_elsewhere", "mul_rounds", "assert_fails", "text_edges", "int_edges",
         "math_float")  # written for such faults, or quick and with numbers that tell: all runs of them
RUNS_MOST = 12  # of one kernel: other dtypes reach other lines
KNOWN = ROOT + "/test/mutate/emit.txt"
# Functions that only decide between two forms of a text, and the answer that is always right: the form for everything.
DECISIONS = {"is_wide": "false", "is_wide_copy": "false", "fills_with_zero": "false", "run_start": "NULL", "is_pairs": "false",
             "async_ends": "NULL", "cuda_is_where": "false", "is_through_ldg": "false", "is_native": "false",
             "is_plain_count": "false", "is_unsigned_text": "false", "fits_mantissa": "false", "float_fits": "false",
             "is_half_op": "false", "above_zero": "NULL", "emit_and_or": "false"}


# ---- kernels -------------------------------------------------------------------------------------

def corpus():
    """The first runs of every kernel of test/kernel, and some examples, on two architectures."""
    seen, found = set(), []
    for path in sorted(glob.glob(ROOT + "/test/kernel/*.py")) + [ROOT + "/test/gpu/kernel/cluster.py"]:
        text = open(path).read()
        if re.search(r"^# refused:", text, re.M):
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
    """A program that goes on and on is stopped by the seconds that it computes: others may keep the machine busy."""
    try:
        p = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S * 10, errors="replace", cwd=ROOT,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S)), **keys)
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired:
        return -1, "", "more than %d s" % (LIMIT_S * 10)


def text_of(tl, kernel, check=False, env=None):
    path, knobs, arch = kernel
    words = [tl, "build", path, *knobs, "-q", "--target", "cuda -arch=" + arch, "--source"]
    return run(words + (["--check-text"] if check else []), env=env)


def wrong(tl, kernel):
    """What a run of the text says that it should not; None: nothing.  Of an assertion that does not hold it says so."""
    path, knobs, arch = kernel
    text = open(path.split(":")[0]).read()
    fails = re.search(r"^# fails: *(.*)$", text, re.M)
    if fails:
        code, out, said = run([tl, "run", path, *knobs, "-q", "--target", "cuda -arch=" + arch, "--text"])
        line = re.search(r".py:\d+: .*" + re.escape(fails.group(1)), out + said)
        return None if code and line else "it does not say where '%s'" % fails.group(1)
    code, _, said = text_of(tl, kernel, check=True)
    return said if code else None


PRAGMA = re.compile(r"^\s*#pragma unroll.*\n", re.M)


def essence(text):
    """Without what no result depends on."""
    text = PRAGMA.sub("", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S))
    text = re.sub(r"__launch_bounds__\((\d+), \d+\)", r"__launch_bounds__(\1)", text)
    text = re.sub(r"\b(__restrict__|const)\b", "", text)
    text = re.sub(r"tl_evict_(first|last)", "tl_evict", text)
    text = re.sub(r"^\s*(tl_prefetch\w*\(.*)?;\n", "", text, flags=re.M)
    text = re.sub(r"\bif \([^{};]*\) \{\s*\}", "", text)
    return re.sub(r"\s+", "", text)


def moved(text):
    """With what only moves bits by one name."""
    return re.sub(r"\b(?:float|uint)([24])\b", r"bits\1", essence(text))


# ---- building ------------------------------------------------------------------------------------

class Tree:
    def __init__(self, build, folder):
        self.build, self.folder, self.values = os.path.abspath(build), folder, {}
        self.objects = sorted(glob.glob(self.build + "/src/**/*.o", recursive=True))
        self.objects = [o for o in self.objects if "/src/py/" not in o
                        and os.path.exists(ROOT + "/" + os.path.relpath(o, self.build)[:-2] + ".c")]
        self.include = ["-I" + ROOT + "/src", "-I" + ROOT + "/include"]
        self.plain = self.build + "/tl"
        self.nvrtc = run([self.plain, "build", ROOT + "/examples/vector_add.py", "--target", "cuda -arch=sm_80"])[0] == 0

    def kept(self, key, make):
        """What make() gives, made once; of two threads that ask together both may make it."""
        if key not in self.values:
            self.values[key] = make()
        return self.values[key]

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


DEFINED = re.compile(r"(?:namespace tl \{ )?(?:template <.*> ?)?TL_DEVICE .*?(\w+)\(")


def is_empty(fault, line):
    """Whether it changes nothing whatever the line is for: in the head of a function of device/cuda another name for
    it, under which nobody asks, and float that becomes double, which has every float."""
    head = DEFINED.match(line)
    return head and (fault[1] < head.end(1) and fault[2] > head.start(1) or (line[fault[1]:fault[2]], fault[3]) == ("float", "double"))


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
    return [f for f in found if line[f[1]:f[2]] != f[3] and not is_empty(f, code)]


def changed(line, fault):
    return line[:fault[1]] + fault[3] + line[fault[2]:]


def given(path):
    """Survivors out of the output of another run."""
    found = []
    for m in re.finditer(r"^SURVIVED (\S+):(\d+) .*\n    \S+: (.*)$", open(path).read(), re.M):
        line = open(ROOT + "/" + m.group(1)).read().split("\n")[int(m.group(2)) - 1]
        found.append((ROOT + "/" + m.group(1), int(m.group(2)), ("given", len(line) - len(line.lstrip()), len(line), m.group(3))))
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
    found, has = {}, {}
    for i, t in enumerate(texts):
        for word in set(re.findall(r"\w+", t or "")):
            has.setdefault(word, []).append(i)
    for path in DEVICE:
        name = None
        for n, line in enumerate(open(path).read().split("\n"), 1):
            m = DEFINED.match(line)
            if m:
                name = m.group(1)
            users = has.get(name, [])
            if users and line.strip() and (line.startswith((" ", "TL_DEVICE", "template", "namespace"))):
                found.setdefault(path, {})[n] = users
            if line.startswith("}"):
                name = None
    return found


def function_around(lines, n):
    """(first line, line behind it) of the function that line n is in, from 0; None: of none."""
    first = n - 1
    while first > 0 and (lines[first].startswith((" ", "{", "}", "#")) or not lines[first].strip()):
        if lines[first] == "}":
            return None
        first -= 1
    end = n - 1
    while end < len(lines) and lines[end] != "}":
        end += 1
    return (first, end + 1) if re.match(r"[\w *]+\(", lines[first]) else None


def decision_of(lines, n):
    """The name of the function around line n if it is one of DECISIONS."""
    around = function_around(lines, n)
    name = around and re.match(r"[\w *]*?(\w+)\(", lines[around[0]]).group(1)
    return name if name in DECISIONS else None


def deciding(lines, n, new, always):
    """The file with the function around line n asked twice: as it is, and with `new` as its line n, whose answer counts.
    It may differ only by being the one that is always right.  always: that one, whatever is asked."""
    first, end = function_around(lines, n)
    name = decision_of(lines, n)
    head = " ".join(lines[first:lines.index("{", first)])
    type_, words = re.match(r"([\w *]*?)%s\((.*)\)" % name, head).groups()
    asked = ", ".join(re.search(r"(\w+)$", w).group(1) for w in words.split(","))
    right, type_ = DECISIONS[name], type_.replace("static ", "")
    as_is, other = lines[first:end], lines[first:n - 1] + [new] + lines[n:end]
    twice = [re.sub(r"\b%s\(" % name, "%s_%s(" % (name, which), t, count=1)
             for which, text in (("was", as_is), ("new", other)) for t in ["\n".join(text)]]
    body = "%swas = %s_was(%s), %snow = %s_new(%s);\n    BUG(now != was && now != %s, \"unsafe\");\n    return %s;" % (
        type_, name, asked, "*" if "*" in type_ else "", name, asked, right, right if always else "now")
    return lines[:first] + twice + [head + "\n{\n    " + body + "\n}"] + lines[end:]


def make(tree, mutant, own, decides=None):
    """The program with the fault in it, or None: C does not take it.  decides: see deciding()."""
    path, n, fault = mutant
    lines = open(path).read().split("\n")
    if decides:
        lines = deciding(lines, n, changed(lines[n - 1], fault), decides == "always")
    else:
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
    flags = ["-x", "c++", "-std=c++17", "-O2", "-w", "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off", "-fno-exceptions"]
    done = [run([os.environ.get("CC", "cc"), *flags, "-S", "-o", "-", f]) for f in glob.glob(folder + "/kernels/*/kernel.c")]
    if not done or any(code for code, _, _ in done):
        return None
    return sorted(numbered(re.sub(r"^\s*\.(file|ident).*\n", "", out, flags=re.M)) for _, out, _ in done)


def numbered(code):
    """With functions called by the order they come in: a parameter's type is in the name, and may not matter."""
    names = {}
    return re.sub(r"\b_Z\w+", lambda m: names.setdefault(m.group(0), "F%d" % len(names)), code)


def device_code(tl, kernel, folder):
    """PTX of the text, out of the cache; None: there is none."""
    path, knobs, arch = kernel
    shutil.rmtree(folder, ignore_errors=True)
    code, _, _ = run([tl, "build", path, *knobs, "-q", "--target", "cuda -arch=" + arch], env=dict(os.environ, TILELANG_CACHE_DIR=folder))
    found = glob.glob(folder + "/kernels/*/kernel.so")
    ptx = ["".join(re.findall(r"^\.version.*?(?=^ptxas info|\Z)", open(f, errors="replace").read(), re.M | re.S)) for f in found]
    if code or not all(ptx) or not ptx:
        return None
    return sorted(numbered(re.sub(r"^\s*\.(file|loc)\b.*\n|^\s*\.section\s+\.debug[^}]*\}", "", t, flags=re.M)) for t in ptx)


def kinds_of_change(texts, changed_):
    """Of texts that differ in the same lines, but for numbers, four."""
    kinds = {}
    for i, text in changed_:
        lines = difflib.unified_diff(*([re.sub(r"\d+", "0", l) for l in kernel_lines(t)] for t in (texts[i], text)), n=0)
        kinds.setdefault(frozenset(l for l in lines if l[0] in "+-"), []).append(i)
    return [i for same in kinds.values() for i in same[:4]]


def is_same_code(tree, tl, kernels, which, own):
    for i in which:
        for code in [host_code, device_code] if tree.nvrtc else [host_code]:
            was = tree.kept((code, i), lambda: code(tree.plain, kernels[i], own + "/code"))
            if was is not None and was == code(tl, kernels[i], own + "/code"):
                break
        else:
            return False
    return True


def kernel_lines(text):
    """Without the functions that are pasted before the kernels."""
    return text.split("/* ---- kernels ---- */")[-1].split("\n")


def is_cautious(tree, kernels, mutant, users, changed_, own):
    """Whether it is in a function of DECISIONS, and all it does is give the answer that is always right more often."""
    if not decision_of(open(mutant[0]).read().split("\n"), mutant[1]):
        return False
    tl = make(tree, mutant, own, decides="more")
    if not tl or any(text_of(tl, kernels[i])[0] for i in users[:TEXTS_MOST]):
        return False
    tl = make(tree, mutant, own, decides="always")
    return tl and all(wrong(tl, kernels[i]) is None for i in changed_[:10])


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
            differ += os.path.basename(kernels[i][0]).split(".py")[0] not in FIRST
            said = said if code else wrong(tl, kernels[i])
            if code or said is not None:
                return "caught", "%s: %s" % (os.path.basename(kernels[i][0]), said.strip().split("\n")[0][:160])
            if moved(text) == moved(texts[i]):
                same = same or "same"
                continue
            first = [(a, b) for a, b in zip(kernel_lines(texts[i]), kernel_lines(text)) if a != b][:1]
            same = "%s on %s: %s" % (os.path.basename(kernels[i][0]), kernels[i][2], first)
            changed_.append((i, text))
        for i, _ in changed_[:3] if tree.nvrtc else []:
            path, knobs, arch = kernels[i]
            code, _, said = run([tl, "build", path, *knobs, "-q", "--target", "cuda -arch=" + arch])
            if code:
                return "caught", "NVRTC, %s: %s" % (os.path.basename(path), said.strip().split("\n")[0][:160])
        if changed_ and (is_same_code(tree, tl, kernels, kinds_of_change(texts, changed_), own) or
                         is_cautious(tree, kernels, mutant, users, [i for i, _ in changed_], own)):
            return "same", ""
    return ("SURVIVED", same) if changed_ else ("same" if same else "silent", "")


def golden_changes(tree, mutant, name):
    kernel = ["build", "%s/test/emit/cuda/%s.py" % (ROOT, name), "-q", "--source"]
    kernel += re.findall(r"^# run: (.*)$", open(kernel[1]).read(), re.M)[0].replace('"', "").split("=", 1)
    with tempfile.TemporaryDirectory(dir=tree.folder) as own:
        return run([tree.plain, *kernel])[:2] != run([make(tree, mutant, own), *kernel])[:2]


def key_of(mutant):
    """A name that stays when lines move."""
    path, n, fault = mutant
    line = open(path).read().split("\n")[n - 1]
    return "%s: %s" % (os.path.relpath(path, ROOT), re.sub(r"\s+", " ", changed(line, fault).strip()))


class State:
    """What earlier runs on the same programs and kernels found, in a folder; of none, nothing."""

    def __init__(self, folder, build):
        self.verdicts, self.file, self.lock = {}, None, threading.Lock()
        if not folder:
            self.folder = None
            return
        h = hashlib.sha1(open(build + "/tl", "rb").read())
        for path in [os.path.abspath(__file__)] + sorted(glob.glob(ROOT + "/test/kernel/*.py")):
            h.update(open(path, "rb").read())
        self.folder = "%s/%s" % (os.path.abspath(folder), h.hexdigest()[:12])
        os.makedirs(self.folder, exist_ok=True)
        path = self.folder + "/verdicts"
        if os.path.exists(path):
            self.verdicts = {key: (verdict, why) for key, verdict, why in map(json.loads, open(path))}
        self.file = open(path, "a")

    def kept(self, name, make):
        """The value of make(), which is kept under this name."""
        path = self.folder and "%s/%s" % (self.folder, name)
        if path and os.path.exists(path):
            with open(path, "rb") as f:
                return pickle.load(f)
        value = make()
        if path:
            with open(path + ".new", "wb") as f:
                pickle.dump(value, f)
            os.rename(path + ".new", path)
        return value

    def note(self, key, verdict, why):
        with self.lock:
            self.verdicts[key] = verdict, why
            if self.file:
                self.file.write(json.dumps([key, verdict, why]) + "\n")
                self.file.flush()


def in_turn(kernels, users, seed):
    """Those that try them: what was written for it first, then one run of each file, then the others."""
    nth, turn = {}, {}
    for i in random.Random(seed).sample(users, len(users)):
        name = os.path.basename(kernels[i][0]).split(".py")[0]
        turn[i] = -1 if name in FIRST else nth.get(name, 0)
        nth[name] = nth.get(name, 0) + 1
    return sorted(turn, key=turn.get)


COUNTED = ("caught", "SURVIVED", "known")


class Draw:
    """Mutants are judged in the order they were drawn, until enough of them change what a text does."""

    def __init__(self, o, tree, state, judged):
        self.o, self.tree, self.state, self.judged = o, tree, state, judged
        self.known = dict(l.split("\t") for l in open(KNOWN).read().splitlines())
        self.count, self.end = {}, time.time() + o.seconds if o.seconds else None

    def found(self, m, verdict, why):
        reason = self.known.get(key_of(m), self.known.get(os.path.relpath(m[0], ROOT)))
        golden = re.match(r"\[(\w+)\]", reason or "")
        if verdict == "SURVIVED" and reason and (not golden or golden_changes(self.tree, m, golden.group(1))):
            verdict = "known"
        self.count[verdict] = self.count.get(verdict, 0) + 1
        if verdict == "SURVIVED" or self.o.verbose:
            print("%s %s:%d [%s]\n    %s\n    %s" % (verdict, os.path.relpath(m[0], ROOT), m[1], m[2][0], key_of(m), why), flush=True)

    def one(self, m):
        key = "%s:%d: %s" % (os.path.relpath(m[0], ROOT), m[1], changed(open(m[0]).read().split("\n")[m[1] - 1], m[2]))
        if key not in self.state.verdicts:
            if self.end and time.time() > self.end:
                return m, None
            self.state.note(key, *self.judged(m))
        return m, self.state.verdicts[key]

    def run(self, mutants):
        """False: it was stopped before the end."""
        under_way, rest, enough = set(), iter(mutants), self.o.count
        with ThreadPoolExecutor(self.o.jobs) as pool:
            while True:
                while len(under_way) < self.o.jobs and sum(self.count.get(v, 0) for v in COUNTED) < enough:
                    m = next(rest, None)
                    if m is None:
                        break
                    under_way.add(pool.submit(self.one, m))
                if not under_way:
                    return True
                ended, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for m, verdict in (e.result() for e in ended):
                    if verdict is None:
                        rest, enough = iter(()), 0
                        continue
                    self.found(m, *verdict)
                if not under_way and enough == 0 and self.o.count:
                    return False


def options():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--kernels", type=int, default=0, help="only so many of them, for a short run")
    p.add_argument("--state", help="a folder for what was found; a run goes on with what is there")
    p.add_argument("--seconds", type=float, help="begin no mutant after so long")
    p.add_argument("--shard", default="0/1", metavar="I/N", help="mutants I, I + N, … of the draw, I from 0")
    p.add_argument("--match", default="", help="only kernels whose file's name has one of these words")
    p.add_argument("--again", help="only the survivors that are in this output of a run")
    p.add_argument("--bar", type=float, default=97, help="per cent that must be caught")
    p.add_argument("--verbose", action="store_true")
    return p.parse_args()


def main():
    o = options()
    shard, shards = map(int, o.shard.split("/"))
    kernels = [k for k in corpus() if any(w in os.path.basename(k[0]) for w in o.match.split(","))]
    if o.kernels:
        kernels = random.Random(o.seed).sample(kernels, min(o.kernels, len(kernels)))
    with tempfile.TemporaryDirectory() as folder:
        tree, state = Tree(o.build, folder), State(o.state, o.build)
        which = hashlib.sha1(repr(kernels).encode()).hexdigest()[:8]
        lines, texts = state.kept("lines-" + which, lambda: coverage(tree, kernels, o.jobs))
        device = state.kept("device-" + which, lambda: device_lines(texts))
        drawn, npool = draw(o.count * 2, o.seed, lines, device)
        if o.again:
            drawn, o.count = given(o.again), 1 << 30
        print("%d kernels reach %d lines that can be changed" % (sum(t is not None for t in texts), npool), flush=True)
        o.count = -(-o.count // shards)

        def judged(m):
            users = (lines if m[0] in lines else device)[m[0]].get(m[1], [])
            return judge(tree, kernels, texts, m, in_turn(kernels, users, "%s %d" % (os.path.relpath(m[0], ROOT), m[1])))

        all_ = Draw(o, tree, state, judged)
        whole = all_.run(drawn[shard::shards])
    print(", ".join("%d %s" % (n, v) for v, n in sorted(all_.count.items())))
    if not whole:
        print("stopped after %g s; the same command goes on" % o.seconds)
    caught, known, bad = (all_.count.get(v, 0) for v in ("caught", "known", "SURVIVED"))
    share = 100.0 * caught / max(caught + bad, 1)
    print("%.1f %% of those that change what a text does are caught; the bar is %g %%" % (share, o.bar))
    below = share < o.bar or not whole
    print("%d passed, %d failed" % (caught + known + (0 if below else bad), bad if below else 0))
    return below


if __name__ == "__main__":
    sys.exit(main())
