"""tune.py -- kill -9 at random points of a search: what was measured stays, and the next start goes on from there.

Usage: tune.py TL [KILLS]     PYTHONPATH names the package's folder.

After each kill the library is whole, has every row that it had before, and no point twice; processes that the search had
started are gone.  The last search is left to its end, and must have every point."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

tl = os.path.abspath(sys.argv[1])
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 12
draw = random.Random(18)
KERNEL = '''import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def scale(N=4096, block=64, threads=64, by=%d):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=threads) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * by

    return main
'''
SPACE = ["--space", "block=32,64,128", "--space", "threads=32,64"]
POINTS = 6


def start(folder, *more):
    return subprocess.Popen([tl, "tune", os.path.join(folder, "k.py"), *SPACE, "--target", "cpu", "--jobs", "2", "--library",
                             os.path.join(folder, "t.db"), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def rows(folder):
    """{(configuration, runs)}; None: the library is not whole, or has a row twice"""
    path = os.path.join(folder, "t.db")
    if not os.path.exists(path):
        return set()
    with sqlite3.connect(path) as db:
        if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            return None
        if not db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'trial'").fetchone()[0]:
            return set()
        found = db.execute("SELECT config, (SELECT count(*) FROM sample WHERE trial = trial.id) FROM trial").fetchall()
    return set(found) if len(set(found)) == len(found) else None


def points(found):
    return len({config for config, _ in found})


def left_behind(session):
    """processes of that session"""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f:
                cells = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(cells[3]) == session and cells[0] != "Z":
            found.append(int(pid))
    return found


def gone(session, seconds):
    end = time.monotonic() + seconds
    while left_behind(session):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


with tempfile.TemporaryDirectory() as root:
    bad = late = resumed = searches = 0
    folder, before, ended, seconds = None, set(), False, None
    for i in range(kills + 1):
        if folder is None or ended:
            searches += 1
            folder, before, ended = os.path.join(root, "s%d" % searches), set(), False
            os.mkdir(folder)
            os.environ["TILELANG_CACHE_DIR"] = os.path.join(folder, "cache")
            with open(os.path.join(folder, "k.py"), "w") as f:
                f.write(KERNEL % (i + 2))
        p, begun = start(folder), time.monotonic()
        try:
            p.communicate(timeout=seconds and (0.1 + draw.random()) * seconds)  # the first one tells how long it takes
            seconds, late, ended = time.monotonic() - begun, late + 1, True
            bad += p.returncode != 0
        except subprocess.TimeoutExpired:
            os.kill(p.pid, signal.SIGKILL)  # it alone: what it started has to notice
            p.communicate()
            seconds *= 1.1  # kills are drawn to the end of a search, however long that takes now
        if not gone(p.pid, 30):
            print("FAIL kill %d: %s are left behind" % (i, left_behind(p.pid)))
            bad += 1
            for pid in left_behind(p.pid):
                os.kill(pid, signal.SIGKILL)
        now = rows(folder)
        if now is None or not before <= now or (ended and points(now) != POINTS):
            print("FAIL kill %d: %s became %s" % (i, before, now))
            bad += 1
        resumed += len(before) > 0
        before = now or set()
    p = start(folder, "--json")
    said, log = p.communicate()
    end = rows(folder)
    if p.returncode or points(end or ()) != POINTS or not json.loads(said.strip().splitlines()[-1]):
        print("FAIL the last search: %s %s %s" % (p.returncode, end, log))
        bad += 1
print("tune: %d kills of %d searches, %d came too late, %d met rows of an earlier start" % (kills, searches, late - 1, resumed))
print("%d passed, %d failed" % (kills + 2 - bad, bad))
sys.exit(bad > 0)
