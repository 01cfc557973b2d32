"""run.py TL -- the time of a compile grows no faster than what is compiled.

Each family of gen.py is compiled for cpu, sm_80 and sm_90a at n and at 4 n.  What counts is the processor time of the
process, the least of a few runs, less that of an empty kernel: on a busy machine it grows a little, by no factor.
Linear is 4, quadratic 16, both in equal parts 10, where a family fails: what no longer fits into a cache takes 6 to 8.
Depth has a limit in the language, so nests have a bar in seconds."""
import os
import resource
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gen

TARGETS = ("cpu", "cuda -arch=sm_80", "cuda -arch=sm_90a")
MOST, TRIES, LEAST = 10.0, 6, 0.006
DEEP = {"elifs", "elifs_thread", "elifs_vars", "loops", "thread_loops", "plain_loops", "ifs_deep", "mixed_deep", "whiles_deep"}
SIZES = {"expr_sum": 50, "expr_index": 30, "gemms": 60, "pipelines": 50, "reduces": 60, "slots": 250, "chain": 150, "gemm_tiles": 40, "pipelined_tiles": 60}
CPU_SIZES = {"gemm_tiles": 320}
BARS = (("loops", 40, 0.5), ("mixed_deep", 80, 0.5), ("whiles_deep", 80, 0.5), ("plain_loops", 80, 0.5),
        ("ifs_deep", 80, 0.5), ("elifs", 900, 0.5), ("elifs_thread", 480, 0.25),
        ("elifs_vars", 360, 0.5), ("copies", 2000, 2.0), ("nests", 5000, 3.0),
        ("thread_loops", 40, 2.0), ("stores_looped", 200, 0.5))


def seconds(tl, folder, name, n, target):
    path = os.path.join(folder, f"{name}_{n}.py")
    if not os.path.exists(path):
        with open(path, "w") as f:
            f.write(gen.FAMILIES[name](n))
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execv(tl, [tl, "dump", path, "--source", "-q", "--target", target])
    _, status, used = os.wait4(pid, 0)
    if status:
        print(f"FAIL {name} {n} for {target}: not compiled within 20 s and 4 GiB")
        return float("inf")
    return used.ru_utime + used.ru_stime


def grows(tl, folder, name, target, empty):
    """The ratio of the times at 4 n and n; it is tried again while it looks too large."""
    n = CPU_SIZES.get(name) if target == "cpu" and name in CPU_SIZES else SIZES.get(name, 200)
    short = long = float("inf")
    for _ in range(TRIES):
        short = min(short, seconds(tl, folder, name, n, target))
        long = min(long, seconds(tl, folder, name, 4 * n, target))
        ratio = (long - empty) / max(short - empty, LEAST)
        if ratio <= MOST or long == float("inf"):
            break
    return ratio


def main():
    tl = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for target in TARGETS:
            empty = min(seconds(tl, folder, "stores", 1, target) for _ in range(3))
            for name in gen.FAMILIES:
                if name in DEEP:
                    continue
                ratio = grows(tl, folder, name, target, empty)
                passed, failed = passed + (ratio <= MOST), failed + (ratio > MOST)
                if ratio > MOST:
                    print(f"FAIL {name} for {target}: four times as much takes {ratio:.1f} times as long")
            for name, n, bar in BARS:
                took = min(seconds(tl, folder, name, n, target) for _ in range(2))
                passed, failed = passed + (took <= bar), failed + (took > bar)
                if took > bar:
                    print(f"FAIL {name} {n} for {target}: {took:.2f} s, the most is {bar}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
