"""tl tune: search, and look into the library."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import json
import os
import signal
import sqlite3
import sys
import time

from .library import Library, LibraryError, NoExport, default_path
from .search import NoDevice, Search
from .space import Space, plain

USAGE = """tl tune FILE[:FUNC] [NAME=VALUE …] [OPTIONS]     search for the fastest configuration
       tl tune FILE … --serve HOST:PORT               the same by workers, who are started as
       tl tune FILE … --worker HOST:PORT              with the same words, on any machine
       tl tune list                                   problems of the library, with the best of each
       tl tune show ID                                trials of one
       tl tune export FILE.json | import FILE.json | merge OTHER.db
       tl tune why FILE[:FUNC] [NAME=VALUE …]         what is known for these sizes, or for near ones
"""
OK, USER, USAGE_WRONG, MACHINE, INTERRUPTED = 0, 1, 2, 3, 130


class Refused(Exception):
    """With a sentence for the user."""


def _count(text):
    n = int(text)
    if n < 1:
        raise argparse.ArgumentTypeError("%s is not above 0" % text)
    return n


def _positive(text):
    v = float(text)
    if not 0 < v < float("inf"):
        raise argparse.ArgumentTypeError("%s is not above 0" % text)
    return v


def _parser():
    p = argparse.ArgumentParser(prog="tl tune", usage=USAGE, description="FUNC stands under "
                                "@tilelang.jit; a space is that of @tilelang.autotune, or given here.")
    p.add_argument("words", nargs="*", metavar="FILE[:FUNC] NAME=VALUE", help=argparse.SUPPRESS)
    p.add_argument("--space", action="append", default=[], metavar="NAME=VALUES",
                   help="64,128 or 2..4 or 64..256:64; once for each name")
    p.add_argument("--where", action="append", default=[], metavar="EXPR",
                   help="a condition that points must meet: 'block_M * block_N <= 32768'")
    p.add_argument("--target", "-t", help="cuda, 'cuda -arch=sm_90a', cpu, …; the best one here")
    p.add_argument("--trials", type=_count, default=48, help="points that are measured at most (48)")
    p.add_argument("--time", type=_positive, metavar="SECONDS", help="end the search after so long")
    p.add_argument("--jobs", "-j", type=_count, help="compilers at a time")
    p.add_argument("--limit", type=_positive, default=60, metavar="SECONDS", help="for one point (60)")
    p.add_argument("--baseline", type=_positive, metavar="MS", help="stop as soon as a point is so fast")
    p.add_argument("--again", action="store_true", help="measure what the library knows once more")
    p.add_argument("--rank", action="store_true", help="only the model's order: nothing is compiled")
    p.add_argument("--library", metavar="FILE", help="the library; $TILELANG_TUNE_LIBRARY, else "
                   "tune.db in the cache's folder")
    p.add_argument("--html", metavar="FILE", help="write a picture of the search")
    p.add_argument("--serve", metavar="HOST:PORT", help="lease trials to workers instead of running them")
    p.add_argument("--worker", metavar="HOST:PORT", help="run trials of a search that is served there")
    p.add_argument("--json", action="store_true", help="print the result as JSON")
    return p


# ---- what is tuned --------------------------------------------------------------------------------


def _load(word):
    """The function of FILE[:FUNC], and its space or None."""
    from ..autotuner import AutoTuneImpl
    from ..jit import JITImpl

    path, colon, name = word.rpartition(":")
    if not colon or os.path.exists(word):
        path, name = word, ""
    if not os.path.exists(path):
        raise Refused("cannot open %s: No such file or directory%s" % (
            path, "" if os.path.splitext(path)[1] else "; nor is it one of " + ", ".join(VERBS)))
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    loader = importlib.machinery.SourceFileLoader("tuned_file", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tuned_file", loader))
    sys.modules["tuned_file"] = module
    try:
        loader.exec_module(module)
    except Exception as why:
        import traceback

        traceback.print_exc()
        raise Refused("%s cannot be loaded: %s: %s" % (path, type(why).__name__, why)) from None
    found = {n: f for n, f in vars(module).items() if isinstance(f, (JITImpl, AutoTuneImpl))
             and f.__wrapped__.__module__ == "tuned_file"}
    if name and name not in found:
        raise Refused("%s has no function %r under @tilelang.jit; it has %s"
                      % (path, name, ", ".join(found) or "none"))
    if not found:
        raise Refused("%s has no function under @tilelang.jit" % path)
    fn = found[name] if name else list(found.values())[-1]
    space = getattr(module, "space", None)
    if isinstance(fn, AutoTuneImpl):
        return fn.jit_impl, fn.configs
    return fn, space if isinstance(space, Space) else None


def _arguments(words):
    args = {}
    for word in words:
        name, equal, text = word.partition("=")
        if not equal or not name.isidentifier():
            raise Refused("%r is neither an option nor NAME=VALUE" % word)
        args[name] = plain(text)
    return args


def _fixed(space, args):
    """A value that is given for a name of the space leaves the points that have it."""
    configs = [] if isinstance(space, Space) or callable(space) else [dict(c) for c in space]
    names = space.values if isinstance(space, Space) else {n for c in configs for n in c}
    given = {n: v for n, v in args.items() if n in names}
    rest = {n: v for n, v in args.items() if n not in names}
    if not given:
        return space, args
    if isinstance(space, Space):
        return space.narrowed(**{n: [v] for n, v in given.items()}), rest
    left = [c for c in configs if all(c.get(n, v) == v for n, v in given.items())]
    if not left:
        raise Refused("no configuration has %s" % text_of(given))
    return [{**c, **given} for c in left], rest


def _search(o, library, words, progress=None):
    if not words:
        raise Refused("which FILE?")
    fn, space = _load(words[0])
    args = _arguments(words[1:])
    if o.space:
        space = Space.parse(o.space, o.where)
    elif o.where and isinstance(space, Space):
        space = space.narrowed(o.where)
    elif o.where:
        raise Refused("--where needs a space: --space, or a Space in the file")
    if space is None:
        raise Refused("%s has no space: stand it under @tilelang.autotune(configs=…), define `space` "
                      "in the file, or say --space NAME=VALUES" % fn.__name__)
    space, args = _fixed(space, args)
    names = list(space.values) if isinstance(space, Space) else []
    unknown = [n for n in list(args) + names if n not in fn.signature.parameters and not fn._eager]
    if unknown:
        raise Refused("%s has no parameter %r; it has %s"
                      % (fn.__name__, unknown[0], ", ".join(fn.signature.parameters)))
    kind = Search
    if o.serve:
        from .work import Owner as kind
    return kind(fn, args, space, library, o.target, o.trials, o.time, o.jobs, o.limit, o.baseline,
                o.again, progress)


# ---- searching ------------------------------------------------------------------------------------


class _Bar:
    """A line on a terminal: how far, the best so far, rate, time left."""

    def __init__(self):
        self.shown = sys.stderr.isatty()
        self.begin, self.done = time.monotonic(), 0

    def __call__(self, search):
        self.done += 1
        if not self.shown:
            return
        spent = time.monotonic() - self.begin
        rate = self.done / max(spent, 1e-3)
        total = self.done + search.todo
        width = 24 * self.done // max(total, 1)
        best = "%.4g ms" % search.best.ms if search.best else "none yet"
        sys.stderr.write("\r[%s%s] %d/%d  best %s  %.1f a second  %.0f s left\033[K" % (
            "#" * width, " " * (24 - width), self.done, total, best, rate, search.todo / rate))
        sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def text_of(config):
    return " ".join("%s=%s" % row for row in config.items())


def _tell(search, o):
    kept = len(search.points)
    print("%s(%s) for %s: %d points, %d legal" % (search.impl.__name__, text_of(search.args),
                                                  search.target, search.of_all, kept))
    for reason, n in sorted(search.dropped.items(), key=lambda row: -row[1]):
        print("  %5d dropped: %s" % (n, reason))
    if o.rank:
        for p in search.points[:o.trials]:
            print("  %s ms expected  %s" % ("%10.4f" % p.said if p.said else "%10s" % "?", text_of(p.config)))
        return
    bad = {}
    for p in search.points:
        if p.state not in (None, "ok"):
            bad.setdefault((p.state, p.reason), []).append(p)
    print("  %5d measured now, %d known before" % (search.measured, search.resumed))
    for (state, reason), some in sorted(bad.items(), key=lambda row: -len(row[1])):
        print("  %5d %s: %s" % (len(some), state, reason))
    if search.stopped:
        print("stopped: %s; what was measured is kept" % search.stopped)
    if search.lost:
        print("the library cannot be written, and %d rows are not kept: %s"
              % (len(search.unwritten), search.lost))
    if search.best is not None:
        print("best: %.4f ms  %s" % (search.best.ms, text_of(search.best.config)))
        if search.agreed():
            print("VERIFY: PASS")
        flops = (search.best.facts or {}).get("flops", 0)
        print("TFLOPS: %.4f time_ms: %.4f" % (flops / search.best.ms * 1e-9, search.best.ms))
    else:
        print("no configuration ran%s" % ("; `tl tune show %s` says why" % search.problem if bad else ""))


def _as_json(search):
    return {"kernel": search.impl.__name__, "args": search.args, "target": search.target,
            "machine": getattr(search, "where", None), "points": search.of_all,
            "dropped": search.dropped, "measured": search.measured, "known": search.resumed,
            "stopped": search.stopped, "lost": search.lost, "unwritten": len(search.unwritten),
            "verify": "PASS" if search.best and search.agreed() else None,
            "best": search.best.row() if search.best else None,
            "trials": [p.row() for p in search.points]}


def _work(o):
    from . import work

    search = _search(o, None, o.words)
    try:
        done = work.worker(search, work.address_of(o.worker), say=lambda text: print(text, flush=True))
    except work.Refused as why:
        raise Refused(str(why)) from None
    print("%d trials" % done)
    return OK


def _tune(o):
    if o.worker:
        return _work(o)
    bar = _Bar()
    with Library(o.library) as library:
        search = _search(o, library, o.words, bar)
        if o.serve:
            from .work import address_of

            print("serving on %s:%d" % search.listen(*address_of(o.serve)), file=sys.stderr, flush=True)
        if o.rank:
            search.prepare()
        else:
            try:
                search.run()
            finally:
                bar.end()
        if o.json:
            print(json.dumps(_as_json(search), default=str))
        else:
            _tell(search, o)
        if o.html:
            from .picture import page

            _write(o.html, page(search))
            if not o.json:
                print("%s: a picture of the search" % o.html)
    if search.stopped == "interrupted":
        return INTERRUPTED
    if search.lost:
        return MACHINE
    return OK if o.rank or search.best is not None else USER


# ---- the library ----------------------------------------------------------------------------------


def _list(o):
    with Library(o.library, create=False) as library:
        rows = library.problems()
        if o.json:
            print(json.dumps(rows))
            return OK
        for p in rows:
            best = library.best(p["id"])
            print("%4d  %-16s %-40s %s  %d trials%s" % (
                p["id"], p["kernel"], text_of(p["args"]), p["machine"], p["trials"],
                "  best %.4f ms  %s" % (best["ms"], text_of(best["config"])) if best else ""))
        print("%d problems in %s" % (len(rows), library.path))
    return OK


def _show(o):
    if len(o.words) != 2 or not o.words[1].isdigit():
        raise Refused("tl tune show takes the number of a problem, which tl tune list shows")
    with Library(o.library, create=False) as library:
        found = [p for p in library.problems() if p["id"] == int(o.words[1])]
        if not found:
            raise Refused("the library %s has no problem %s" % (library.path, o.words[1]))
        p, trials = found[0], library.by_config(int(o.words[1]))
        if o.json:
            print(json.dumps({**p, "trials": trials}))
            return OK
        print("%s(%s)\n  dtypes %s\n  on %s, driver %s, compiler %s" % (
            p["kernel"], text_of(p["args"]), ", ".join(p["dtypes"]), p["machine"],
            p["driver"] or "none", p["compiler"]))
        for t in trials:
            what = "%10.4f ms (%d)" % (t["ms"], len(t["samples"])) if t["state"] == "ok" else \
                "%10s" % t["state"]
            print("  %-20s %s%s" % (what, text_of(t["config"]),
                                    "  -- " + t["reason"] if t["reason"] else ""))
    return OK


def _write(path, text):
    """All of it or nothing; an older file stays until then."""
    part = "%s.%d" % (path, os.getpid())
    try:
        with open(part, "w", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, path)
    except OSError as why:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise LibraryError("cannot write %s: %s" % (path, why.strerror)) from None


def _export(o):
    if len(o.words) != 2:
        raise Refused("tl tune export takes the FILE to write")
    with Library(o.library, create=False) as library:
        data = library.export()
    _write(o.words[1], json.dumps(data, indent=1))
    print("%s: %d problems" % (o.words[1], len(data["problems"])))
    return OK


def _take(o, data):
    with Library(o.library) as library:
        problems, new = library.take(data)
    print("%d problems, %d new trials" % (problems, new))
    return OK


def _import(o):
    if len(o.words) != 2:
        raise Refused("tl tune import takes the FILE of an export")
    try:
        with open(o.words[1]) as f:
            data = json.load(f)
    except ValueError as why:
        raise Refused("%s is no JSON: %s" % (o.words[1], why)) from None
    try:
        return _take(o, data)
    except NoExport as why:
        raise Refused("%s: %s" % (o.words[1], why)) from None


def _merge(o):
    if len(o.words) != 2:
        raise Refused("tl tune merge takes the FILE of another library")
    with Library(o.words[1], create=False) as other:
        data = other.export()
    return _take(o, data)


def _why(o):
    """Which row a call with these arguments would use, or the nearest ones."""
    with Library(o.library, create=False) as library:
        search = _search(o, library, o.words[1:])
        search.prepare()
        number = library.problem(create=False, **search.about)
        own = library.best(number) if number else None
        near = [(far, p) for far, p in library.nearest(search.text, search.where, search.args,
                                                       search.defaults)
                if p["id"] != number]
        out = {"own": own and {"ms": own["ms"], "config": own["config"]}, "near": []}
        for far, p in near[:5]:
            best = library.best(p["id"])
            costs = library.trust(search.text, search.where, best["config"], but=p["id"])
            out["near"].append({"problem": p["id"], "args": p["args"], "distance": far,
                                "config": best["config"], "ms": best["ms"],
                                "cost": [c for c, _ in costs]})
    if o.json:
        print(json.dumps(out))
        return OK
    call = "%s(%s) on %s" % (search.impl.__name__, text_of(search.args), search.where)
    if own:
        print("%s was tuned: %.4f ms with %s" % (call, own["ms"], text_of(own["config"])))
    else:
        print("%s was not tuned" % call)
    for n in out["near"]:
        print("  near (%.2f doublings away): %s: %s" % (n["distance"], text_of(n["args"]) or "defaults",
                                                      text_of(n["config"])))
        if n["cost"]:
            mid = sorted(n["cost"])[len(n["cost"]) // 2]
            print("    to trust it: where it was measured beside it, it took %.2f of the best in the "
                  "median and %.2f at worst (%d shapes)" % (mid, max(n["cost"]), len(n["cost"])))
        else:
            print("    to trust it: nobody knows, it was measured for no other shape")
    if not own and not near:
        print("  and no other shape of this kernel was, on this machine")
    return OK


VERBS = {"list": _list, "show": _show, "export": _export, "import": _import, "merge": _merge,
         "why": _why}


def main(argv):
    parser = _parser()
    try:
        o = parser.parse_args(argv)
    except SystemExit as end:
        return OK if not end.code else USAGE_WRONG
    verb = VERBS.get(o.words[0]) if o.words and not os.path.exists(o.words[0]) else None
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # tl has held it until here
        return (verb or _tune)(o)
    except (Refused, ValueError, TypeError) as why:
        print("tl: error: %s" % why, file=sys.stderr)
        return USER
    except sqlite3.Error as why:
        print("tl: error: the library %s cannot be used: %s" % (o.library or default_path(), why), file=sys.stderr)
        return MACHINE
    except (LibraryError, NoDevice, OSError) as why:
        print("tl: error: %s" % why, file=sys.stderr)
        return MACHINE
    except KeyboardInterrupt:
        return INTERRUPTED
