"""index.py TL [--count N] [--from SEED] [--target T] -- small kernels with one access by a random index.

What `tl prove` calls proved never leaves its tile in the simulator, whatever the call gives; and values that it shows for
an access that is wrong, or up to the call, leave it there, at that line.  With and without z3."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

TARGETS = ("cuda -arch=sm_80", "cuda -arch=sm_90a")
HEAD = '''import tilelang
import tilelang.language as T


@tilelang.jit
def kernel():
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n,), "int32"), Y: T.Tensor((%(out)d,), "int32"), at: T.int32):
        with T.Kernel(%(grid)s, threads=%(threads)d) as bx:
            s = T.alloc_shared((%(tile)d,), "int32")
            tx = T.get_thread_binding()
            for z in T.serial(T.ceildiv(%(tile)d, %(threads)d)):
                if z * %(threads)d + tx < %(tile)d:
                    s[z * %(threads)d + tx] = z
            T.sync_threads()
'''
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
SHOWN = re.compile(r"line (\d+): 's' is (?:read|written): (wrong|assumed), (?:and up to the call and its data: )?outside where "
                   r"(.*?)(?:; see: (tl run .*))?$", re.M)
FAULT = re.compile(r"(?::(\d+):\d+: |^)error: .*\[out-of-bounds\]", re.M)


class Draw:
    """The text of one kernel; `line` is the one with the access."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.threads, self.tile = r.choice((32, 64)), r.choice((16, 31, 64, 100, 129))
        self.names = ["tx", "bx", "n", "at", "tx", "at"]
        grid = r.choice(("1", "2", "3", "T.ceildiv(n, 16)"))
        self.lines = (HEAD % dict(grid=grid, threads=self.threads, tile=self.tile, out=r.choice((40, 64, 200)))).splitlines()
        depth = 3
        for _ in range(r.randrange(4)):
            depth += self.around(depth)
        index, other = self.expr(r.randrange(1, 4)), self.expr(2)
        if r.random() < 0.5:
            index = r.choice(("(%s) %% %d", "min(max(%s, 0), %d)", "(%s) // %d", "(%s) & %d")) % (
                index, r.choice((self.tile, self.tile - 1, self.tile + 1, 7)))
        self.put(depth, "Y[%s] = s[%s]" % (other, index) if r.random() < 0.7 else "s[%s] = %s" % (index, other))
        self.line = len(self.lines)
        self.text = "\n".join(self.lines) + "\n\n    return main\n"

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def expr(self, depth):
        r = self.r
        if depth == 0 or r.random() < 0.15:
            return str(r.choice((0, 1, 2, 3, 5, 8, 16, 37, 64, 100))) if r.random() < 0.3 else r.choice(self.names)
        a = self.expr(depth - 1)
        how = r.randrange(9)
        if how < 4:
            return "(%s %s %s)" % (a, r.choice("+-+*"), self.expr(depth - 1))
        if how < 6:
            return "(%s %s %d)" % (a, r.choice(("//", "%")), r.choice((2, 3, 4, 7, 16, 32, 100, -5)))
        if how == 6:
            return "%s(%s, %s)" % (r.choice(("min", "max")), a, self.expr(depth - 1))
        if how == 7:
            return "T.if_then_else(%s, %s, %s)" % (self.cond(), a, self.expr(depth - 1))
        return "X[%s]" % r.choice(("tx", "bx", "tx + bx")) if r.random() < 0.4 else a

    def cond(self):
        r = self.r
        one = "%s %s %s" % (self.expr(1), r.choice(COMPARE), self.expr(1))
        return one if r.random() < 0.7 else "(%s) %s (%s %s %s)" % (one, r.choice(("and", "or")), self.expr(1), r.choice(COMPARE),
                                                                    self.expr(0))

    def around(self, depth):
        """A loop, a condition or a name; how much deeper what follows stands."""
        r, how = self.r, self.r.randrange(5)
        if how < 2:
            self.put(depth, "if %s:" % self.cond())
            return 1
        if how < 4:
            name = "ijk"[len([x for x in self.names if x in "ijk"]) % 3]
            self.put(depth, "for %s in T.serial(%s):" % (name, r.choice(("3", "5", "min(n, 4)", "tx % 4", "min(max(at, 0), 6)"))))
            self.names += [name] * 2
            return 1
        name = "uvw"[len([x for x in self.names if x in "uvw"]) % 3]
        self.put(depth, "%s = %s" % (name, self.expr(2)))
        self.names += [name] * 2
        return 0


