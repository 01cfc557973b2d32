"""How well the model ranks what bench/tune/measure.py timed.

    judge.py TIMES.json …                   the model as it is, each kernel and shape by itself
    judge.py --calibrate TIMES.json …       fit it to the rows that say "calibrate", and judge by all; prints the figures

Kernels are lowered here; no GPU is needed."""
import json
import os
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


def main(words):
    from tilelang.tune import model

    warnings.simplefilter("ignore")
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
