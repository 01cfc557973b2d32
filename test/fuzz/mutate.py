"""Break working kernels a little and see that the compiler takes it well.

Usage: mutate.py TL [--seed N] [--count N] [--from N] [--keep DIR] [--limit SECONDS] [--target T]

Each mutant is a program of examples/, test/kernel/ or test/error/ with one to four slips: a token or a line
left out, doubled or swapped, a number or a name changed, a piece of another kernel pasted in.
`TL build MUTANT --source` must end in time, with 0 and some text or with 1 and a message that has
a tag; anything else (a signal, a sanitizer's report, 70) is a finding, and the mutant is kept.
Mutant number N of a seed is always the same text.  Exits 1 if there were findings.
"""
import argparse
import concurrent.futures
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TOKEN = re.compile(r"[ \t]+|\n|#[^\n]*|\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z_]\w*|\d[\w.]*|[<>=!*/+-]=|"
                   r"\*\*|//|<<|>>|.", re.S)
NUMBERS = ["0", "1", "-1", "2", "3", "7", "17", "63", "64.0", "1024", "100000", "2147483647",
           "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "1e300",
           "0.5", "-0.0", "None", "True", "\"64\"", "(1, 2)", "[]"]
WORDS = ["float32", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool", "float8_e4m3fn",
         "float4_e2m1fn", "float64", "handle", "shared", "fragment", ""]


def cases():
    """(path, function, arguments) of every kernel the tests know."""
    found = []
    with open(os.path.join(ROOT, "test/replay/examples.txt")) as f:
        lines = [x.split() for x in f if x.strip() and not x.startswith("#")]
    for words in lines:
        path, _, func = words[0].partition(":")
        found.append((path, func, words[1:]))
    for path in sorted(glob.glob(os.path.join(ROOT, "test/kernel/*.py"))):
        with open(path) as f:
            for line in f:
                if line.startswith("# verify:"):
                    words = [w for w in line[9:].split() if not w.startswith("--")]
                    func = words.pop(0)[1:] if words and words[0].startswith(":") else ""
                    found.append((os.path.relpath(path, ROOT), func, words))
    for path in sorted(glob.glob(os.path.join(ROOT, "test/error/*/*.py"))):
        with open(path) as f:
            given = re.search(r"^# given:(.*)$", f.read(), re.M)
        found.append((os.path.relpath(path, ROOT), "", given.group(1).split() if given else []))
    return found


class Mutant:
    def __init__(self, rng, texts, text):
        self.rng, self.texts = rng, texts
        self.tokens = TOKEN.findall(text)

    def pick(self, want=lambda t: t.strip() and not t.startswith("#")):
        at = [i for i, t in enumerate(self.tokens) if want(t)]
        return self.rng.choice(at) if at else 0

    def is_number(self, t):
        return t[0].isdigit()

    def is_name(self, t):
        return t[0].isalpha() or t[0] == "_"

    def lines(self):
        return "".join(self.tokens).split("\n")

    def set_lines(self, lines):
        self.tokens = TOKEN.findall("\n".join(lines))

    def drop_token(self):
        del self.tokens[self.pick()]

    def double_token(self):
        i = self.pick()
        self.tokens.insert(i, self.tokens[i])

    def swap_tokens(self):
        i, j = self.pick(), self.pick()
        self.tokens[i], self.tokens[j] = self.tokens[j], self.tokens[i]

    def change_number(self):
        i = self.pick(self.is_number)
        self.tokens[i] = self.rng.choice(NUMBERS)

    def shift_number(self):
        i = self.pick(self.is_number)
        if self.tokens[i].isdigit():
            self.tokens[i] = str(int(self.tokens[i]) + self.rng.choice([-1, 1, 2, -2]))

    def number_for_name(self):
        self.tokens[self.pick(self.is_name)] = self.rng.choice(NUMBERS)

    def rename(self):
        i, j = self.pick(self.is_name), self.pick(self.is_name)
        self.tokens[i] = self.tokens[j]

    def rename_everywhere(self):
        a, b = self.tokens[self.pick(self.is_name)], self.tokens[self.pick(self.is_name)]
        self.tokens = [b if t == a else t for t in self.tokens]

    def misspell(self):
        i = self.pick(self.is_name)
        t = self.tokens[i]
        k = self.rng.randrange(len(t))
        self.tokens[i] = t[:k] + self.rng.choice("aeixyz_9") + t[k + 1:]

    def change_text(self):
        i = self.pick(lambda t: t[0] in "\"'")
        if self.tokens[i][0] in "\"'":
            self.tokens[i] = '"' + self.rng.choice(WORDS) + '"'

    def change_operator(self):
        ops = ["+", "-", "*", "//", "%", "<", ">=", "==", "/", "**", "&", "<<", ">>", "and", "or", ","]
        i = self.pick(lambda t: t in ops)
        self.tokens[i] = self.rng.choice(ops)

    def insert_operator(self):
        i = self.pick()
        self.tokens.insert(i, self.rng.choice(["(", ")", "[", "]", ":", ",", "-", "~", "not ", "*", "=",
                                               ".", "lambda: ", "\n", "    ", "@", "'", "if "]))

    def drop_line(self):
        lines = self.lines()
        del lines[self.rng.randrange(len(lines))]
        self.set_lines(lines)

    def double_line(self):
        lines = self.lines()
        i = self.rng.randrange(len(lines))
        lines.insert(self.rng.randrange(len(lines)), lines[i])
        self.set_lines(lines)

    def swap_lines(self):
        lines = self.lines()
        i, j = self.rng.randrange(len(lines)), self.rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        self.set_lines(lines)

    def shift_line(self):
        lines = self.lines()
        i = self.rng.randrange(len(lines))
        lines[i] = "    " + lines[i] if self.rng.random() < 0.5 else lines[i][4:]
        self.set_lines(lines)

    def paste_line(self):
        lines = self.lines()
        other = self.rng.choice(self.texts).split("\n")
        lines.insert(self.rng.randrange(len(lines)), self.rng.choice(other))
        self.set_lines(lines)

    def cut_end(self):
        lines = self.lines()
        self.set_lines(lines[: self.rng.randrange(len(lines)) + 1])


