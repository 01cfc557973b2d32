"""original.py TL FOLDER [--target T] [--jobs N] -- what `tl prove` says of the kernels of a folder of scripts.

Every function that makes a kernel is looked at, sizes guessed by their names where the file gives none, several guesses one
after the other.  Prints the accesses of each kernel and the sums; kernels that no guess compiles are counted apart."""
import argparse
import ast
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

COUNT = re.compile(r"(\d+) (proved|clipped|guarded|assumed|wrong)")
WORDS = ("accesses", "proved", "clipped", "guarded", "assumed", "wrong")
# By parts of a name, in this order: values one after the other.
GUESS = (
    ("accum", "float32"), ("acc_d", "float32"), ("out_d", "float16 float32"), ("dtype", "float16 bfloat16 float32"),
    ("layout", "bshd"), ("format", "int nf4"), ("source", "uint"), ("target", "None"),
    ("num_bits", "4"), ("num_elems", "2"), ("thread", "128 256"), ("stage", "2 1 0"), ("causal", "True False"), ("trans", "False True"),
    ("is_", "False"), ("use_", "False"), ("has_", "False"), ("enable", "False"), ("with_", "False"), ("chunk", "64"),
    ("block", "64 128 32"), ("tile", "64"), ("bm", "64"), ("bn", "64"), ("bk", "64 32"), ("batch", "2"), ("topk", "8 64"), ("top_k", "8"),
    ("kv_head", "2 1"), ("head_kv", "2 1"), ("kvheads", "2"), ("headdim", "64"), ("head_dim", "64"), ("head", "8 16"), ("groups", "2 1"),
    ("group", "1 2 128"), ("dim", "64 128"), ("scale", "1.0"), ("eps", "1e-5"), ("stride", "1"), ("dilation", "1"), ("padding", "1"),
    ("split", "2 1"), ("seq", "256 1024"), ("window", "None 128"), ("config", "None"),
    ("hc_mult3", "24"), ("hc", "4"), ("", "256 1024 512"))


def guess(name, turn):
    low = name.lower()
    values = next(v for part, v in GUESS if part in low).split()
    return values[min(turn, len(values) - 1)]


def is_kernel(f):
    marks = [ast.unparse(d) for d in f.decorator_list if not ast.unparse(d).startswith("triton")]
    if any(m.split("(")[0].split(".")[-1] in ("jit", "lazy_jit", "prim_func") for m in marks):
        return True
    return any(isinstance(s, ast.FunctionDef) and any("prim_func" in ast.unparse(d) for d in s.decorator_list) for s in f.body)


def kernels(folder):
    for path in sorted(glob.glob(os.path.join(folder, "**/*.py"), recursive=True)):
        try:
            with open(path, encoding="utf-8") as f:
                tree = ast.parse(f.read())
        except SyntaxError:
            continue
        for f in tree.body:
            if isinstance(f, ast.FunctionDef) and is_kernel(f):
                yield path, f.name


def needed(err):
    m = re.search(r"(?:needs (?:a value|values) for|the values of T.const are not known):? ('?)(.*?)\1[;:] give", err)
    return [w.strip(" '") for w in m.group(2).split(",")] if m else []


def look(tl, target, path, name):
    """What is said of one kernel with the first values that compile, or the last message."""
    err = ""
    for turn in range(3):
        given = {}
        for _ in range(40):
            words = ["%s=%s" % kv for kv in given.items()]
            try:
                p = subprocess.run([tl, "prove", "-q", "%s:%s" % (path, name), *words, "--target", target],
                                   capture_output=True, text=True, timeout=120)
            except subprocess.TimeoutExpired:
                return given, "", "timeout"
            err = p.stderr
            if p.stdout.startswith("kernel "):
                return given, p.stdout, ""
            more = [w for w in needed(err) if w not in given]
            if not more:
                break
            given.update((w, guess(w, turn)) for w in more)
    return given, "", err.strip().split("\n")[0]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tl")
    p.add_argument("folder")
    p.add_argument("--target", default="cuda -arch=sm_90a")
    p.add_argument("--jobs", type=int, default=1)
    o = p.parse_args()
    total, files, seen, tl = dict.fromkeys(WORDS, 0), set(), 0, os.path.abspath(o.tl)
    todo = list(kernels(o.folder))
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        found = pool.map(lambda k: look(tl, o.target, *k), todo)
        for (path, name), (given, out, err) in zip(todo, found):
            where = "%s:%s" % (os.path.relpath(path, o.folder), name)
            for line in [x for x in out.splitlines() if x.startswith("kernel ")]:
                total["accesses"] += int(re.search(r": (\d+) access", line).group(1))
                for n, word in COUNT.findall(line):
                    total[word] += int(n)
            seen += bool(out)
            files |= {path} if out else set()
            print(where, " ".join("%s=%s" % kv for kv in given.items()), "\n   ", out.splitlines()[0] if out else err, flush=True)
            for line in [x for x in out.splitlines() if ": wrong" in x]:
                print("   ", line)
    print("%d of %d kernels in %d of %d files:" % (seen, len(todo), len(files), len({k[0] for k in todo})),
          ", ".join("%s %d (%.1f %%)" % (w, total[w], 100 * total[w] / max(total["accesses"], 1)) for w in WORDS))
    return total["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
