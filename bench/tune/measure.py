"""Times of configurations of bench/tune/kernels.py on this machine's GPU, for calibrating and judging the model.

    measure.py OUT.json [--seconds 225] [--judge 100] [--calibrate 40] [--dry N] [NAME …]

Of each kernel so many configurations are timed for the shape that the model has not seen (judge) and for the one that it is
fitted to.  All cores but two compile, into the kernel cache; two processes load what is ready and time it in turn, nothing
else on the GPU; one that a kernel ends is replaced.  Kernels come in turn, so that what is not reached in time is missing of
all alike.  OUT.json is written every 20 seconds and at the end; judge.py reads it where no GPU is.  --dry N compiles N of each and times nothing."""
import argparse
import json
import multiprocessing
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
TARGET = "cuda -arch=sm_90a"


def jobs(names, most):
    """[(kernel, which, arguments, configuration)], kernels in turn."""
    import kernels

    rows = []
    for name in names or kernels.KERNELS:
        _, calibrate, judge, space = kernels.KERNELS[name]
        for which, args in (("judge", judge), ("calibrate", calibrate)):
            for turn, config in enumerate(kernels.sample(space, args, most[which])):
                rows.append((turn / most[which], (name, which, args, config)))
    return [job for _, job in sorted(rows, key=lambda r: r[0])]


def build(numbered):
    """(number, why it was refused or None, seconds)"""
    import warnings

    import kernels

    warnings.simplefilter("ignore")
    number, (name, _, args, config) = numbered
    begin = time.time()
    try:
        fn = kernels.KERNELS[name][0]
        fn.target = TARGET
        fn.compile(**args, **config)
        return number, None, time.time() - begin
    except Exception as why:
        return number, "%s: %s" % (type(why).__name__, str(why).splitlines()[0][:200]), time.time() - begin


