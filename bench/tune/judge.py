"""How well the model ranks what bench/tune/measure.py timed.

    judge.py TIMES.json …                   the model as it is, each kernel and shape by itself
    judge.py --calibrate TIMES.json …       fit it to the rows that say "calibrate", and judge by all; prints the figures
    judge.py --tiles test/tiles/h200.txt    GEMMs by examples/gemm.py: how much slower than the best tile of a shape the
                                            model's first is, of a hundred shapes; `build/unit tiles` says it of recommend_gemm

Kernels are lowered here; no GPU is needed."""
import importlib.util
import json
import math
import os
import random
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
TARGET = "cuda -arch=sm_90a"


def groups(files):
    """{(kernel, which): [(facts, ms, config)]} of what ran."""
    import kernels
    from tilelang.tune import model

    rows = [r for f in files for r in json.load(open(f)) if "ms" in r]
    known = {}
    if os.path.exists(files[0] + ".facts"):
        known = json.load(open(files[0] + ".facts"))

    def facts(r):
        key = json.dumps([r["kernel"], r["args"], r["config"]], sort_keys=True)
        if key not in known:
            fn = kernels.KERNELS[r["kernel"]][0]
            known[key] = model.facts_of(fn.lowered(TARGET, **r["args"], **r["config"]))
        return known[key]

    with ThreadPoolExecutor(2) as pool:
        all_facts = list(pool.map(facts, rows))
    with open(files[0] + ".facts", "w") as f:
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
    if fit:
        some = [[(f, ms) for f, ms, _ in rows] for (_, which), rows in found.items() if which == "calibrate"]
        c, loss = model.calibrate(some, machine)
        print({n: float("%.3g" % v) for n, v in c.items()}, "loss %.4f" % loss)
        tell(found, machine, c)


if __name__ == "__main__":
    main(sys.argv[1:])
