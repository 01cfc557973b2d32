"""How well the model ranks what bench/tune/measure.py timed.

TIMES is bench/tune/h200.txt, or what measure.py wrote.

    judge.py TIMES …                        the model as it is, each kernel and shape by itself
    judge.py --calibrate TIMES …            fit it to the rows that say "calibrate", and judge by all; prints the figures
    judge.py --apart TIMES …                each kernel by a model that is fitted to the other kernels' rows that say "calibrate"
    judge.py --tiles test/tiles/h200.txt    GEMMs by examples/gemm.py: how much slower than the best tile of a shape the
                                            model's first is, of a hundred shapes; `build/unit tiles` says it of recommend_gemm

Kernels are lowered here, and what is counted of them is kept in a file of the temporary folder, which --kept takes instead; no
GPU is needed."""
import importlib.util
import json
import math
import os
import random
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
TARGET = "cuda -arch=sm_90a"


def rows_of(path):
    """[{kernel, which, args, config, ms}] of what ran, of measure.py's file or the text that is kept of one."""
    with open(path) as f:
        if path.endswith(".json"):
            return [r for r in json.load(f) if "ms" in r]
        lines = [line.split() for line in f if not line.startswith("#")]
    rows = []
    for words in lines:
        if words[0] == "kernel":
            end = [w.endswith(":") for w in words].index(True)
            args = {n: int(v) if v.isdigit() else v == "True" for n, v in (w.rstrip(":").split("=") for w in words[3:end + 1])}
            about, names = dict(kernel=words[1], which=words[2], args=args), words[end + 1:]
        else:
            rows.append(dict(about, config=dict(zip(names, map(int, words))), ms=float(words[-1])))
    return rows


def groups(files):
    """{(kernel, which): [(facts, ms, config)]} of what ran."""
    import kernels
    from tilelang.tune import model

    rows = [r for f in files for r in rows_of(f)]
    known, kept = {}, os.path.join(tempfile.gettempdir(), os.path.basename(files[0]) + ".facts")
    if "--kept" in sys.argv and os.path.exists(kept):
        known = json.load(open(kept))

    def facts(r):
        key = json.dumps([r["kernel"], r["args"], r["config"]], sort_keys=True)
        if key not in known:
            fn = kernels.KERNELS[r["kernel"]][0]
            known[key] = model.facts_of(fn.lowered(TARGET, **r["args"], **r["config"]))
        return known[key]

    with ThreadPoolExecutor(2) as pool:
        all_facts = list(pool.map(facts, rows))
    with open(kept, "w") as f:
        json.dump(known, f)
    out = {}
    for r, f in zip(rows, all_facts):
        out.setdefault((r["kernel"], r["which"]), []).append((f, r["ms"], r["config"]))
    return out


def tell(found, machine, coefficients=None):
    from tilelang.tune import model

    for which in ("calibrate", "judge"):
        rhos = []
        for (name, w), rows in found.items():
            if w != which:
                continue
            rho, lost = model.judge([(f, ms) for f, ms, _ in rows], machine, coefficients)
            rhos.append(rho)
            print("%-18s %-9s %3d points  Spearman %5.2f  best of the first 8: %.3f of the best" % (name, which, len(rows),
                                                                                             rho, lost))
        if rhos:
            print("%s: median %.3f, least %.3f" % (which, sorted(rhos)[len(rhos) // 2], min(rhos)))


def tell_apart(found, machine):
    from tilelang.tune import model

    rhos, losts = [], []
    for (name, which), rows in found.items():
        if which != "judge":
            continue
        others = [[(f, ms) for f, ms, _ in some] for (n, w), some in found.items() if w == "calibrate" and n != name]
        c, _ = model.calibrate(others, machine, rounds=4)
        rho, lost = model.judge([(f, ms) for f, ms, _ in rows], machine, c)
        rhos.append(rho)
        losts.append(lost)
        print("%-18s not seen  %3d points  Spearman %5.2f  best of the first 8: %.3f of the best" % (name, len(rows), rho, lost),
              flush=True)
    print("not seen: median %.3f, least %.3f; best of the first 8 at worst %.3f" % (sorted(rhos)[len(rhos) // 2], min(rhos),
                                                                              max(losts)))


# ---- tiles that an H200 timed ----------------------------------------------------------------------


def shapes_of(path):
    """[((M, N, K), order, [(tile, us)])]"""
    shapes = []
    with open(path) as f:
        for line in f:
            words = line.split()
            if line.startswith("shape"):
                shapes.append((tuple(map(int, words[1:4])), words[4], []))
            elif line[:1].isdigit():
                shapes[-1][2].append((tuple(map(int, words[:6])), float(words[6])))
    random.Random(3).shuffle(shapes)
    return shapes


def judge_tiles(path, machine, most=100):
    from tilelang.tune import model

    where = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/gemm.py")
    spec = importlib.util.spec_from_file_location("products", where)
    products = sys.modules["products"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(products)
    lost, rhos = [], []
    for (M, N, K), order, rows in shapes_of(path)[:most]:
        said = []
        for (m, n, k, split, swap, widen), us in rows:
            try:
                kernel = getattr(products, "gemm_nt" if order == "NT" else "gemm").lowered(
                    TARGET, M=M, N=N, K=K, dtype="bfloat16", block_M=m, block_N=n, block_K=k, split=split, swap=bool(swap),
                    widen=widen, num_stages=4, threads=128 if m * n <= 128 * 128 else 256)
            except Exception:
                continue  # with other stages it was timed; these are too many for it
            said.append((model.milliseconds(model.facts_of(kernel), machine), us))
        if len(said) >= 4:
            lost.append(math.log(min(said)[1] / min(us for _, us in rows)))
            rhos.append(model.spearman(*zip(*said)))
    n = len(lost)
    print("%d shapes: the model's first tile is %.1f %% slower than the best in the geometric mean, at worst %.2f times; rank "
          "correlation %.2f in the median" % (n, (math.exp(sum(lost) / n) - 1) * 100, math.exp(max(lost)), sorted(rhos)[n // 2]))


def main(words):
    from tilelang.tune import model

    warnings.simplefilter("ignore")
    if words[:1] == ["--tiles"]:
        judge_tiles(words[1], model.machine_of(TARGET))
        return
    fit = "--calibrate" in words
    found = groups([w for w in words if not w.startswith("--")])
    machine = model.machine_of(TARGET)
    tell(found, machine)
    if "--apart" in words:
        tell_apart(found, machine)
    if fit:
        some = [[(f, ms) for f, ms, _ in rows] for (_, which), rows in found.items() if which == "calibrate"]
        c, loss = model.calibrate(some, machine)
        print({n: float("%.3g" % v) for n, v in c.items()}, "loss %.4f" % loss)
        tell(found, machine, c)


if __name__ == "__main__":
    main(sys.argv[1:])
