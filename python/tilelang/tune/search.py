"""A search: illegal points go first, the model orders the rest, measuring decides by halves.

Points that do not meet the space's conditions are dropped, then those that cannot be lowered (too much
shared memory, threads that do not divide a tile, …), each with its reason; no device compiler has run
until then.  What is left is ordered by the model.  The first of them are compiled by processes with
limits, and timed one at a time by a process of its own: one that crashes, hangs or is wrong is a row
with a reason.  Each round measures the better half with more runs.  Every row is in the library when it
ends, so a search that was stopped goes on where it was."""

import inspect
import os
import queue
import re
import sqlite3
import sys
import threading
import time
import warnings

from .. import _target
from ..autotuner.trial import Died, Trials
from . import model
from .library import LibraryError, canonical, median, problem_of

RUNS = (3, 12, 48)   # of each round; the better half goes on to the next
HOPELESS = 3.0       # times the best so far: the first runs tell


def reason_of(why):
    """What is counted: the tag of a message, or its first line."""
    tag = getattr(why, "tag", "") or ""
    line = str(why).strip().splitlines()[0] if str(why).strip() else type(why).__name__
    if tag:
        return tag
    return "%s: %s" % (type(why).__name__, line[:120])


class NoDevice(RuntimeError):
    """The target's machine is not here."""


class Point:
    """One configuration in a search."""

    facts = said = ms = state = reason = None
    built = False

    def __init__(self, config):
        self.config, self.samples, self.recipe = config, [], None
        self.key = canonical(config)

    def row(self):
        return {"config": self.config, "state": self.state, "reason": self.reason, "ms": self.ms,
                "model": self.said, "samples": self.samples}


