"""The table, CSV and page of bench-original.

    python3 bench/original/report.py OURS.jsonl THEIRS.jsonl OUT
"""
import csv
import html
import json
import math
import os
import statistics
import sys

FIELDS = ["ratio", "script", "kernel", "ours_us", "theirs_us", "spread", "registers", "their_registers", "spills",
          "shared", "their_shared", "occupancy", "their_occupancy"]


def pairs(ours, theirs):
    """Kernels of both sides by script and shapes, and those of which the other side has none."""
    other, rows, single = {r["script"]: r for r in theirs}, [], []
    for r in ours:
        mine, free = r["kernels"], list(other.get(r["script"], {"kernels": []})["kernels"])
        same_count = len(mine) == len(free)
        for i, k in enumerate(mine):
            j = next((j for j, m in enumerate(free) if m and m["shapes"] == k["shapes"] and (not same_count or i == j)), None)
            if j is None or not k.get("us") or not free[j].get("us"):
                single.append((r["script"], k["name"]))
                continue
            rows.append(row_of(r["script"], k, free[j]))
            free[j] = None
        single += [(r["script"], m["name"]) for m in free if m and not same_count]
    rows.sort(key=lambda x: x["ratio"])
    return rows, single


def row_of(script, k, m):
    return {"ratio": m["us"] / k["us"], "script": script, "kernel": k["name"], "ours_us": k["us"], "theirs_us": m["us"],
            "spread": max(k.get("spread", 0), m.get("spread", 0)), "registers": k.get("registers"),
            "their_registers": m.get("registers"), "spills": k.get("spills"), "shared": k.get("shared"),
            "their_shared": m.get("shared"), "occupancy": k.get("occupancy"), "their_occupancy": m.get("occupancy")}


def summary(rows, ours, theirs):
    """Lines of text: the bars of the comparison."""
    if not rows:
        return ["no kernel could be compared"]
    mean = math.exp(sum(math.log(r["ratio"]) for r in rows) / len(rows))
    behind = [r for r in rows if r["ratio"] < 0.95 and r["ours_us"] - r["theirs_us"] > 0.5 and 1 / r["ratio"] - 1 > r["spread"]]
    lines = ["%d kernels: geometric mean %.3f of the original's speed, least %.2f" % (len(rows), mean, rows[0]["ratio"]),
             "%.0f %% at 1.00 or better; %d under 0.95 by more than 0.5 us and the spread"
             % (100 * sum(r["ratio"] >= 0.995 for r in rows) / len(rows), len(behind))]
    compiled = [(sum(a["compiles"]), sum(b["compiles"])) for a, b in by_script(ours, theirs) if a["compiles"] and b["compiles"]]
    ratios = sorted(a / b for a, b in compiled if b)
    if ratios:
        lines.append("compile time by script: median %.2f of the original's, most %.2f" % (statistics.median(ratios), ratios[-1]))
    return lines


def by_script(ours, theirs):
    other = {r["script"]: r for r in theirs}
    return [(r, other[r["script"]]) for r in ours if r["script"] in other]


def number(x, form="%d"):
    return "-" if x is None else form % x


