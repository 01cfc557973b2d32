"""Times of configurations of bench/tune/kernels.py on this machine's GPU, for calibrating and judging the model.

    measure.py OUT.json [--seconds 225] [--judge 100] [--calibrate 40] [--dry N] [NAME …]

Of each kernel so many configurations are timed for the shape that the model has not seen (judge) and for the one that it is
fitted to.  All cores but one compile, into the kernel cache; this process times what is ready, one by one, nothing else on the
GPU.  Kernels come in turn, so that what is not reached in time is missing of all alike.  OUT.json is written every 20 seconds
and at the end; judge.py reads it where no GPU is.  --dry N compiles N of each and times nothing."""
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
    def __init__(self):
        import torch
        import warnings

        warnings.simplefilter("ignore")
        self.torch, self.best, self.inputs = torch, {}, {}

    def row(self, job):
        """A row of the result; raises what ends the GPU for this process."""
        import kernels

        name, which, args, config = job
        row = dict(kernel=name, which=which, args=args, config=config)
        fn = kernels.KERNELS[name][0]
        fn.target = TARGET
        try:
            kernel = fn.compile(**args, **config)
            key = name, which
            if key not in self.inputs:
                self.inputs[key] = [self.torch.randn(tuple(p.shape), device="cuda").to(p.torch_dtype())
                                    for p in kernel.params if not p.is_output]
            samples = timed(self.torch, lambda: kernel(*self.inputs[key]), self.best.get(key, 1e9))
            ms = sorted(samples)[len(samples) // 2]
            self.best[key] = min(self.best.get(key, 1e9), ms)
            row.update(ms=ms, samples=samples, resources=kernel.resource_usage)
        except Exception as why:
            if "illegal" in str(why) or "unspecified" in str(why) or "misaligned" in str(why):
                raise RuntimeError("%s %s: %s" % (name, config, why)) from None
            row["why"] = str(why)[:200]
        return row


def write(path, rows):
    with open(path + ".part", "w") as f:
        json.dump(rows, f)
    os.replace(path + ".part", path)


def run(o, todo, pool):
    """Rows; what compiled is timed at once, and only here."""
    begin = told = time.time()
    timer = None if o.dry else Timer()
    rows, spent = [], []
    answers = pool.imap_unordered(build, list(enumerate(todo)), chunksize=1)
    for _ in todo:
        left = o.seconds - (time.time() - begin)
        try:
            number, why, seconds = answers.next(timeout=max(left, 0.01))
        except multiprocessing.TimeoutError:
            print("its time is over", flush=True)
            break
        spent.append(seconds)
        job = todo[number]
        if why is not None or o.dry:
            rows.append(dict(kernel=job[0], which=job[1], args=job[2], config=job[3], why=why, seconds=seconds))
            continue
        try:
            rows.append(timer.row(job))
        except RuntimeError as why:
            print("gave up after", why, flush=True)
            break
        if time.time() - told > 20:
            told = time.time()
            write(o.out, rows)
            print("%d of %d after %.0f s" % (len(rows), len(todo), told - begin), flush=True)
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
    p.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    o = p.parse_args()
    todo = jobs(o.names, dict(judge=o.dry or o.judge, calibrate=o.dry or o.calibrate))
    pool = multiprocessing.get_context("spawn").Pool(o.jobs)
    try:
        rows = run(o, todo, pool)
    finally:
        pool.terminate()
    write(o.out, rows)
    tell(rows)


if __name__ == "__main__":
    main()