class Search:
    def __init__(self, impl, args, space, library, target=None, trials=48, seconds=None, jobs=None,
                 limit=60, baseline=None, again=False, progress=None, backend="event"):
        self.impl, self.args, self.space, self.library = impl, dict(args), space, library
        self.target = _target.determine_target(target or impl.target)
        self.trials, self.seconds, self.limit = trials, seconds, limit
        self.jobs = jobs or max(1, min(16, (os.cpu_count() or 2) - 1))
        self.baseline, self.again, self.backend = baseline, again, backend
        self.progress = progress or (lambda search: None)
        self.machine = model.machine_of(self.target)
        self.dropped, self.points, self.best = {}, [], None
        self.resumed = self.todo = 0
        self.now, self.rows = set(), 0  # points that were tried by this search, and how often
        self.problem = self.stopped = None
        self.reference = None  # the kernel whose results others must give
        self.lost, self.unwritten = None, []  # why rows cannot be written, and which
        self.start = time.monotonic()

    @property
    def measured(self):
        """Points that ran in this search."""
        return sum(p.state == "ok" for p in self.now)

    @property
    def failed(self):
        return len(self.now) - self.measured

    # ---- points

    @property
    def defaults(self):
        return {n: p.default for n, p in self.impl.signature.parameters.items()
                if p.default is not inspect.Parameter.empty}

    def _candidates(self):
        space = self.space
        if hasattr(space, "points"):
            return list(space.points({**self.defaults, **self.args}, self.dropped))
        return [dict(c) for c in (space(**self.args) if callable(space) else space)]

    def _drop(self, why):
        reason = reason_of(why)
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def _lower(self, point):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config = dict(point.config)
            from ..autotuner import _with_configs

            impl = _with_configs(self.impl, config.pop("pass_configs", None))
            kernel = impl.lowered(self.target, **{**self.args, **config})
        point.recipe = dict(kernel._recipe, options=dict(kernel._recipe["options"], no_build=False))
        point.facts = model.facts_of(kernel)
        if point.facts is not None:
            point.said = model.milliseconds(point.facts, self.machine)
        return kernel

    def prepare(self):
        """Drop what cannot be; order the rest by the model."""
        from concurrent.futures import ThreadPoolExecutor

        candidates = [Point(c) for c in self._candidates()]
        self.of_all = len(candidates) + sum(self.dropped.values())
        kernel, why = None, None

        def lower(point):
            try:
                return self._lower(point), None
            except Exception as e:
                return None, e

        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            for point, (made, failure) in zip(candidates, pool.map(lower, candidates)):
                if made is None:
                    self._drop(failure)
                    why = failure
                else:
                    kernel = kernel or made
                    self.points.append(point)
        if kernel is None:
            raise ValueError("no point of the space is legal: %s" % (
                why or ", ".join("%s (%d)" % row for row in self.dropped.items()) or "it is empty"))
        self.points.sort(key=lambda p: (p.said is None, p.said or 0))
        self._about(kernel)
        return self

    def _about(self, kernel):
        self.about = problem_of(self.impl, self.args, kernel, self.target)
        self.compared = bool(kernel._outs)
        self.text, self.where = self.about["text"], self.about["machine"]

    # ---- rows

    def _note(self, point, state, reason=None, samples=()):
        point.state, point.reason = state, reason
        point.samples = list(samples)
        point.ms = median(samples)
        self.now.add(point)
        self.rows += 1
        if state == "ok" and (self.best is None or point.ms < self.best.ms):
            self.best = point
        self.unwritten.append(dict(config=point.config, state=state, reason=reason, samples=list(samples),
                                   model=point.said, clocks=_clocks(), facts=point.facts, at=time.time()))
        self._write()
        self.progress(self)

    def _write(self):
        """The rows that are not in the library yet; a disk that was full may have room again."""
        try:
            if self.problem is None:
                self.problem = self.library.problem(**self.about)
            while self.unwritten:
                self.library.add(self.problem, **self.unwritten[0])
                del self.unwritten[0]
            self.lost = None
        except sqlite3.Error as why:
            self.lost = str(why)

    def _known(self):
        """What earlier searches have measured of these points."""
        if self.again:
            return
        known = {canonical(t["config"]): t for t in self.library.by_config(self.problem)}
        for point in self.points:
            t = known.get(point.key)
            if t is None:
                continue
            self.resumed += 1
            point.state, point.reason = t["state"], t["reason"]
            point.samples, point.ms = t["samples"], t["ms"]
            if point.state == "ok" and (self.best is None or point.ms < self.best.ms):
                self.best = point

    # ---- building and timing

    def _over(self):
        if self.stopped is None and self.seconds and time.monotonic() - self.start > self.seconds:
            self.stopped = "its time is over"
        if self.stopped is None and self.baseline and self.best is not None \
                and self.best.ms <= self.baseline:
            self.stopped = "it is as fast as asked"
        return self.stopped is not None

    def _builders(self, points):
        """Yields (point, why it was not built) in order, as they are ready."""
        work, done = queue.Queue(), {p.key: queue.Queue(1) for p in points}
        for p in points:
            if p.built:
                done[p.key].put(None)
            else:
                work.put(p)
        self._closing = False

        def build():
            child = Trials()
            try:
                while not self._closing:
                    try:
                        p = work.get_nowait()
                    except queue.Empty:
                        return
                    try:
                        child.ask({"kernel": p.recipe, "told": None}, self.limit)
                        p.built, why = True, None
                    except Exception as e:
                        why = e
                    done[p.key].put(why)
            finally:
                child.close()

        threads = [threading.Thread(target=build, daemon=True)
                   for _ in range(min(self.jobs, work.qsize()))]
        for t in threads:
            t.start()
        try:
            for p in points:
                yield p, done[p.key].get()
        finally:
            self._closing = True

    def attempt(self, child, point, runs, slowest):
        """(state, reason, samples) of one point; slowest: ms beyond which its first runs are enough."""
        told = {"warmup": 1, "rep": runs, "runs": runs, "limit": slowest, "backend": self.backend,
                "supply_type": _supply(), "keep": True}
        request = {"kernel": point.recipe, "told": told}
        if self.reference is not None and self.reference is not point.recipe:
            request["reference"] = self.reference
        try:
            samples = child.ask(request, self.limit)
        except Died as why:
            return "late" if "longer" in str(why) else "crashed", str(why), []
        except RuntimeError as why:
            _here(why)
            return "wrong" if str(why).startswith("Wrong:") else "failed", str(why).splitlines()[0], []
        if self.reference is None:
            self.reference = point.recipe
        return "ok", None, samples if isinstance(samples, list) else [samples]

    def _time(self, child, point, runs):
        """One row of the library."""
        slowest = self.best.ms * HOPELESS if self.best is not None else None
        state, reason, samples = self.attempt(child, point, runs, slowest)
        self._note(point, state, reason, samples)

    def _round(self, child, points, runs):
        """Measure those that have not so many samples yet."""
        missing = [p for p in points if p.state is None or p.state == "ok"
                   and len(p.samples) < runs and p.ms < self.best.ms * HOPELESS]
        self.todo = len(missing)
        for p, why in self._builders(missing):
            if self._over():
                return
            if why is not None:
                _here(why)
                late = isinstance(why, Died)
                self._note(p, ("late" if "longer" in str(why) else "crashed") if late else "failed",
                           str(why).splitlines()[0])
            else:
                self._time(child, p, runs)
            self.todo -= 1

    def _vote(self, child, points):
        """The first that ran may be the one that is wrong: where more differ from it than agree, and those agree
        among themselves, they are right."""
        fine, wrong = ([p for p in points if p.state == state] for state in ("ok", "wrong"))
        if len(wrong) <= max(len(fine), 1) or self._over():
            return
        before, self.reference = self.reference, wrong[0].recipe
        child.close()  # it has results of the old one
        found = [(p, self.attempt(child, p, RUNS[0], None)) for p in wrong + fine]
        if sum(state == "ok" for _, (state, _, _) in found) <= len(fine):
            self.reference = before
            child.close()
            return
        self.best = None
        for p, (state, reason, samples) in found:
            self._note(p, state, reason, samples)

    def agreed(self):
        """Whether another configuration gave the best one's results."""
        return self.compared and sum(p.state == "ok" for p in self.points) > 1

    def run(self):
        """The best point, or None."""
        if self.target.startswith("sim"):
            raise ValueError("the simulator's times say nothing: tune for a GPU or the CPU")
        self.prepare()
        self._write()
        if self.lost and "full" not in self.lost:
            raise LibraryError("the library %s cannot be used: %s" % (self.library.path, self.lost))
        if self.problem is not None:
            self._known()
        self.reference = self.best.recipe if self.best else None
        child = Trials()
        try:
            chosen = self.points[:self.trials]
            chosen += [p for p in self.points[self.trials:] if p.state == "ok"]
            for runs in RUNS:
                self._round(child, chosen, runs)
                if runs == RUNS[0]:
                    self._vote(child, chosen)
                fine = sorted((p for p in chosen if p.state == "ok"), key=lambda p: p.ms)
                if not fine or self._over():
                    break
                chosen = fine[:max(1, (len(fine) + 1) // 2 if runs > RUNS[0] else len(fine) // 3)]
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        finally:
            child.close()
        fine = [p for p in self.points if p.state == "ok"]
        # Those with the most samples have been compared longest.
        most = max((len(p.samples) for p in fine), default=0)
        final = [p for p in fine if len(p.samples) * 2 > most] or fine
        self.best = min(final, key=lambda p: p.ms, default=None)
        return self.best


ABSENT = re.compile(r"\[no-(cuda|nvrtc|hip|wgpu|webgpu|opencl|metal|ascend|cutedsl|emulator|cross)[a-z-]*\]$")


def _here(why):
    """A machine that is not there is no fault of a configuration, and no row."""
    text = str(why).strip().splitlines()[0] if str(why).strip() else ""
    if ABSENT.search(text):
        raise NoDevice(text.partition(": ")[2] + "; --rank has the model's order without it")


def _supply():
    from ..utils.tensor import TensorSupplyType

    return TensorSupplyType.Auto


def _driver():
    """The driver's version, "" without one."""
    import ctypes

    from ..carver.arch.driver.cuda_driver import _driver as cuda

    library, version = cuda(), ctypes.c_int()
    if library is None or library.cuDriverGetVersion(ctypes.byref(version)):
        return ""
    return str(version.value)


def _clocks():
    """MHz of the GPU's multiprocessors and memory now, where torch can ask."""
    torch = sys.modules.get("torch")
    try:
        return {"sm": torch.cuda.clock_rate()} if torch is not None and torch.cuda.is_available() \
            else None
    except Exception:
        return None