class Run:
    def __init__(self, tl, folder, target):
        self.tl, self.target = tl, target
        self.folder, self.file = folder, os.path.join(folder, "kernel.py")
        self.count = dict(kernels=0, refused=0, proved=0, by_z3=0, assumed=0, wrong=0, shown=0, raced=0, faults=0)
        self.failed = []

    def ask(self, words, z3=True):
        env = dict(os.environ) if z3 else dict(os.environ, TILELANG_Z3="/nowhere")
        p = subprocess.run([self.tl, *words], capture_output=True, text=True, timeout=300, env=env)
        return p.returncode, p.stdout, p.stderr

    def fault(self, words, line):
        """The line where the simulator finds an access outside, or None; and what it said.  What was moved has none."""
        code, out, err = self.ask(["run", self.file, "-q", "--sim", "--target", self.target, *words])
        m = FAULT.search(err)
        return int(m.group(1) or line) if m else None, err or "code %d" % code

    def fail(self, seed, what, *seen):
        self.failed.append(seed)
        print("FAIL seed %d for %s: %s" % (seed, self.target, what), *(str(x)[:600] for x in seen), sep="\n  ", flush=True)

    def given(self, point, command):
        """Words of `tl run` for values that were shown; a tensor's element is put into a file."""
        known = dict(x.split("=") for x in re.sub(r"\[[^]]*\]", lambda m: m.group(0).replace(", ", "_"), point).split(", "))
        words = {k: v for k, v in known.items() if k in ("n", "at")}
        if command:
            words.update(w.split("=") for w in command.split() if w.startswith(("n=", "at=")))
        words.setdefault("n", "8")
        words.setdefault("at", "1")
        out = ["%s=%s" % kv for kv in words.items()]
        held = {int(k[2:-1]): int(v) for k, v in known.items() if k.startswith("X[")}
        if held:
            import numpy as np

            x = np.zeros(int(words["n"]), "int32")
            for i, v in held.items():
                x[i] = v
            np.save(os.path.join(self.folder, "x.npy"), x)
            out += ["--in", "X=" + os.path.join(self.folder, "x.npy")]
        return out

    def one(self, seed):
        draw = Draw(seed)
        with open(self.file, "w") as f:
            f.write(draw.text)
        code, out, err = self.ask(["prove", "-q", self.file, "--target", self.target], z3=seed % 4 != 0)
        self.count["kernels"] += 1
        if code not in (0, 1) or code == 1 and ": wrong" not in out:
            if " error: " in err and "[internal" not in err and code == 1:
                self.count["refused"] += 1
            else:
                self.fail(seed, "tl prove ends with %d" % code, err)
            return
        proved = re.search(r"line %d: 's' is \w+: proved" % draw.line, out)
        self.count["proved"] += bool(proved)
        self.count["by_z3"] += "proved, by z3" in out
        r = random.Random(seed)
        for _ in range(2):
            words = ["n=%d" % r.choice((1, 5, 16, 40, 100)), "at=%d" % r.choice((-3, 0, 1, 7, 30, 63, 64, 1000)), "-s", str(seed)]
            at, said = self.fault(words, draw.line)
            self.count["faults"] += at is not None
            if at is not None and (at != draw.line or proved):
                self.fail(seed, "an access called proved is outside: %s" % words, out, said)
        for line, known, point, command in SHOWN.findall(out):
            self.count[known] += 1
            if "if what is in memory" in point:
                continue
            self.count["shown"] += 1
            at, said = self.fault(self.given(point, command), draw.line)
            if "[data-race]" in said:  # that was found first
                self.count["raced"] += 1
            elif at != draw.line or int(line) != at:
                self.fail(seed, "values that were shown are not outside: %s" % point, out, said)


def main(words):
    p = argparse.ArgumentParser()
    p.add_argument("tl")
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--from", dest="first", type=int, default=1)
    p.add_argument("--target", default=None)
    p.add_argument("--show", action="store_true", help="print the kernels")
    o = p.parse_args(words)
    total, failed = {}, []
    with tempfile.TemporaryDirectory() as folder:
        runs = [Run(os.path.abspath(o.tl), folder, t) for t in ([o.target] if o.target else TARGETS)]
        for seed in range(o.first, o.first + o.count):
            if o.show:
                print(Draw(seed).text)
            runs[seed % len(runs)].one(seed)
        for run in runs:
            failed += run.failed
            for k, n in run.count.items():
                total[k] = total.get(k, 0) + n
    print("; ".join("%s %d" % (k, n) for k, n in total.items()))
    print("%d passed, %d failed" % (o.count - len(set(failed)), len(set(failed))))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