SLIPS = [Mutant.drop_token, Mutant.double_token, Mutant.swap_tokens, Mutant.change_number,
         Mutant.change_number, Mutant.shift_number, Mutant.shift_number, Mutant.number_for_name,
         Mutant.rename, Mutant.rename, Mutant.rename_everywhere, Mutant.misspell,
         Mutant.change_text, Mutant.change_text, Mutant.change_operator, Mutant.insert_operator,
         Mutant.drop_line, Mutant.drop_line, Mutant.double_line, Mutant.swap_lines,
         Mutant.shift_line, Mutant.paste_line, Mutant.cut_end]


def mutant(seed, number, kernels, texts):
    rng = random.Random(seed * 1000003 + number)
    path, func, args = rng.choice(kernels)
    m = Mutant(rng, list(texts.values()), texts[path])
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4])):
        if any(t.strip() for t in m.tokens):
            rng.choice(SLIPS)(m)
    return "".join(m.tokens), func, args


def judge(status, out, err):
    if "Sanitizer" in err or "runtime error:" in err:
        return "a sanitizer's report"
    if status == 0 and not out.strip():
        return "0 and no text"
    if status == 1 and not re.search(r"error: .*\[[a-z0-9-]+\]", err):
        return "1 and no message with a tag"
    return None if status in (0, 1) else "exit %d" % status


def try_one(options, number, kernels, texts, folder):
    text, func, args = mutant(options.seed, number, kernels, texts)
    path = os.path.join(folder, "mutant_%d_%d.py" % (options.seed, number))
    with open(path, "w") as f:
        f.write(text)
    command = [options.tl, "build", path + (":" + func if func else ""), *args, "--source",
               "--no-cache"] + (["--target", options.target] if options.target else [])
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1")
    try:
        p = subprocess.run(command, capture_output=True, timeout=options.limit, env=env,
                           stdin=subprocess.DEVNULL)
        why = judge(p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace"))
        status = p.returncode
    except subprocess.TimeoutExpired:
        why, status = "over %g seconds" % options.limit, -1
    if not why:
        os.remove(path)
        return status, None
    kept = os.path.join(options.keep, os.path.basename(path))
    os.replace(path, kept)
    return status, "%s: %s\n    %s" % (kept, why, " ".join([command[0], "build", kept, *command[3:]]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("tl")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--from", type=int, default=0, dest="first")
    p.add_argument("--keep", default=tempfile.gettempdir())
    p.add_argument("--limit", type=float, default=5)
    p.add_argument("--target")
    options = p.parse_args()
    options.tl = os.path.abspath(options.tl)
    os.makedirs(options.keep, exist_ok=True)
    kernels, texts = cases(), {}
    for path, _, _ in kernels:
        with open(os.path.join(ROOT, path)) as f:
            texts[path] = f.read()
    count, found = {0: 0, 1: 0}, 0
    with tempfile.TemporaryDirectory(dir=options.keep) as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        numbers = range(options.first, options.first + options.count)
        for status, why in pool.map(lambda n: try_one(options, n, kernels, texts, folder), numbers):
            count[status] = count.get(status, 0) + 1
            if why:
                found += 1
                print(why, flush=True)
    print("%d mutants: %d compiled, %d refused, %d findings"
          % (options.count, count[0], count[1], found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
