"""Every run of test/kernel and every example on one target, with a log that a later run goes on with.

    python3 sweep.py TL TARGET LOG [--text] [--shard I/N] [--seconds N] [--seed N]

TARGET      right is what
gfx90a, …   AMD: clang makes a code object of it without a warning, and the simulator gives what the tile form gives (--text: and so does the text on
            the host; kernels.sh does that too); gfx950 takes the clang of tools/zig.sh
sm_70, …    NVIDIA: NVRTC takes it without a warning (sm_70: the one of CUDA 12); simulator and text give what the tile form gives
webgpu      wgpu gives it, and the simulator of the lowered form
opencl      the device of libOpenCL gives it, and so do simulator and text
metal, ascend   simulator and text give it
armv8-a, …  a level of aarch64: QEMU, as QEMU_CPU says, gives it

A run of test/kernel that says --cuda=TAG, --hip=TAG, --gfx90a=TAG, … has to be refused so; the others may refuse what they have no words or room for.

LOG has a line for each run: what it came to, the run, the seconds, a message.  Runs that it has already are not made again, unless
they failed; the log of another build of TL is refused.  Several shards may write to one log.  At the end the whole log is counted: right, refused by reason, failed.
With --seed the runs come in an order drawn by it, so that a sweep that was stopped is a sample.
"""
import argparse
import collections
import glob
import hashlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WORDS = ""  # more of the target's: -subgroup=8
WEBGPU = "webgpu -max_num_threads=1024 -max_shared_memory_per_block=32768"  # what lavapipe has
CPUS = ("armv8", "neoverse", "apple")  # how names of aarch64's levels start
MORE = {"examples/gemm_dynamic.py": " M=40 N=33 K=50",  # which arguments would say
        "examples/sparse_mla.py:backward": " block_H=16"}  # 64 KiB of shared memory
CLUSTERS = r"splits=[24].*block_N=64"  # a run of an example that is about clusters of blocks
MAY_REFUSE = ("unsupported-here", "on-chip-bytes", "local-bytes", "tile-threads", "barrier-numbers")
VOLTA = r"need\S* .*sm_[89]\d|\[on-chip-bytes\]|\[gemm-mma\]"  # what it says of instructions and room of later GPUs


def family(arch):
    """words of a run that tell with which tag it is refused"""
    if arch.startswith("gfx"):
        return "--hip=", "--%s=" % arch
    if arch.startswith("sm_"):
        return ("--cuda=", "--%s=" % arch) + (("--sm_80=",) if arch == "sm_70" else ())
    return ()


def kernel_runs(arch):
    """(words of the run, tag it has to be refused with)"""
    for path in sorted(glob.glob("test/kernel/*.py")):
        text = open(path).read()
        if re.search(r"^# (fails|refused):", text, re.M):
            continue
        for line in re.findall(r"^# verify:(.*)$", text, re.M):
            func, knobs, tag = "", [], None
            for word in line.split():
                if word.startswith(":"):
                    func = word
                elif family(arch) and word.startswith(family(arch)):
                    tag = word.split("=")[1]
                elif not word.startswith("-"):
                    knobs.append(word)
            yield " ".join([path + func] + knobs), tag


def example_runs(arch):
    lines = open("test/gpu/lower.sh").read().split("<<'X'\n")[1].split("\nX\n")[0].split("\n")
    tag = "unsupported-here" if arch.startswith("gfx") or arch == "sm_80" else None
    return [(run + MORE.get(run.split()[0], ""), tag if re.search(CLUSTERS, run) else None) for run in ("examples/" + line for line in lines)]


def call(words, seconds):
    """seconds of a processor: on a busy machine those of the clock may be many more"""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20 * seconds, text=True, errors="replace",
                              preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return 124, "more than %d seconds" % (20 * seconds)
    if done.returncode == -signal.SIGXCPU:
        return 124, "more than %d seconds of a processor" % seconds
    return done.returncode, done.stdout


def refused_with(text):
    found = re.search(r"error: (.*)\[([a-z0-9-]+)\]", text)
    return (found.group(2), found.group(1).strip()) if found else (None, "")


def on_amd(tl, arch, run, tag, seconds, text_too):
    target = ["-q", "--target", "hip -mcpu=" + arch]
    code, text = call([tl, "build", *run.split(), "--no-cache", *target], seconds)
    if tag:
        return ("refused" if refused_with(text)[0] == tag else "FAIL"), "[%s]" % tag if code else text
    if code or "[compiler-warning]" in text:
        return "FAIL", "clang: " + text
    code, text = call([tl, "verify", *run.split(), "--sim", *text_too, *target], seconds)
    return ("ok", "") if code == 0 else ("FAIL", text)


def on_webgpu(tl, arch, run, tag, seconds, text_too):
    target = WEBGPU + WORDS
    code, text = call([tl, "verify", *run.split(), "-q", "--target", target], seconds)
    why, message = refused_with(text)
    if code == 1 and why in MAY_REFUSE:
        return "refused", "[%s] %s" % (why, message)
    if code:
        return "FAIL", text
    code, text = call([tl, "verify", *run.split(), "-q", "--sim", "--target", "sim " + target], seconds)
    return ("ok", "") if code == 0 else ("FAIL", "simulated: " + text)


