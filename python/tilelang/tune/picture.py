"""A page of one search: time by each parameter, the model beside what was measured, what limits."""

import html

from . import model

STYLE = """
:root { --ink: #1c2430; --faint: #68758a; --line: #d8dee8; --fill: #f5f7fa; --dot: #2463b4;
  --best: #c2410c; --page: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --faint: #93a1b5; --line: #37404d;
  --fill: #1d232c; --dot: #6ea8f0; --best: #fb923c; --page: #14181e; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem; }
h1 { font-size: 1.35rem; margin: 0; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p { margin: .3rem 0; } .faint { color: var(--faint); }
.plots { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); }
figure { margin: 0; background: var(--fill); border: 1px solid var(--line); border-radius: 6px;
  padding: .5rem; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--faint); font-size: 11px; }
.dot { fill: var(--dot); fill-opacity: .55; } .best { fill: var(--best); }
.axis { stroke: var(--line); } .bar { fill: var(--dot); }
.limits svg { max-width: 44rem; } .wide { overflow-x: auto; } table { border-collapse: collapse; min-width: 100%; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; } th { font-weight: 600; } td.text, th.text { text-align: left; }
tr.first td { color: var(--best); font-weight: 600; }
"""
W, H, LEFT, RIGHT, TOP, BOTTOM = 340, 200, 52, 10, 10, 26


