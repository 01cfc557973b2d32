"""make bench-original: kernels of the original's examples, under its wheel and under this package.

    python3 bench/original/run.py --wheel PATHS --examples DIR [--list FILE] [--only TEXT] [--out DIR]

PATHS: the original's wheel, or the folder it is unpacked in, and what else it needs, separated by colons.
FILE: a script a line, relative to DIR; without it every script of DIR that runs by itself.
Scripts are prepared side by side and timed one after the other, both packages in turn, on a quiet GPU.
Writes original.csv, original.html and both sides' answers as JSON lines into the folder of --out.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import report

HERE = os.path.dirname(os.path.abspath(__file__))


def scripts_of(folder, listed, only):
    if listed:
        names = [line.strip() for line in open(listed) if line.strip()]
    else:
        names = []
        for top, _, files in os.walk(folder):
            for f in sorted(files):
                path = os.path.join(top, f)
                if f.endswith(".py") and not f.startswith("test_") and "__main__" in open(path, errors="replace").read():
                    names.append(os.path.relpath(path, folder))
        names.sort()
    return [n for n in names if not only or only in n]


def package_path(wheel, work):
    """The folders of --wheel; wheels are unpacked."""
    got = []
    for i, path in enumerate(wheel.split(":")):
        if not os.path.exists(path):
            sys.exit("bench-original: no such file or folder: %s" % path)
        if path.endswith(".whl"):
            folder = os.path.join(work, "wheel%d" % i)
            zipfile.ZipFile(path).extractall(folder)
            path = folder
        got.append(os.path.abspath(path))
    return os.pathsep.join(got)


def is_full(said):
    """Had the others taken the GPU's memory?"""
    return "out of memory" in said or "STATUS_ALLOC_FAILED" in said


class Job:
    def __init__(self, side, script, work, path, limit):
        self.side, self.script, self.begun, self.limit = side, script, time.time(), limit
        self.out = os.path.join(work, "%s-%s.json" % (script.replace("/", "_"), side))
        for old in (self.out, self.out + ".ready", self.out + ".go"):
            if os.path.exists(old):
                os.remove(old)
        env = dict(os.environ, PYTHONPATH=path, TILELANG_CACHE_DIR=os.path.join(work, "cache-" + side),
                   TILELANG_PRINT_ON_COMPILATION="0")
        self.log = open(self.out + ".log", "w+")
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "one.py"),
                                         os.path.join(work, "examples", script), self.out],
                                        env=env, stdout=self.log, stderr=self.log)

    def is_ready(self):
        done = self.process.poll() is not None or os.path.exists(self.out + ".ready")
        if not done and time.time() - self.begun > self.limit:
            self.process.kill()
        return done

    def finish(self):
        """Let it time its kernels, alone."""
        open(self.out + ".go", "w").close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if os.path.exists(self.out):
            return dict(json.load(open(self.out)), script=self.script)
        self.log.seek(0)
        said = self.log.read()
        full = "out of memory: " if is_full(said) else ""
        return {"script": self.script, "code": 124, "error": full + said[-400:], "kernels": [],
                "compiles": [], "wall": 0}


def measure(scripts, work, paths, limit):
    jobs = [Job(side, s, work, path, limit) for s in scripts for side, path in paths]
    while not all([j.is_ready() for j in jobs]):
        time.sleep(0.05)
    return [(j.side, j.finish()) for j in jobs]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--wheel", required=True, help="the original's wheel or its folder; more with colons")
    p.add_argument("--examples", required=True, help="the folder of its examples")
    p.add_argument("--list", help="scripts to run, one a line; all of them if not given")
    p.add_argument("--only", help="scripts whose path holds this")
    p.add_argument("--package", default=os.path.join(HERE, "../../build/py"), help="this package")
    p.add_argument("--out", default="build/original", help="where the reports go")
    p.add_argument("--batch", type=int, default=6, help="scripts prepared at a time")
    p.add_argument("--limit", type=float, default=120, help="seconds that a script may take")
    p.add_argument("--deadline", type=float, default=3600, help="seconds after which no batch is begun")
    o = p.parse_args()
    work, begun = tempfile.mkdtemp(prefix="bench-original-"), time.time()
    scripts = scripts_of(o.examples, o.list, o.only)
    if not scripts:
        sys.exit("bench-original: no script in %s" % (o.list or o.examples))
    shutil.copytree(o.examples, os.path.join(work, "examples"))
    paths = [("ours", os.path.abspath(o.package)), ("theirs", package_path(o.wheel, work))]
    got, left = {"ours": [], "theirs": []}, list(scripts)
    while left and time.time() - begun < o.deadline:
        batch, left = left[:o.batch], left[o.batch:]
        for side, answer in measure(batch, work, paths, o.limit):
            if answer["code"] and is_full(answer["error"]):
                answer = dict(measure([answer["script"]], work, [x for x in paths if x[0] == side], o.limit))[side]
            got[side].append(answer)
        print("\r%d of %d scripts, %d s" % (len(scripts) - len(left), len(scripts), time.time() - begun),
              end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    os.makedirs(o.out, exist_ok=True)
    for side, rows in got.items():
        with open(os.path.join(o.out, "original-%s.jsonl" % side), "w") as f:
            f.writelines(json.dumps(r) + "\n" for r in rows)
    report.write(got["ours"], got["theirs"], o.out, len(left))
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
