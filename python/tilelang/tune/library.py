"""The tuning library: what was measured, of which kernel, where.  One SQLite file of plain tables.

    problem   a kernel's text, its arguments, dtypes, the machine, driver and compiler version
    trial     one configuration of a problem: how it ended, milliseconds, what the model said
    sample    every time that was taken

A trial is known by the hash of what it is (`uid`), so a row that comes in twice, by import or merge,
is one row.  Each trial is committed when it ends: what ended before a kill, a power cut or a full disk
is there.  The version of the tables is SQLite's user_version."""

import contextlib
import hashlib
import json
import math
import os
import sqlite3
import time

# Each brings the tables one version on; an older file is brought up to date when it is opened.
STEPS = (
    """
    CREATE TABLE problem (
        id INTEGER PRIMARY KEY, uid TEXT UNIQUE NOT NULL,
        kernel TEXT NOT NULL, text TEXT NOT NULL, args TEXT NOT NULL, dtypes TEXT NOT NULL,
        machine TEXT NOT NULL, target TEXT NOT NULL, driver TEXT NOT NULL, compiler TEXT NOT NULL);
    CREATE TABLE trial (
        id INTEGER PRIMARY KEY, uid TEXT UNIQUE NOT NULL,
        problem INTEGER NOT NULL REFERENCES problem, config TEXT NOT NULL,
        state TEXT NOT NULL, reason TEXT, ms REAL, model REAL, at REAL NOT NULL);
    CREATE TABLE sample (
        trial INTEGER NOT NULL REFERENCES trial, run INTEGER NOT NULL, ms REAL NOT NULL,
        PRIMARY KEY (trial, run)) WITHOUT ROWID;
    """,
    """
    ALTER TABLE trial ADD COLUMN clocks TEXT;
    ALTER TABLE trial ADD COLUMN facts TEXT;
    CREATE INDEX trial_of ON trial (problem, config);
    """,
)
VERSION = len(STEPS)
STATES = ("ok", "refused", "failed", "crashed", "late", "wrong")
_PROBLEM = ("kernel", "text", "args", "dtypes", "machine", "target", "driver", "compiler")
_TRIAL = ("config", "state", "reason", "ms", "model", "at", "clocks", "facts")


class LibraryError(RuntimeError):
    """The file cannot be used; the text says why."""


class NoExport(LibraryError):
    """What is to be imported is none."""


def canonical(thing):
    """JSON that is equal where the things are."""
    return json.dumps(thing, sort_keys=True, separators=(",", ":"), default=str)


