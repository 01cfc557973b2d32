"""The IR between the passes of one compilation, TILELANG_PASS_DIFF and TL_LOWER_TRACE; and the time
of each, TILELANG_PASS_PROFILE.  The pass configs for the same are the compiler's."""

import difflib
import html
import os
import re
import sys

from ..env import env

_MODES = {"": None, "0": None, "off": None, "false": None, "terminal": "terminal", "html": "html",
          "both": "both"}


def _mode(variable, plain):
    word = str(getattr(env, variable)).lower()
    if word in ("1", "on", "true"):
        return plain
    if word not in _MODES:
        raise ValueError("%s is terminal, html or both, not %r" % (variable, word))
    return _MODES[word]


def _is_on(word):
    return str(word or "0").lower() not in ("0", "false", "off", "")


def wanted():
    """Whether the IR after every pass has to be kept."""
    return bool(_mode("TILELANG_PASS_DIFF", "terminal") or _mode("TL_LOWER_TRACE", "html"))


def asked():
    """Whether there is anything to show; quick, since every compilation asks."""
    return wanted() or _is_on(env.TILELANG_PASS_PROFILE)


def parts(text):
    """[(pass, kernel, IR)] of a dump; what a pass left as it was is not in there."""
    found = re.split(r"^# after (\w+) of (\w+)( \(unchanged\))?\n", text, flags=re.M)
    return [(found[i], found[i + 1], found[i + 3]) for i in range(1, len(found), 4)
            if found[i + 3].strip()]


def _differences(steps):
    """[(pass, kernel, lines of a unified difference)]"""
    before, out = {}, []
    for name, kernel, text in steps:
        lines = text.splitlines()
        if kernel in before:
            was, old = before[kernel]
            diff = list(difflib.unified_diff(old, lines, was, name, lineterm="", n=3))
            if diff:
                out.append((name, kernel, diff))
        before[kernel] = name, lines
    return out


def _page(title, sections):
    """One page that needs nothing else: a section for each pass, lines coloured by their sign."""
    out = ["<!doctype html><meta charset=utf-8><title>%s</title>" % html.escape(title),
           "<style>body{font:13px monospace;margin:2em}pre{margin:0}.a{background:#dfd}"
           ".d{background:#fdd}.h{color:#66a}summary{font-weight:bold;cursor:pointer}</style>",
           "<h1>%s</h1>" % html.escape(title)]
    for name, kernel, lines in sections:
        out.append("<details><summary>%s of %s</summary>" % (html.escape(name),
                                                             html.escape(kernel)))
        for line in lines:
            sign = {"+": " class=a", "-": " class=d", "@": " class=h"}.get(line[:1], "")
            out.append("<pre%s>%s</pre>" % (sign, html.escape(line)))
        out.append("</details>")
    return "\n".join(out) + "\n"


def _write(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)


def _times(core):
    least = float(env.TILELANG_PASS_PROFILE_THRESHOLD_MS or 0)
    for line in core.text("time").splitlines():
        if float(line.split()[0]) >= least:
            yield line


def show(core, name):
    """What was asked for, of a kernel just compiled."""
    steps = parts(core.text("dump")) if wanted() else []
    mode = _mode("TILELANG_PASS_DIFF", "terminal")
    if mode:
        found = _differences(steps)
        if mode != "html":
            for _, _, lines in found:
                print("\n".join(lines), file=sys.stderr)
        if mode != "terminal":
            _write(env.TILELANG_PASS_DIFF_OUTPUT, name + ".html", _page(name, found))
    mode = _mode("TL_LOWER_TRACE", "html")
    if mode:
        if mode != "html":
            for step, kernel, text in steps:
                print("# after %s of %s\n%s" % (step, kernel, text), file=sys.stderr)
        if mode != "terminal":
            rows = [(s, k, text.splitlines()) for s, k, text in steps]
            _write(env.TL_LOWER_TRACE_DIR, name + ".html", _page(name, rows))
    if _is_on(env.TILELANG_PASS_PROFILE):
        print("%s:\n%s" % (name, "\n".join(_times(core))), file=sys.stderr)
