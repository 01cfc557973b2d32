"""on_gpu.py -- random kernels on the GPU of this machine, against their meaning.

    PYTHONPATH=build/py python3 on_gpu.py [--count N] [--from SEED] [--jobs N] [--arch sm_90a] [--keep DIR] [--compile-only]

N kernels of gen.py and N of wide.py.  First all are compiled, --jobs at a time, into the cache: NVRTC takes nearly all
of the time.  Then processes that keep the GPU's context take kernels in turn: `tl verify` runs each against the
simulator's tile form.  A process is replaced after a failure, since a fault of one kernel stays with the context.
The last line is "N passed, M failed"."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import gen

LIMIT_S = 120
GPU_JOBS = 6


# ---- a process that runs commands of tl, one after the other -------------------------------------

def serve():
    from tilelang import _core

    reply, said = os.dup(1), tempfile.TemporaryFile()
    os.dup2(said.fileno(), 1)
    os.dup2(said.fileno(), 2)
    for line in sys.stdin:
        said.truncate(0)
        said.seek(0)
        code = _core.main(["tl"] + json.loads(line))
        sys.stdout.flush()
        said.seek(0)
        os.write(reply, (json.dumps([code, said.read().decode(errors="replace")]) + "\n").encode())


class Server:
    def __init__(self):
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, words):
        if not self.process:
            self.start()
        clock = threading.Timer(LIMIT_S, self.process.kill)
        clock.start()
        try:
            self.process.stdin.write(json.dumps(words) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        clock.cancel()
        if line:
            code, said = json.loads(line)
        else:
            code, said = -1, "the process ended (%s)" % self.process.wait()
        if code:
            self.stop()
        return code, said

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None


# ---- all of them --------------------------------------------------------------------------------

def each(kernels, jobs, words_of):
    """{seed: what was wrong} of a command for each kernel, `jobs` at a time."""
    left, bad, lock = list(reversed(list(kernels.items()))), {}, threading.Lock()

    def work():
        server = Server()
        while True:
            with lock:
                if not left:
                    break
                seed, kernel = left.pop()
            code, said = server.ask(words_of(kernel))
            if code:
                with lock:
                    bad[seed] = said.strip()[-600:]
        server.stop()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return bad


def write_kernels(o):
    kernels = {}
    for seed in list(range(o.first, o.first + o.count)) + list(range(gen.WIDE + o.first, gen.WIDE + o.first + o.count)):
        text = gen.kernel(seed)
        path = os.path.join(o.keep, "k%d.py" % seed)
        with open(path, "w") as f:
            f.write(text)
        kernels[seed] = [path] + gen.knobs(text)
    return kernels


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--from", dest="first", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--keep", default=tempfile.gettempdir())
    p.add_argument("--compile-only", action="store_true")
    o = p.parse_args()
    if o.serve:
        return serve()
    os.makedirs(o.keep, exist_ok=True)
    target = ["-q", "--target", "cuda -arch=" + o.arch]
    start = time.time()
    kernels = write_kernels(o)
    bad = {s: "compiling: " + said for s, said in each(kernels, o.jobs, lambda k: ["build"] + k + target).items()}
    print("%d kernels compiled in %.0f s" % (len(kernels), time.time() - start), flush=True)
    if not o.compile_only:
        start = time.time()
        good = {s: k for s, k in kernels.items() if s not in bad}
        bad.update(each(good, min(o.jobs, GPU_JOBS), lambda k: ["verify"] + k + target))
        print("%d run and compared in %.0f s" % (len(good), time.time() - start), flush=True)
    for seed, said in sorted(bad.items()):
        print("FAIL seed %d: %s" % (seed, said))
    print("%d passed, %d failed" % (len(kernels) - len(bad), len(bad)))
    return len(bad) != 0


if __name__ == "__main__":
    sys.exit(main())