def _uid(*parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def default_path():
    """$TILELANG_TUNE_LIBRARY, else tune.db in the cache's folder."""
    from ..autotuner import _store
    from ..env import env

    return env.TILELANG_TUNE_LIBRARY or os.path.join(os.path.dirname(_store()), "tune.db")


class Library:
    def __init__(self, path=None, create=True):
        self.path = path or default_path()
        if not create and not os.path.exists(self.path):
            raise LibraryError("there is no library %s" % self.path)
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
            self.db = sqlite3.connect(self.path, timeout=60, isolation_level=None,
                                      check_same_thread=False)
            self.db.execute("PRAGMA foreign_keys=ON")
            self._bring_up()
        except (sqlite3.Error, OSError) as why:
            raise LibraryError("the library %s cannot be used: %s" % (self.path, why)) from None

    def close(self):
        self.db.close()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()

    @contextlib.contextmanager
    def _change(self):
        """All of it or nothing; one writer at a time, others wait."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.db.execute("ROLLBACK")
            raise

    def _bring_up(self):
        def version():
            return self.db.execute("PRAGMA user_version").fetchone()[0]

        if version() > VERSION:
            raise LibraryError("the library %s is of version %d; this tilelang knows versions up to "
                               "%d: use a newer one, or another file (--library)"
                               % (self.path, version(), VERSION))
        if version() < VERSION:
            with self._change():  # another process may have been first
                if version() == 0 and self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise LibraryError("%s is a database of something else, not a tuning library: name another file (--library)" % self.path)
                for n in range(version(), VERSION):
                    for one in STEPS[n].split(";"):
                        self.db.execute(one)
                self.db.execute("PRAGMA user_version=%d" % VERSION)

    # ---- writing

    def problem(self, create=True, **about):
        """The number of a problem, which is made where it is new; or None."""
        values = [about[n] if isinstance(about[n], str) else canonical(about[n]) for n in _PROBLEM]
        uid = _uid(*values)
        if create:
            with self._change():
                self.db.execute("INSERT OR IGNORE INTO problem (uid, %s) VALUES (?%s)"
                                % (", ".join(_PROBLEM), ", ?" * len(_PROBLEM)), [uid] + values)
        found = self.db.execute("SELECT id FROM problem WHERE uid=?", [uid]).fetchone()
        return found and found[0]

    def add(self, problem, config, state, reason=None, samples=(), model=None, clocks=None,
            facts=None, at=None):
        """A trial that has ended.  Its time is the median of its samples."""
        if state not in STATES:
            raise ValueError("a trial ends as %s, not %r" % (", ".join(STATES), state))
        at, config = at or time.time(), canonical(config)
        owner = self.db.execute("SELECT uid FROM problem WHERE id=?", [problem]).fetchone()[0]
        ms = median(samples)
        uid = _uid(owner, config, state, repr(at), canonical(list(samples)))
        row = [config, state, reason, ms, model, at, canonical(clocks), canonical(facts)]
        with self._change():
            self._put(uid, problem, row, samples)

    def _put(self, uid, problem, row, samples):
        got = self.db.execute("INSERT OR IGNORE INTO trial (uid, problem, %s) VALUES (?, ?%s)"
                              % (", ".join(_TRIAL), ", ?" * len(_TRIAL)), [uid, problem] + row)
        if got.rowcount > 0:
            self.db.executemany("INSERT INTO sample VALUES (?, ?, ?)",
                                [(got.lastrowid, i, ms) for i, ms in enumerate(samples)])
        return got.rowcount > 0

    # ---- reading

    def problems(self, **where):
        """[{id, uid, kernel, …, trials, ok, best}], the newest last."""
        test = " AND ".join("p.%s=?" % n for n in where) or "1"
        names = ("id", "uid") + _PROBLEM
        rows = self.db.execute(
            "SELECT %s, COUNT(t.id), SUM(t.state='ok'), MIN(CASE WHEN t.state='ok' THEN t.ms END)"
            " FROM problem p LEFT JOIN trial t ON t.problem=p.id WHERE %s GROUP BY p.id ORDER BY p.id"
            % (", ".join("p." + n for n in names), test), list(where.values()))
        out = [dict(zip(names + ("trials", "ok", "best"), row)) for row in rows]
        for p in out:
            p["args"], p["dtypes"] = json.loads(p["args"]), json.loads(p["dtypes"])
        return out

    def trials(self, problem):
        """[{config, state, reason, ms, model, at, clocks, facts, samples}], the fastest first."""
        rows = self.db.execute("SELECT id, %s FROM trial WHERE problem=? ORDER BY ms IS NULL, ms, id"
                               % ", ".join(_TRIAL), [problem]).fetchall()
        taken = {}
        for trial, ms in self.db.execute(
                "SELECT trial, sample.ms FROM sample JOIN trial ON trial.id=sample.trial"
                " WHERE problem=? ORDER BY trial, run", [problem]):
            taken.setdefault(trial, []).append(ms)
        out = []
        for row in rows:
            t = dict(zip(_TRIAL, row[1:]), samples=taken.get(row[0], []))
            for name in ("config", "clocks", "facts"):
                t[name] = json.loads(t[name]) if t[name] else None
            out.append(t)
        return out

    def by_config(self, problem):
        """Of each configuration the trial with the most samples, the fastest first; none of those before it was
        found to be wrong."""
        most = {}
        for t in sorted(self.trials(problem), key=lambda t: t["at"]):
            old = most.get(canonical(t["config"]))
            if old is None or "wrong" in (t["state"], old["state"]) or len(t["samples"]) >= len(old["samples"]):
                most[canonical(t["config"])] = t
        return sorted(most.values(), key=lambda t: (t["ms"] is None, t["ms"] or 0))

    def best(self, problem):
        """The fastest of those that were compared longest, or None."""
        fine = [t for t in self.by_config(problem) if t["state"] == "ok"]
        most = max((len(t["samples"]) for t in fine), default=0)
        return next((t for t in fine if len(t["samples"]) * 2 > most), None)

    # ---- moving

    def export(self):
        """All of it as what JSON can hold."""
        out = {"tilelang tuning library": VERSION, "problems": []}
        for p in self.problems():
            trials = self.trials(p["id"])
            best = self.best(p["id"])  # which a reader of one row takes
            out["problems"].append({**{n: p[n] for n in _PROBLEM}, "trials": trials,
                                    "best": best and {n: best[n] for n in ("config", "ms")}})
        return out

    def take(self, data):
        """Rows of an export.  (problems, trials that were new)"""
        _check_export(data)
        if data["tilelang tuning library"] > VERSION:
            raise LibraryError("the export is of version %s; this tilelang knows versions up to %d"
                               % (data["tilelang tuning library"], VERSION))
        new = 0
        for p in data["problems"]:
            number = self.problem(**{n: p[n] for n in _PROBLEM})
            owner = self.db.execute("SELECT uid FROM problem WHERE id=?", [number]).fetchone()[0]
            with self._change():
                for t in p["trials"]:
                    config = canonical(t["config"])
                    uid = _uid(owner, config, t["state"], repr(t["at"]), canonical(t["samples"]))
                    row = [config, t["state"], t["reason"], t["ms"], t["model"], t["at"],
                           canonical(t.get("clocks")), canonical(t.get("facts"))]
                    new += self._put(uid, number, row, t["samples"])
        return len(data["problems"]), new

    # ---- shapes that were not tuned

    def nearest(self, kernel_text, machine, args, defaults={}):
        """Problems of the same kernel on the same machine by how far their sizes are: the root of
        the mean square of logarithms of ratios.  Other arguments must be equal.  What one of two
        was not given has its default."""
        found = []
        for p in self.problems(text=kernel_text, machine=machine):
            given = [n for n in {**p["args"], **args} if n in defaults]
            own = {n: _plain_argument(defaults[n]) for n in given}
            far = distance({**own, **p["args"]}, {**own, **args})
            if far is not None and p["ok"]:
                found.append((far, p))
        return sorted(found, key=lambda row: (row[0], -row[1]["id"]))

    def trust(self, kernel_text, machine, config, but=None):
        """What it costs to take a configuration where it was not measured: in other problems of the
        kernel in which it was, its time over that of their best.  [(ratio, problem)]"""
        out = []
        for p in self.problems(text=kernel_text, machine=machine):
            if p["id"] == but or not p["ok"]:
                continue
            ms = [t["ms"] for t in self.trials(p["id"])
                  if t["state"] == "ok" and t["config"] == config]
            if ms:
                out.append((min(ms) / p["best"], p))
        return sorted(out, key=lambda row: row[0])


def _check_export(data):
    """Nothing of a file is taken before all of it reads as an export."""
    def need(fine, what):
        if not fine:
            raise NoExport("this is no export of a tuning library: %s" % what)

    def number(x):
        return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)

    need(isinstance(data, dict) and isinstance(data.get("problems"), list), "it has no problems")
    need(type(data.get("tilelang tuning library")) is int, "it has no version")
    for i, p in enumerate(data["problems"]):
        need(isinstance(p, dict) and isinstance(p.get("trials"), list) and isinstance(p.get("args"), dict)
             and isinstance(p.get("dtypes"), list) and all(n in p for n in _PROBLEM), "problem %d" % i)
        for t in p["trials"]:
            need(isinstance(t, dict) and isinstance(t.get("config"), dict) and t.get("state") in STATES
                 and isinstance(t.get("samples"), list) and all(map(number, t["samples"]))
                 and number(t.get("at")) and {"reason", "ms", "model"} <= set(t)
                 and (t["state"] != "ok" or number(t["ms"])), "a trial of problem %d" % i)


def _plain_argument(x):
    """A size or a word as it is; of a tensor its shape."""
    shape = getattr(x, "shape", None)
    return x if shape is None else [int(n) for n in shape]


def text_of(impl):
    """What a kernel's text is known by: its own, and what it takes from around it."""
    from ..autotuner import _cells

    return hashlib.sha256((impl._text + repr(_cells(impl.__wrapped__))).encode()).hexdigest()[:32]


def problem_of(impl, args, kernel, target=None):
    """What the library knows a problem by."""
    from .. import __version__, _target
    from ..autotuner import _machine
    from .search import _driver

    target = _target.determine_target(target or impl.target)
    return dict(kernel=impl.__name__, text=text_of(impl),
                args={k: _plain_argument(v) for k, v in dict(args).items()},
                dtypes=[str(p.dtype) for p in kernel.params],
                machine=" ".join(map(str, _machine(target))), target=target, driver=_driver(),
                compiler=__version__)


def median(values):
    v = sorted(values)
    return None if not v else (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def distance(a, b):
    """Between two dicts of arguments; None: they differ in something that is no size."""
    if set(a) != set(b):
        return None
    squares = []
    for name, x in a.items():
        y = b[name]
        if type(x) is int and type(y) is int and x > 0 and y > 0:
            squares.append(math.log2(x / y) ** 2)
        elif x != y:
            return None
    return math.sqrt(sum(squares) / len(squares)) if squares else 0.0