def timed(torch, run, least_ms):
    """Milliseconds of each of some runs, stopped early where it is hopeless."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(6)]
    run()
    marks[0].record()
    run()
    marks[1].record()
    torch.cuda.synchronize()
    each = marks[0].elapsed_time(marks[1])
    hopeless = each > 4 * least_ms
    many = 1 if hopeless else max(1, min(30, int(3 / max(each, 1e-3))))
    samples = []
    for a, b in zip(marks, marks[1:] if not hopeless else marks[1:3]):
        a.record()
        for _ in range(many):
            run()
        b.record()
        torch.cuda.synchronize()
        samples.append(a.elapsed_time(b) / many)
    return samples


class Timer:
    """What a timing process does: compiles a job out of the cache, then times it when it has the GPU."""

    def __init__(self):
        import torch
        import warnings

        warnings.simplefilter("ignore")
        torch.cuda.init()
        self.torch, self.best, self.inputs = torch, {}, {}

    def prepare(self, job):
        import kernels

        name, _, args, config = job
        fn = kernels.KERNELS[name][0]
        fn.target = TARGET
        return fn.compile(**args, **config)

    def time(self, job, kernel):
        key = job[:2]
        if key not in self.inputs:
            self.inputs[key] = [self.torch.randn(tuple(p.shape), device="cuda").to(p.torch_dtype())
                                for p in kernel.params if not p.is_output]
        samples = timed(self.torch, lambda: kernel(*self.inputs[key]), self.best.get(key, 1e9))
        ms = sorted(samples)[len(samples) // 2]
        self.best[key] = min(self.best.get(key, 1e9), ms)
        return dict(ms=ms, samples=samples, resources=kernel.resource_usage)


def serve(pipe):
    """A timing process: a job comes, "ready" goes, "time" comes, what it took goes."""
    timer = Timer()
    while True:
        job = pipe.recv()
        try:
            kernel = timer.prepare(job)
            pipe.send("ready")
            pipe.recv()
            said = timer.time(job, kernel)
        except Exception as why:
            said = dict(why=str(why)[:200])
        pipe.send(said)
        if any(word in said.get("why", "") for word in ("illegal", "unspecified", "misaligned")):
            return  # the GPU is of no more use to this process


class Timers:
    """Two timing processes, so that one can load a kernel while the other has the GPU; one that ends is replaced."""
    LONGEST = 20

    def __init__(self, context):
        self.context, self.all, self.busy = context, [], None
        for _ in range(2):
            self.start()

    def start(self):
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        self.all.append(dict(pipe=ours, process=process, job=None, state="free"))

    def turn(self, ready, rows):
        """Gives out jobs, and the GPU; adds what was timed to rows."""
        from multiprocessing.connection import wait

        for t in self.all:
            if t["state"] == "free" and ready:
                t.update(job=ready.pop(0), state="compiles")
                t["pipe"].send(t["job"])
        pipes = [t["pipe"] for t in self.all if t["state"] in ("compiles", "times")]
        came = wait(pipes, 0.02) if pipes else time.sleep(0.005) or []
        for t in list(self.all):
            late = t["state"] == "times" and time.time() - t["since"] > self.LONGEST
            if t["pipe"] in came or late:
                self.hear(t, late, rows)
        for t in self.all:
            if t["state"] == "ready" and self.busy is None:
                self.busy = t
                t.update(state="times", since=time.time())
                t["pipe"].send("time")

    def hear(self, t, late, rows):
        try:
            said = dict(why="took too long") if late else t["pipe"].recv()
        except (EOFError, OSError):
            said = dict(why="its process ended")
        if said == "ready":
            t["state"] = "ready"
            return
        self.busy = None if self.busy is t else self.busy
        rows.append(dict(zip(("kernel", "which", "args", "config"), t["job"]), **said))
        t["state"] = "free"
        if "ms" not in said:
            print("not timed:", rows[-1], flush=True)
        if late or said.get("why") == "its process ended" or not t["process"].is_alive():
            t["process"].kill()
            self.all.remove(t)
            self.start()

    def idle(self):
        return all(t["state"] == "free" for t in self.all)

    def end(self):
        for t in self.all:
            t["process"].kill()


def write(path, rows):
    with open(path + ".part", "w") as f:
        json.dump(rows, f)
    os.replace(path + ".part", path)


def run(o, todo, pool, timers):
    """Rows; what compiled is timed at once, one kernel at a time."""
    begin = told = time.time()
    rows, ready, spent = [], [], []
    answers = pool.imap_unordered(build, list(enumerate(todo)), chunksize=1)
    while len(rows) < len(todo):
        if time.time() - begin > o.seconds:
            print("its time is over", flush=True)
            break
        try:
            while len(spent) < len(todo):
                number, why, seconds = answers.next(timeout=0 if timers else 1)
                spent.append(seconds)
                job = todo[number]
                if why is not None or not timers:
                    rows.append(dict(kernel=job[0], which=job[1], args=job[2], config=job[3], why=why, seconds=seconds))
                else:
                    ready.append(job)
        except multiprocessing.TimeoutError:
            pass
        if timers:
            timers.turn(ready, rows)
        if time.time() - told > 20:
            told = time.time()
            write(o.out, rows)
            print("%d of %d after %.0f s, %d wait" % (len(rows), len(todo), told - begin, len(ready)), flush=True)
    print("%d of %d answers, %.2f s each in a compiling process, %.0f s" % (
        len(spent), len(todo), sum(spent) / max(len(spent), 1), time.time() - begin))
    return rows


def tell(rows):
    groups = {}
    for r in rows:
        groups.setdefault((r["kernel"], r["which"]), []).append(r)
    for key, some in groups.items():
        got, refused = [r["ms"] for r in some if "ms" in r], [r for r in some if r.get("why")]
        line = "%-18s %-9s %3d timed" % (*key, len(got))
        if got:
            line += ", best %.4f ms, worst %.4f ms" % (min(got), max(got))
        print(line + (", %d refused (%s)" % (len(refused), refused[0]["why"][:80]) if refused else ""))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("names", nargs="*")
    p.add_argument("--seconds", type=float, default=225)
    p.add_argument("--judge", type=int, default=100)
    p.add_argument("--calibrate", type=int, default=40)
    p.add_argument("--dry", type=int, default=0)
    p.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    o = p.parse_args()
    todo = jobs(o.names, dict(judge=o.dry or o.judge, calibrate=o.dry or o.calibrate))
    context = multiprocessing.get_context("spawn")
    pool, timers = context.Pool(o.jobs), None if o.dry else Timers(context)
    try:
        rows = run(o, todo, pool, timers)
    finally:
        pool.terminate()
        if timers:
            timers.end()
    write(o.out, rows)
    tell(rows)


if __name__ == "__main__":
    main()
