"""The tuner beside Helion's: time to tune and the kernel that comes out, in one run on this machine's GPU.

    peers.py [--wheels DIR] [--seconds 38] [--trials 8] [--only NAME] [--dry]

Ours is `tl tune` as a user starts it: process, model, compilers, measuring, from an empty cache and library.  Helion's is its
default search; --seconds is the budget that it gets for each kernel (0: none, which takes minutes), and where scikit-learn is
not, which its default needs, its pattern search.  --wheels: a folder with wheels of helion and what it imports; they are
unpacked, nothing is installed.  Both kernels are then compared with torch and timed in turn here, by events around
launches back to back.  --dry compiles ours for sm_90a, and looks whether Helion can be imported; no GPU is needed."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
TARGET = "cuda -arch=sm_90a"

# name: (kernel of kernels.py, its arguments, names of its space)
OURS = {
    "matmul": ("gemm", dict(M=4096, N=4096, K=4096), "TILES"),
    "softmax": ("softmax", dict(M=4096, N=4096, dtype="float16"), "ROWS"),
    "layer norm": ("layer_norm", dict(M=4096, N=8192), "ROWS"),
    "attention": ("attention", dict(B=4, H=16, S=2048, D=128), "HEADS"),
}


def inputs(torch, name):
    torch.manual_seed(0)

    def some(*shape):
        return torch.randn(shape, device="cuda", dtype=torch.float16)

    if name == "matmul":
        return [some(4096, 4096), some(4096, 4096)]
    if name == "softmax":
        return [some(4096, 4096)]
    if name == "layer norm":
        return [some(4096, 8192), some(8192), some(8192)]
    return [some(4, 16, 2048, 128) for _ in range(3)]


def reference(torch, name, args):
    f = torch.nn.functional
    if name == "matmul":
        return args[0] @ args[1]
    if name == "softmax":
        return torch.softmax(args[0], dim=1)
    if name == "layer norm":
        return f.layer_norm(args[0], [8192], args[1], args[2])
    return f.scaled_dot_product_attention(*args)


# ---- ours -----------------------------------------------------------------------------------------


def tune_ours(name, trials, folder, dry):
    """(configuration, seconds, points, rows that were measured)"""
    import kernels

    func, args, space = OURS[name]
    words = [sys.executable, "-m", "tilelang", "tune", "%s:%s" % (os.path.join(HERE, "kernels.py"), func)]
    words += ["%s=%s" % kv for kv in args.items()]
    for key, values in getattr(kernels, space).items():
        words += ["--space", "%s=%s" % (key, ",".join(map(str, values)))]
    words += ["--trials", str(trials), "--json", "--target", TARGET, "--library", os.path.join(folder, "%s.db" % func)]
    if dry:
        words.append("--rank")
    begin = time.time()
    p = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    seconds = time.time() - begin
    if p.returncode:
        raise RuntimeError("tl tune ended with %d" % p.returncode)
    said = json.loads(p.stdout.strip().splitlines()[-1])
    best = said["best"] or said["trials"][0]
    return best["config"], seconds, said["points"], said["measured"]


def our_kernel(name, config):
    import kernels

    func, args, _ = OURS[name]
    fn = getattr(kernels, func)
    fn.target = TARGET
    return fn.compile(**args, **config)


# ---- Helion ---------------------------------------------------------------------------------------


def unpack(wheels, folder):
    for wheel in glob.glob(os.path.join(wheels, "*.whl")):
        with zipfile.ZipFile(wheel) as z:
            z.extractall(folder)
    sys.path.append(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(p for p in [os.environ.get("PYTHONPATH", ""), folder] if p)


def prepare_helion(seconds):
    """Its settings come from the environment; the name of its search."""
    import importlib.util

    os.environ.update(HELION_AUTOTUNE_PROGRESS_BAR="0", HELION_FORCE_AUTOTUNE="1", HELION_AUTOTUNE_RANDOM_SEED="1")
    if seconds:
        os.environ["HELION_AUTOTUNE_BUDGET_SECONDS"] = str(int(seconds))
    if importlib.util.find_spec("sklearn") is None:
        os.environ["HELION_AUTOTUNER"] = "PatternSearch"
    import helion

    return helion, os.environ.get("HELION_AUTOTUNER", "its default search")


def tune_helion(name, args):
    """(function to call, seconds)"""
    import helion_kernels

    kernel = getattr(helion_kernels, name.replace(" ", "_"))
    begin = time.time()
    bound = kernel.bind(tuple(args))
    config = bound.autotune(tuple(args), force=True)
    bound.set_config(config)
    bound(*args)
    return bound, time.time() - begin


# ---- both -----------------------------------------------------------------------------------------


def milliseconds(torch, runs, rounds=9):
    """The median of each, in turn."""
    found = [[] for _ in runs]
    for turn in range(rounds + 1):
        for run, into in zip(runs, found):
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            run()
            marks[0].record()
            for _ in range(20):
                run()
            marks[1].record()
            torch.cuda.synchronize()
            if turn:
                into.append(marks[0].elapsed_time(marks[1]) / 20)
    return [sorted(x)[len(x) // 2] for x in found]


def compare(torch, name, o, folder, helion):
    config, seconds, points, measured = tune_ours(name, o.trials, folder, False)
    args, runs, notes = inputs(torch, name), [], []
    want = reference(torch, name, args).float()
    kernel = our_kernel(name, config)
    runs.append(lambda: kernel(*args))
    theirs = None
    if helion:
        try:
            bound, theirs = tune_helion(name, args)
            runs.append(lambda: bound(*args))
        except Exception as why:
            notes.append("Helion: %s: %s" % (type(why).__name__, str(why).splitlines()[0][:160]))
    for who, run in zip(("ours", "Helion's"), runs):
        off = (run().float() - want).abs().max().item()
        if off > 0.02 * max(1.0, want.abs().max().item()):
            notes.append("%s is off by %.3g" % (who, off))
    ms = milliseconds(torch, runs)
    line = "%-11s %9.4f %8.1f %7d %8d" % (name, ms[0], seconds, points, measured)
    if len(ms) > 1:
        line += " %10.4f %8.1f %9.2f %9.3f" % (ms[1], theirs, ms[1] / ms[0], seconds / theirs)
    print(line, *notes, sep="  ", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--wheels")
    p.add_argument("--seconds", type=float, default=38)
    p.add_argument("--trials", type=int, default=8)
    p.add_argument("--only")
    p.add_argument("--dry", action="store_true")
    o = p.parse_args()
    folder = tempfile.mkdtemp(prefix="peers")
    os.environ["TILELANG_CACHE_DIR"] = os.path.join(folder, "cache")
    names = [n for n in OURS if not o.only or o.only in n]
    if o.wheels:
        unpack(o.wheels, os.path.join(folder, "packages"))
    if o.dry:
        for name in names:
            config, seconds, points, _ = tune_ours(name, o.trials, folder, True)
            begin = time.time()
            our_kernel(name, config)
            print("%-11s %d points ranked in %.1f s, the first compiles in %.1f s: %s" % (
                name, points, seconds, time.time() - begin, config), flush=True)
        return
    import torch

    helion, search = None, "not here"
    try:
        helion, search = prepare_helion(o.seconds)
    except Exception as why:
        print("Helion cannot be used: %s: %s" % (type(why).__name__, why))
    print("%s; Helion: %s%s" % (torch.cuda.get_device_name(), search, ", %.0f s a kernel" % o.seconds if helion and o.seconds else ""))
    print("%-11s %9s %8s %7s %8s %10s %8s %9s %9s" % ("", "ours ms", "tuned s", "points", "timed", "Helion ms", "tuned s",
                                                  "speed", "time"))
    for name in names:
        try:
            compare(torch, name, o, folder, helion)
        except Exception as why:
            print("%-11s %s: %s" % (name, type(why).__name__, str(why)[:300]), flush=True)


if __name__ == "__main__":
    main()