def on_nvidia(tl, arch, run, tag, seconds, text_too):
    target = ["-q", "--target", "cuda -arch=" + arch]
    code, text = call([tl, "build", *run.split(), "--no-cache", *target], seconds)
    if code == 1 and arch == "sm_70" and re.search(VOLTA, text):
        return "refused", "[%s] %s" % refused_with(text)
    if tag:
        return ("refused" if refused_with(text)[0] == tag else "FAIL"), "[%s]" % tag if code else text
    if code or "[compiler-warning]" in text:
        return "FAIL", "NVRTC: " + text
    code, text = call([tl, "verify", *run.split(), "--sim", "--text", *target], seconds)
    return ("ok", "") if code == 0 else ("FAIL", text)


def on_others(tl, arch, run, tag, seconds, text_too):
    host = ["--sim", "--text"]
    target = "cpu -mcpu=" + arch if arch.startswith(CPUS) else arch
    code, text = call([tl, "verify", *run.split(), "-q", *(host if arch in ("metal", "ascend") else []), "--target", target], seconds)
    why, message = refused_with(text)
    if code == 1 and why in MAY_REFUSE:
        return "refused", "[%s] %s" % (why, message)
    if code == 0 and arch == "opencl":
        code, text = call([tl, "verify", *run.split(), "-q", *host, "--target", target], seconds)
    return ("ok", "") if code == 0 else ("FAIL", text)


def read_log(path, head):
    """run -> (what it came to, message)"""
    found = {}
    if not os.path.exists(path):
        with open(path, "w") as f:
            f.write(head + "\n")
    lines = open(path).read().split("\n")
    if lines[0] != head:
        sys.exit("%s is the log of another build or target" % path)
    for line in lines[1:]:
        cells = line.split("\t")
        if len(cells) == 4:
            found[cells[1]] = cells[0], cells[3]
    return found


def count(found, runs):
    kinds = collections.Counter(found[run][0] for run, _ in runs if run in found)
    why = collections.Counter(re.sub(r"[0-9]+", "N", found[run][1]) for run, _ in runs if found.get(run, "-")[0] == "refused")
    for reason, n in why.most_common():
        print("%5d refused: %s" % (n, reason))
    for run, _ in runs:
        if found.get(run, "-")[0] == "FAIL":
            print("FAIL %s: %s" % (run, found[run][1]))
    left = len(runs) - sum(kinds.values())
    print("%d right, %d refused, %d failed, %d not run" % (kinds["ok"], kinds["refused"], kinds["FAIL"], left))
    return kinds["FAIL"] or left


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tl")
    p.add_argument("arch", help="a name of the table above")
    p.add_argument("log")
    p.add_argument("--text", action="store_const", const=["--text"], default=[], help="run the text on the host too")
    p.add_argument("--shard", default="0/1", help="runs I, I + N, … of the list, I from 0; 0/0: none, the log is counted")
    p.add_argument("--seconds", type=int, default=300, help="of a processor for one command")
    p.add_argument("--seed", type=int, help="of the order of the runs")
    p.add_argument("--words", default="", help="after the target's name, on WebGPU: --words=-subgroup=8")
    p.add_argument("--only", default="", help="runs that contain this text")
    o = p.parse_args()
    global WORDS
    WORDS = " " + o.words if o.words else ""
    tl, log = os.path.abspath(o.tl), os.path.abspath(o.log)
    os.chdir(ROOT)
    if o.arch == "gfx950":
        os.environ["TILELANG_HIP_CLANG"] = subprocess.check_output(["sh", "tools/zig.sh"], text=True).strip()
    elif o.arch == "webgpu":
        os.environ["NODEVICE_SELECT"] = "1"  # a layer of Mesa talks about displays
        if lib := subprocess.check_output(["sh", "tools/wgpu.sh", tl], text=True).strip():
            os.environ["TILELANG_WGPU"] = lib
    elif o.arch.startswith("sm_"):
        if lib := subprocess.check_output(["sh", "tools/nvrtc.sh", "--twelve" if o.arch == "sm_70" else tl], text=True).strip():
            os.environ["TILELANG_NVRTC12" if o.arch == "sm_70" else "TILELANG_NVRTC"] = lib
    head = "# %s%s %s" % (o.arch, WORDS, hashlib.sha1(open(tl, "rb").read()).hexdigest())
    judge = on_webgpu if o.arch == "webgpu" else on_amd if o.arch.startswith("gfx") else on_nvidia if o.arch.startswith("sm_") else on_others
    runs = list(dict.fromkeys(list(kernel_runs(o.arch)) + example_runs(o.arch)))
    if o.seed is not None:
        random.Random(o.seed).shuffle(runs)
    runs = [r for r in runs if o.only in r[0]]
    found = read_log(log, head)
    shard, shards = map(int, o.shard.split("/"))
    for run, tag in runs[shard::shards] if shards else []:
        if found.get(run, "-")[0] in ("ok", "refused"):
            continue
        begin = time.time()
        came, message = judge(tl, o.arch, run, tag, o.seconds, o.text)
        with open(log, "a") as f:
            f.write("%s\t%s\t%.1f\t%s\n" % (came, run, time.time() - begin, re.sub(r"\s+", " ", message)[:600]))
    sys.exit(1 if count(read_log(log, head), runs) else 0)


if __name__ == "__main__":
    main()