def table(rows):
    yield "%6s  %-58s %-30s %10s %10s %9s %6s %11s %9s" % (
        "ratio", "script", "kernel", "ours us", "theirs us", "registers", "spills", "shared", "occupancy")
    for r in rows:
        yield "%6.2f  %-58s %-30s %10.2f %10.2f %4s/%-4s %6s %5s/%-5s %4s/%-4s" % (
            r["ratio"], r["script"], r["kernel"][:30], r["ours_us"], r["theirs_us"], number(r["registers"]),
            number(r["their_registers"]), number(r["spills"]), number(r["shared"]), number(r["their_shared"]),
            number(r["occupancy"]), number(r["their_occupancy"]))


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Beside the original</title>
<style>
:root{--page:#fcfcfb;--ink:#1a1c1f;--soft:#63676e;--line:#e3e3df;--good:#2a5bd7;--bad:#c8752d}
@media (prefers-color-scheme:dark){:root{--page:#131518;--ink:#e8e8e6;--soft:#9a9fa8;--line:#2b2f35;--good:#7da2ff;--bad:#e0964f}}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:66rem;margin:0 auto;padding:2.5rem 1.2rem 4rem}h1{font-size:1.7rem;margin:0 0 .5rem}p{margin:.2rem 0;color:var(--soft)}
.wide{overflow-x:auto;margin-top:1.4rem}svg{display:block;width:100%%;min-width:46rem;height:auto}
svg text{font:11px ui-sans-serif,system-ui,sans-serif;fill:var(--ink);font-variant-numeric:tabular-nums}svg .s{fill:var(--soft)}
svg .e{text-anchor:end}svg line{stroke:var(--line)}svg line.one{stroke:var(--soft)}.good{fill:var(--good)}.bad{fill:var(--bad)}
</style><main><h1>Kernels of the original's examples</h1>
%s
<div class="wide">%s</div></main></html>
"""


def picture(rows):
    """Bars from 1.0 outwards, on a logarithmic scale, the slowest first."""
    row, left, width, top = 17, 400, 900, 30
    least = min([0.25] + [r["ratio"] for r in rows])
    most = max([4.0] + [r["ratio"] for r in rows])
    at = lambda v: left + (width - left - 90) * math.log(v / least) / math.log(most / least)
    height = top + row * len(rows) + 10
    parts = ['<svg viewBox="0 0 %d %d" role="img" aria-label="ratio of speeds by kernel">' % (width, height)]
    for tick in (0.25, 0.5, 1, 2, 4):
        if least <= tick <= most:
            parts.append('<line%s x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="s" x="%.1f" y="%d" text-anchor="middle">%g</text>'
                         % (' class="one"' if tick == 1 else "", at(tick), top - 8, at(tick), height, at(tick), top - 14, tick))
    for i, r in enumerate(rows):
        y, a, b = top + i * row, at(min(1, r["ratio"])), at(max(1, r["ratio"]))
        label = "%s %s" % (os.path.basename(r["script"])[:-3], r["kernel"])
        short = label if len(label) <= 60 else label[:59] + "\u2026"
        parts.append('<text class="e" x="%d" y="%d">%s</text>' % (left - 8, y + 11, html.escape(short)))
        parts.append('<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"><title>%s</title></rect>' % (
            "good" if r["ratio"] >= 1 else "bad", a, y + 2, max(b - a, 1), row - 6,
            html.escape("%s: ours %.2f us, theirs %.2f us" % (label, r["ours_us"], r["theirs_us"]))))
        parts.append('<text x="%.1f" y="%d">%.2f</text>' % (b + 5, y + 11, r["ratio"]))
    return "".join(parts) + "</svg>"


def write(ours, theirs, folder, left=0):
    rows, single = pairs(ours, theirs)
    lines = summary(rows, ours, theirs)
    lines += ["fails only with us: %s: %s" % (a["script"], " ".join(a["error"].split())[-200:])
              for a, b in by_script(ours, theirs) if a["code"] and not b["code"]]
    lines += ["not matched: %s %s" % s for s in single]
    if left:
        lines.append("%d scripts were not run: the deadline had passed" % left)
    print("\n".join(list(table(rows)) + lines))
    with open(os.path.join(folder, "original.csv"), "w", newline="") as f:
        out = csv.DictWriter(f, FIELDS)
        out.writeheader()
        out.writerows({k: round(v, 4) if isinstance(v, float) else v for k, v in r.items()} for r in rows)
    with open(os.path.join(folder, "original.html"), "w") as f:
        f.write(PAGE % ("\n".join("<p>%s</p>" % html.escape(x) for x in lines), picture(rows)))


if __name__ == "__main__":
    write(*([json.loads(line) for line in open(f)] for f in sys.argv[1:3]), sys.argv[3])