def _ticks(low, high):
    import math

    if high <= low:
        return [low]
    out, at = [], 10 ** math.floor(math.log10(low))
    while at <= high * 1.001:
        for by in (1, 2, 5):
            if low * 0.999 <= at * by <= high * 1.001:
                out.append(at * by)
        at *= 10
    return out[:: max(1, len(out) // 5)] if len(out) > 1 else [low, high]


def _scale(values, start, end):
    """Logarithmic; a function of a value, and ticks."""
    import math

    low, high = min(values), max(values)
    span = math.log(high / low) or 1.0
    return lambda v: start + (math.log(v / low) / span) * (end - start), _ticks(low, high)


def _plot(title, xs, ys, labels, best, names, note):
    """Dots at places xs (numbers from 0 to 1); labels: [(place, text)] under them."""
    y_at, ticks = _scale(ys, H - BOTTOM, TOP)
    x_at = lambda x: LEFT + 8 + x * (W - LEFT - RIGHT - 16)  # noqa: E731
    out = ['<figure><figcaption>%s</figcaption><svg viewBox="0 0 %d %d" role="img" aria-label="%s">'
           % (html.escape(title), W, H, html.escape(note))]
    for t in ticks:
        y = y_at(t)
        out.append('<line class="axis" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" '
                   'text-anchor="end">%s</text>' % (LEFT, W - RIGHT, y, y, LEFT - 6, y + 4,
                                                   "%.3g" % t))
    for place, text in labels:
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>'
                   % (x_at(place), H - 8, html.escape(text)))
    for i, (x, y) in enumerate(zip(xs, ys)):
        out.append('<circle class="%s" cx="%.1f" cy="%.1f" r="%s"><title>%s</title></circle>'
                   % ("best" if i == best else "dot", x_at(x), y_at(y), 5 if i == best else 3.5,
                      html.escape(names[i])))
    return "".join(out) + "</svg></figure>"


def _by_parameter(name, fine, best):
    values = []
    for p in fine:
        if p.config.get(name) not in values:
            values.append(p.config.get(name))
    if len(values) < 2:
        return ""
    if all(isinstance(v, (int, float)) for v in values):
        values.sort()
    spread = 0.5 / len(values)
    xs, seen = [], {}
    for p in fine:  # dots of one value stand side by side
        at = values.index(p.config.get(name))
        seen[at] = seen.get(at, 0) + 1
        xs.append((at + 0.5) / len(values) + spread * ((seen[at] * 0.618 % 1) - 0.5))
    labels = [((i + 0.5) / len(values), str(v)) for i, v in enumerate(values)]
    return _plot(name, xs, [p.ms for p in fine], labels, best, [_name(p) for p in fine],
                 "milliseconds by %s" % name)


def _name(p):
    return "%.4f ms: %s" % (p.ms, " ".join("%s=%s" % row for row in p.config.items()))


def _against_model(fine, best):
    some = [p for p in fine if p.said]
    if len(some) < 2:
        return ""
    x_at, ticks = _scale([p.said for p in some], 0, 1)
    rho = model.spearman([p.said for p in some], [p.ms for p in some])
    return _plot("what the model expected, ms (rank correlation %.2f)" % rho,
                 [x_at(p.said) for p in some], [p.ms for p in some],
                 [(x_at(t), "%.3g" % t) for t in ticks], some.index(fine[best]), [_name(p) for p in some],
                 "measured milliseconds by expected ones")


UNITS = {"mma": "matrix units", "cache": "second cache", "shared": "shared memory", "sectors": "first cache",
         "spill": "registers that spill", "issue": "instructions", "special": "exp2, quotients, …",
         "lanes": "operations of threads", "flight": "loads in flight"}


def _limits(point, machine):
    """Where the limit of the best lies, by the model."""
    if not point.facts:
        return ""
    by, waits, waves, active, registers = model.parts(point.facts, machine)
    rows = [(name, by[key]) for key, name in UNITS.items() if key in by] + [("one wait after the other", waits)]
    most = max(v for _, v in rows) or 1
    out = ['<svg viewBox="0 0 640 %d" role="img" aria-label="clocks of a block by what it waits for">'
           % (len(rows) * 24 + 4)]
    for i, (name, clocks) in enumerate(rows):
        y = 4 + i * 24
        out.append('<text x="190" y="%d" text-anchor="end">%s</text><rect class="%s" x="200" y="%d" '
                   'width="%.1f" height="16" rx="2"/><text x="%.1f" y="%d">%s</text>'
                   % (y + 12, name, "best" if clocks == most else "bar", y, 320 * clocks / most,
                      206 + 320 * clocks / most, y + 12, "{:,.0f} clocks".format(clocks)))
    return "".join(out) + "</svg><p class=faint>%.3g waves of %.3g blocks to a multiprocessor; about %d " \
        "registers a thread. Of the best configuration, by the model.</p>" % (waves, active, registers)


def _table(points, names):
    head = "".join("<th class=text>%s</th>" % html.escape(n) for n in names)
    out = ["<div class=wide><table><tr><th>ms</th><th>of the best</th><th>expected</th><th>runs</th>%s"
           "</tr>" % head]
    for i, p in enumerate(points):
        out.append("<tr%s><td>%.4f</td><td>%.2f</td><td>%s</td><td>%d</td>%s</tr>" % (
            " class=first" if i == 0 else "", p.ms, p.ms / points[0].ms,
            "%.4f" % p.said if p.said else "", len(p.samples),
            "".join("<td class=text>%s</td>" % html.escape(str(p.config.get(n))) for n in names)))
    return "".join(out) + "</table></div>"


def page(search):
    fine = [p for p in search.points if p.state == "ok"]
    names = list(dict.fromkeys(n for p in search.points for n in p.config))
    title = "%s(%s)" % (search.impl.__name__, ", ".join("%s=%s" % r for r in search.args.items()))
    out = ["<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
           "content='width=device-width, initial-scale=1'><title>%s</title><style>%s</style><h1>%s</h1>"
           % (html.escape(title), STYLE, html.escape(title))]
    out.append("<p class=faint>%s; %s. %d points, %d legal, %d measured.</p>" % (
        html.escape(search.target), html.escape(getattr(search, "where", "")), search.of_all,
        len(search.points), len(fine)))
    if fine:
        best = fine.index(search.best)
        out.append("<p>Best: <b>%s</b></p>" % html.escape(_name(search.best)))
        out.append("<h2>Time by parameter, ms</h2><div class=plots>%s%s</div>" % (
            "".join(_by_parameter(n, fine, best) for n in names), _against_model(fine, best)))
        out.append("<h2>Where the limit lies</h2><div class=limits>%s</div>"
                   % _limits(search.best, search.machine))
        ordered = [search.best] + sorted((p for p in fine if p is not search.best), key=lambda p: p.ms)
        out.append("<h2>The fastest</h2>" + _table(ordered[:20], names))
    rows = sorted(search.dropped.items(), key=lambda row: -row[1])
    if rows:
        out.append("<h2>Dropped before anything was compiled</h2><div class=wide><table>%s</table></div>"
                   % "".join("<tr><td>%d</td><td class=text>%s</td></tr>" % (n, html.escape(r))
                             for r, n in rows))
    bad = [p for p in search.points if p.state not in (None, "ok")]
    if bad:
        out.append("<h2>Did not run</h2><div class=wide><table>%s</table></div>" % "".join(
            "<tr><td class=text>%s</td><td class=text>%s</td></tr>" % (
                html.escape("%s: %s" % (p.state, p.reason)), html.escape(str(p.config))) for p in bad[:50]))
    return "\n".join(out)

