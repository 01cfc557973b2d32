"""gate.py -- times of kernels against those that are stored for this machine; a regression fails.

Usage: gate.py TL [--update REASON] [--baselines DIR] [--list FILE] [--machine NAME]

FILE has a line for each kernel, as it stands behind `tl bench` (bench/gate/kernels.txt).  DIR/MACHINE.json (bench/gate) has, by line,
the median in ms, its spread in that run and the reason of the last update.  A kernel fails when it is slower than its baseline by
more than both spreads and 5 %, in two runs of two; where these are more than half of the time it is called noisy.  A machine without a file has no gate: --update makes one.  The machine is the
GPU's name, or the CPU's."""

import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST, NOISY = 0.05, 0.5


def machine(tl):
    said = subprocess.run([tl, "targets"], capture_output=True, text=True).stdout
    gpu = re.search(r"^gpu: ([^,\n]+)", said, re.M)
    if gpu:
        return gpu.group(1)
    with open("/proc/cpuinfo") as f:
        cpu = re.search(r"model name\s*: (.*)", f.read())
    return "%s, %d cores" % (cpu.group(1) if cpu else "a CPU", os.cpu_count())


def measure(tl, line):
    p = subprocess.run([tl, "bench", *line.split(), "--json", "--no-roof"], capture_output=True, text=True)
    if p.returncode:
        sys.exit("gate: tl bench %s\n%s" % (line, p.stderr or p.stdout))
    said = json.loads(p.stdout.splitlines()[-1])
    return {"ms": said["time_ms"], "spread": (said["p90_ms"] - said["p10_ms"]) / said["time_ms"]}


def slower(now, before):
    """By how much beyond what the times spread anyway; not positive: it is not."""
    return now["ms"] / before["ms"] - 1 - max(LEAST, now["spread"] + before["spread"])


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    p.add_argument("tl")
    p.add_argument("--update")
    p.add_argument("--baselines", default=os.path.join(ROOT, "bench", "gate"))
    p.add_argument("--list", default=os.path.join(ROOT, "bench", "gate", "kernels.txt"))
    p.add_argument("--machine")
    o = p.parse_args()
    tl = os.path.abspath(o.tl) if os.path.exists(o.tl) else o.tl
    name = o.machine or machine(tl)
    file = os.path.join(o.baselines, re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") + ".json")
    with open(o.list) as f:
        lines = [s.strip() for s in f if s.strip() and not s.startswith("#")]
    if o.update:
        rows = {line: measure(tl, line) for line in lines}
        os.makedirs(o.baselines, exist_ok=True)
        with open(file + ".new", "w") as f:
            json.dump({"machine": name, "reason": o.update, "kernels": rows}, f, indent=1)
            f.write("\n")
        os.replace(file + ".new", file)
        print("%s: %d baselines, because: %s" % (file, len(rows), o.update))
        return 0
    if not os.path.exists(file):
        print("gate: no baselines for %s (%s): make gate UPDATE='why' makes them" % (name, file))
        return 0
    try:
        with open(file) as f:
            before = {line: {"ms": float(row["ms"]), "spread": float(row["spread"])} for line, row in json.load(f)["kernels"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        sys.exit("gate: %s is not a file of baselines (%s): make gate UPDATE='why' writes it anew" % (file, e))
    bad = 0
    for line in lines:
        if line not in before:
            print("new    %s" % line)
            continue
        now = measure(tl, line)
        if slower(now, before[line]) > 0:
            now = min(now, measure(tl, line), key=lambda r: r["ms"])
        fails = slower(now, before[line]) > 0
        bad += fails
        word = "SLOWER" if fails else "noisy" if now["spread"] + before[line]["spread"] > NOISY else "ok"
        print("%-6s %8.4f ms, was %8.4f (%+.1f%%)  %s" % (word, now["ms"], before[line]["ms"],
                                                      100 * (now["ms"] / before[line]["ms"] - 1), line))
    for line in sorted(set(before) - set(lines)):
        print("gone   %s" % line)
    print("gate: %d of %d slower" % (bad, len(lines)))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
