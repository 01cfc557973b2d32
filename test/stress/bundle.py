"""bundle.py -- kill -9 at random points of a bundle's build: there is nothing, or a whole bundle.

Usage: bundle.py TL [KILLS]     Half of the builds replace a bundle that is there, which must stay whole."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
tl = os.path.abspath(sys.argv[1])
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 12
kernel = os.path.join(here, "..", "cli", "wide.py")
draw = random.Random(17)


def build(out, by):
    return subprocess.Popen([tl, "build", kernel, "by=%d" % by, "-o", out, "--levels", "x86-64-v2"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def whole(out):
    p = subprocess.run([tl, "bundle", "check", out], capture_output=True, text=True)
    return p.returncode == 0 or print(p.stdout, p.stderr)


with tempfile.TemporaryDirectory() as root:
    os.environ["TILELANG_CACHE_DIR"] = os.path.join(root, "cache")
    there = os.path.join(root, "there")
    start = time.monotonic()
    build(there, 1).wait()
    seconds = time.monotonic() - start
    bad = not whole(there)
    ended = nothing = 0
    for i in range(kills):
        out = there if i % 2 else os.path.join(root, "new")
        shutil.rmtree(os.path.join(root, "new"), ignore_errors=True)
        p, start = build(out, i + 2), time.monotonic()
        try:
            p.wait((0.2 + draw.random()) * seconds)
            seconds = time.monotonic() - start
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            seconds *= 1.1  # kills are drawn to the end of a build, however long that takes now
        ended += p.wait() == 0
        if os.path.exists(out):
            bad += not whole(out)
        else:
            nothing += 1
            bad += out == there
    bad += build(there, 99).wait() != 0  # and what was left behind is in nobody's way
    bad += any(".making-" in n and n.startswith(".there") for n in os.listdir(root))
print("bundle: %d kills, %d came too late, %d left nothing" % (kills, ended, nothing))
print("%d passed, %d failed" % (kills + 1 - bad, bad))
sys.exit(bad > 0)
