"""Times of configurations of bench/tune/kernels.py on this machine's GPU, for calibrating and judging the model.

    measure.py OUT.json [--seconds N] [--most N] [--judge] [NAME …]

Compiled by one process for each core, into the kernel cache; then timed one by one."""
import argparse
import json
import multiprocessing
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def jobs(names, most, which):
    import kernels

    for name in names or kernels.KERNELS:
        _, calibrate, judge, space = kernels.KERNELS[name]
        args = judge if which == "judge" else calibrate
        for config in kernels.sample(space, args, most):
            yield name, which, args, config


def build(job, target="cuda -arch=sm_90a"):
    import warnings
    import kernels
    import tilelang

    warnings.simplefilter("ignore")
    name, _, args, config = job
    try:
        fn = kernels.KERNELS[name][0]
        fn.target = target
        fn.compile(**args, **config)
        return None
    except Exception as why:
        return "%s: %s" % (type(why).__name__, str(why).splitlines()[0][:200])


def timed(torch, run, least_ms):
    """Milliseconds of each of some runs, stopped early where it is hopeless."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(9)]
    run()
    marks[0].record()
    run()
    marks[1].record()
    torch.cuda.synchronize()
    each = marks[0].elapsed_time(marks[1])
    many = 1 if each > 4 * least_ms else max(1, min(20, int(2 / max(each, 1e-3))))
    samples = []
    for a, b in zip(marks, marks[1:] if each <= 4 * least_ms else marks[1:3]):
        a.record()
        for _ in range(many):
            run()
        b.record()
        torch.cuda.synchronize()
        samples.append(a.elapsed_time(b) / many)
    return samples


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("names", nargs="*")
    p.add_argument("--seconds", type=float, default=140)
    p.add_argument("--most", type=int, default=100)
    p.add_argument("--judge", action="store_true", help="the shapes that the model has not seen")
    o = p.parse_args()
    begin = time.time()
    todo = list(jobs(o.names, o.most, "judge" if o.judge else "calibrate"))
    rows, ready = [], []
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for i, (job, why) in enumerate(zip(todo, pool.imap(build, todo, chunksize=2))):
            if why is not None:
                rows.append(dict(kernel=job[0], which=job[1], args=job[2], config=job[3], why=why))
            else:
                ready.append(job)
            if time.time() - begin > o.seconds * 0.72:
                print("stopped compiling at %d of %d" % (i + 1, len(todo)), flush=True)
                pool.terminate()
                break
    print("%d compiled, %d refused, %.0f s" % (len(ready), len(rows), time.time() - begin), flush=True)
    import torch
    import warnings
    import kernels

    warnings.simplefilter("ignore")
    best, inputs = {}, {}
    for job in ready:
        name, which, args, config = job
        if time.time() - begin > o.seconds:
            print("stopped timing", flush=True)
            break
        fn = kernels.KERNELS[name][0]
        fn.target = "cuda -arch=sm_90a"
        try:
            kernel = fn.compile(**args, **config)
            key = name, which
            if key not in inputs:
                inputs.clear()
                inputs[key] = [torch.randn(tuple(p.shape), device="cuda").to(p.torch_dtype())
                               for p in kernel.params if not p.is_output]
            samples = timed(torch, lambda: kernel(*inputs[key]), best.get(key, 1e9))
            ms = sorted(samples)[len(samples) // 2]
            best[key] = min(best.get(key, 1e9), ms)
            rows.append(dict(kernel=name, which=which, args=args, config=config, ms=ms, samples=samples,
                             resources=kernel.resource_usage))
        except Exception as why:
            rows.append(dict(kernel=name, which=which, args=args, config=config, why="%s" % why))
            if "CUDA" in str(why):
                print("gave up after", name, config, why, flush=True)
                break
    with open(o.out, "w") as f:
        json.dump(rows, f)
    for key in best:
        got = [r["ms"] for r in rows if (r["kernel"], r["which"]) == key and "ms" in r]
        print("%-18s %-9s %3d timed, best %.4f ms, worst %.4f ms" % (*key, len(got), min(got), max(got)))
    print("%.0f s" % (time.time() - begin))


if __name__ == "__main__":
    main()
