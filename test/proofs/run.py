"""run.py TL -- `tl prove`: what it says of kernels is true.

Kernels of test/kernel and random ones are looked at for two targets: nothing breaks, nothing is called wrong (they are all
right in the simulator), and wherever values are shown that need a guard, the guard is false for them.  index.py draws
kernels that are mostly wrong.  That pairs of accesses are called ordered only where a barrier stands, test/mutate looks at: it takes
barriers away."""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test/random"))
import gen
import index

SEEDS = [*range(1, 26), *range(100001, 100016)]
TARGETS = ("cpu", "cuda -arch=sm_90a")
NEEDED = re.compile(r"guarded by (.*), which is needed: (.*)$")
COUNT = re.compile(r"(\d+) (proved|clipped|guarded|assumed|wrong)")
LOADED = '''import tilelang
import tilelang.language as T


@tilelang.jit
def pick(N=200):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), At: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 128), threads=128) as bx:
            s = T.alloc_shared((128,), "float32")
            tx = T.get_thread_binding()
            s[tx] = X[bx * 128 + tx]
            T.sync_threads()
            Y[bx * 128 + tx] = s[At[bx * 128 + tx]]
            for i in T.serial(At[tx]):
                Y[bx * 128 + tx] += 1

    return main
'''
VOTED = '''import tilelang
import tilelang.language as T


@tilelang.jit
def vote(N=256):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(N // 128, threads=128) as bx:
            s = T.alloc_shared((128,), "int32")
            tx = T.get_thread_binding()
            s[tx] = X[bx * 128 + tx]
            some = T.any_sync(X[bx * 128 + tx] > 0)
            Y[bx * 128 + tx] = s[tx] + some

    return main
'''
OUTSIDE = '''import tilelang
import tilelang.language as T


@tilelang.jit
def outside(N=128):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((128,), "int32")
            tx = T.get_thread_binding()
            s[tx] = X[tx]
            T.sync_threads()
            if X[0] > 5:
                Y[tx] = s[tx + 1]
            while X[1] > 5:
                Y[tx] = s[tx + 1]
            n = X[2]
            if tx < n:
                Y[tx] = s[tx + 1]
            Y[tx] = s[tx + 1] if X[3] > 5 else 0
            if tx * tx > 100:
                Y[tx] = s[(tx * 5) % 131]

    return main
'''
SOLVED = '''import tilelang
import tilelang.language as T


@tilelang.jit
def solved():
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n,), "int32"), Y: T.Tensor((128,), "int32"), at: T.int32):
        with T.Kernel(1, threads=128) as bx:
            s = T.alloc_shared((128,), "int32")
            tx = T.get_thread_binding()
            s[tx] = X[tx]
            T.sync_threads()
            if (tx * 37) % 128 == 77:
                Y[tx] = s[(tx * 7 + 3) % 129]
            if at > 3000 and at % 37 == 5 and tx == 11:
                Y[tx] = s[(at * 7 + tx) % 1021 - 800]
            if (tx * 37) % 128 == 78:
                Y[(tx * 7 + 102) % 129] = 1

    return main
'''
NEVER = '''import tilelang
import tilelang.language as T


@tilelang.jit
def never():
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n,), "int32"), Y: T.Tensor((64,), "int32"), at: T.int32):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((64,), "int32")
            s[T.get_thread_binding()] = X[0]
            T.sync_threads()
            if at < 0:
                Y[at] = s[(n + n) // -5]

    return main
'''
# What each line must say; a loop of each kind, guards that cost something and nothing, pairs of all kinds.
LOOPS = '''import tilelang
import tilelang.language as T


@tilelang.jit
def loops(N=1000):
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), At: T.Tensor((N,), "int32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(8, threads=128) as bx:
            tx = T.get_thread_binding()
            s = T.alloc_shared((128,), "float32")
            u = T.alloc_shared((128,), "float32")
            s[tx] = 1.0
            u[tx] = 2.0
            for i in T.serial(4):
                u[tx] = u[tx] + s[127 - tx]
            for i in T.serial(n):
                for j in T.serial(i):
                    u[tx] = u[tx] + 1.0
            for i in T.serial(tx // 32 + n):
                u[tx] = u[tx] + 1.0
            for i in T.serial(tx // 16):
                u[tx] = u[tx] + 1.0
            for i in T.serial(At[bx]):
                u[tx] = u[tx] + 1.0
            any_set = T.any_sync(At[tx] > 0)
            for i in T.serial(any_set):
                u[tx] = u[tx] + 1.0
            for i in T.serial(9):
                u[tx] = u[tx] + 1.0
                if At[tx] > i:
                    break
            while u[0] < 3.0:
                u[tx] = u[tx] + 1.0
            if tx < 64:
                for i in T.serial(5):
                    u[tx] = u[tx] + 1.0
            Y[bx * 128 + tx] = u[tx] + X[tx]

    return main
'''
LOOP_LINES = {17: "'i' is block-uniform: all threads of the block take it 4 times", 19: "'i' is block-uniform: its count, n,", 20: "'j' is block-uniform: its count, i,",
              22: "'i' is warp-uniform: its count,", 24: "'i' is varying: its count, tx // 16: 'tx' is the thread's index",
              26: "'i' is block-uniform: its count, At[bx],", 29: "'i' is warp-uniform:", 31: "'i' is varying: the condition that ends it",
              35: "the loop is block-uniform: its condition", 38: "'i' is block-uniform: threads 0 to 63, which come by take it 5 times"}
COSTS = '''import tilelang
import tilelang.language as T


@tilelang.jit
def costs(M=1000, N=1000, pad=0):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), Y: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            s = T.alloc_shared((64, 64), "float16")
            T.copy(X[by * 64, bx * 64 + pad], s)
            T.copy(s, Y[by * 64, bx * 64])

    return main
'''
passed = failed = 0


def check(what, good, *seen):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {what}:", *(str(s)[:400] for s in seen))


def prove(tl, *words):
    p = subprocess.run([tl, "prove", "-q", *words], capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


def runs():
    """The first run that each file of test/kernel asks for, if it is one that must be right."""
    for path in sorted(glob.glob(os.path.join(ROOT, "test/kernel/*.py"))):
        with open(path, encoding="utf-8") as f:
            m = re.search(r"^# verify:(.*)$", f.read(), re.M)
        words = m.group(1).split() if m else []
        if words and not any(w.startswith(("-", "[", "@")) for w in words):
            func = words.pop(0) if words[0].startswith(":") else ""
            yield path + func, words


def drawn(folder):
    for seed in SEEDS:
        path, text = os.path.join(folder, f"random_{seed}.py"), gen.kernel(seed)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        yield path, gen.knobs(text)


def kernels(tl, folder):
    total, looked = {}, 0
    for path, words in [*runs(), *drawn(folder)]:
        for target in TARGETS:
            code, out, err = prove(tl, path, *words, "--target", target)
            name = f"{os.path.basename(path)} {' '.join(words)} for {target}"
            if code == 1 and " error: " in err:  # refused: not for this target, or meant to be
                continue
            looked += 1
            check(name, code == 0 and out.startswith("kernel ") and ": wrong" not in out, code, out[:200], err)
            for line in out.splitlines():
                for n, word in COUNT.findall(line) if line.startswith("kernel ") else ():
                    total[word] = total.get(word, 0) + int(n)
                if m := NEEDED.search(line):
                    values = {k: int(v) for k, v in (x.split("=") for x in m.group(2).split(", "))}
                    if re.fullmatch(r"[\w\s()<>=+*/%,-]*", m.group(1)) and "select" not in m.group(1):
                        check(f"{name}: {line.strip()}", not eval(m.group(1), {"min": min, "max": max}, values), values)
    check("enough was looked at", looked > 100 and total.get("proved", 0) > 500, looked, total)
    print(f"{looked} kernels:", ", ".join(f"{n} {word}" for word, n in sorted(total.items())))


def solved(tl, folder):
    """What z3 adds: proofs, and values that nobody guesses; without it the same lines say less, and nothing else."""
    path = os.path.join(folder, "solved.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SOLVED)
    words = [path, "--target", "cuda -arch=sm_80"]
    code, out, err = prove(tl, *words)
    if not os.environ.get("TILELANG_Z3") and "by z3" not in out:
        print("libz3 is not here: what it adds is not looked at")
        return
    check("proved by z3", "line 17: 's' is read: proved, by z3" in out, out, err)
    check("a guard that always holds", re.search(r"line 21: 'Y' is written: guarded by .*, which always holds, by z3", out), out)
    m = re.search(r"line 19: 's' is read: assumed, .*outside where .*; see: tl (run .*)$", out, re.M)
    check("values by z3", m, out)
    if m:
        seen = subprocess.run([tl, *shlex.split(m.group(1))], capture_output=True, text=True)
        check("its command shows it", "solved.py:19" in seen.stderr and "out-of-bounds" in seen.stderr, m.group(1), seen.stderr)
    env = dict(os.environ, TILELANG_Z3="/nowhere")
    less = subprocess.run([tl, "prove", "-q", *words], capture_output=True, text=True, env=env)
    check("without z3", less.returncode == 0 and "z3" not in less.stdout and "line 17: 's' is read: assumed" in less.stdout, less)
    texts = [subprocess.run([tl, "build", "-q", "--source", *words], capture_output=True, text=True, env=e).stdout
             for e in (os.environ, env)]
    check("what is emitted is the same", texts[0] == texts[1] and texts[0], texts[0][:200], texts[1][:200])


def loops(tl, folder):
    path = os.path.join(folder, "loops.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(LOOPS)
    code, out, err = prove(tl, path, "--target", "cuda -arch=sm_80")
    for line, text in LOOP_LINES.items():
        want = f"line {line}: the loop {'over ' if text[0] == chr(39) else ''}" + (text[9:] if text.startswith("the loop ") else text)
        check(f"a loop: {text}", want in out, want, "\n".join(x for x in out.splitlines() if f"line {line}:" in x), err)
    check("what orders a read of another's element", "line 18: 's' is read after line 15 wrote it: ordered by sync_threads at line" in out, out)
    check("an element of its own", "line 18: 'u' is written after this line wrote it: no thread meets" in out, out)
    check("counts of loops", "10 loops, 6 block-uniform, 2 warp-uniform, 2 varying" in out, out.splitlines()[0])


def costs(tl, folder):
    """How often a guard is evaluated, and what it takes of the width."""
    path = os.path.join(folder, "costs.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(COSTS)
    said = {}
    for name, words in {"even": ["N=1000"], "odd": ["N=1001"], "shifted": ["N=1000", "pad=1"], "inside": ["M=640", "N=640"]}.items():
        code, out, err = prove(tl, path, *words, "--target", "cuda -arch=sm_80", "-c", "tl.disable_tma_lower=1")
        said[name] = [x for x in out.splitlines() if "the guard of 'X'" in x]
        check(f"costs, {name}", code == 0 and len(said[name]) == (name != "inside"), out, err)
    count = {k: re.search(r"evaluates it (\d+) times", v[0]) for k, v in said.items() if v}
    check("evaluations of 64 x 64 halves by 128 threads, 8 at a time", count["even"] and int(count["even"].group(1)) in (4, 5) and "16 bytes at a time, as without it" in said["even"][0], said)
    check("one at a time", count["odd"] and int(count["odd"].group(1)) in (32, 33) and "2 bytes at a time" in said["odd"][0], said)
    check("as wide as its place allows", count["shifted"] and int(count["shifted"].group(1)) in (32, 33), said)


def words_of(tl):
    with tempfile.TemporaryDirectory() as folder:
        path, page = os.path.join(folder, "pick.py"), os.path.join(folder, "p.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(LOADED)
        code, out, _ = prove(tl, path, "--target", "cuda -arch=sm_80", "--html", page)
        check("an index out of memory is assumed", code == 0 and "'s' is read: assumed" in out, out)
        check("a guard that is needed", re.search(r"'X' is read: guarded by .* which is needed: bx=1, tx=127", out), out)
        check("what orders a shared tile", "'s' is read after line 12 wrote it: ordered by sync_threads" in out, out)
        check("a loop that is not uniform", "line 15: the loop over 'i' is varying: its count, At[tx]: each thread reads another element of 'At'" in out, out)
        voted = os.path.join(folder, "vote.py")
        with open(voted, "w", encoding="utf-8") as f:
            f.write(VOTED)
        code, said, err = prove(tl, voted, "--target", "cuda -arch=sm_80")
        check("a vote is no barrier", "'s' is read after line 12 wrote it: no thread meets" in said, said, err)
        out_path = os.path.join(folder, "outside.py")
        with open(out_path, "w", encoding="utf-8") as f:
            f.write(OUTSIDE)
        code, said, err = prove(tl, out_path, "--target", "cuda -arch=sm_80")
        wrong = re.findall(r"line (\d+): .*: wrong, outside where (.*)", said)
        check("wrong where nothing in memory decides", code == 1 and [w[0] for w in wrong] == ["23"], code, said, err)
        maybe = re.findall(r"line (\d+): 's' is read: assumed", said)
        check("assumed where memory decides", maybe == ["15", "17", "20", "21"], said)
        never = os.path.join(folder, "never.py")
        with open(never, "w", encoding="utf-8") as f:
            f.write(NEVER)
        code, said, err = prove(tl, never, "--target", "cuda -arch=sm_80")
        check("what no thread reaches behind its guard", code == 0 and "line 16: 's' is read: proved" in said, code, said, err)
        seen = subprocess.run([tl, "verify", out_path, "--sim", "-q", "--target", "cuda -arch=sm_80"], capture_output=True, text=True)
        check("the simulator finds it too", "outside.py:23" in seen.stderr and "out-of-bounds" in seen.stderr, seen.stderr)
        solved(tl, folder)
        loops(tl, folder)
        costs(tl, folder)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        check("a page", text.count("<pre>") == LOADED.count("\n") and 'class="assumed"' in text)
        code, _, err = prove(tl, os.path.join(folder, "none.py"))
        check("no file", code == 1 and "none.py" in err, code, err)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    words_of(program)
    with tempfile.TemporaryDirectory() as place:
        kernels(program, place)
    check("random indices (test/proofs/index.py)", index.main([program, "--count", "150"]) == 0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
