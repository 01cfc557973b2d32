"""Tools that watch compilations: sessions, the events of passes, and code generation.

A tool is registered by a factory; each compilation makes its own.  The compiler keeps the text of
the IR after every pass while somebody watches; when it is done, each instrument is told of the
passes in their order, with the IR before and after."""

import contextlib
import re
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import Any, Optional

_phase = ContextVar("tilelang_pass_phase", default=None)
_session = ContextVar("tilelang_compile_session", default=None)
_active = ContextVar("tilelang_active_instruments", default=())
_factories = {}
_lock = threading.Lock()


# ---- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PassEvent:
    """A pass that runs: sequence counts starts, depth and parent_sequence say inside of which."""

    name: str
    sequence: int
    depth: int = 0
    parent_sequence: Optional[int] = None
    phase: Optional[str] = None


@dataclass(frozen=True)
class IncompletePass:
    """A pass that started and did not end."""

    event: PassEvent
    state: Any = None


class PassEventObserver:
    """What a StackedPassInstrument tells; override what is of interest."""

    def enter_pass_context(self):
        pass

    def exit_pass_context(self):
        pass

    def pass_started(self, mod, event):
        """What it gives comes back as the state of pass_finished."""

    def pass_finished(self, mod, event, state):
        pass


class SequenceAllocator:
    """Numbers that several instruments may share."""

    def __init__(self):
        self._next = count()

    def __call__(self):
        return next(self._next)


class StackedPassInstrument:
    """Turns calls before and after passes, which may be nested, into events."""

    def __init__(self, observer, sequence=None, capture=None):
        self.observer, self.capture = observer, capture
        self._number = sequence or SequenceAllocator()
        self._open = []

    def enter_pass_ctx(self):
        _active.set(_active.get() + (self,))
        self.observer.enter_pass_context()

    def exit_pass_ctx(self):
        _active.set(tuple(i for i in _active.get() if i is not self))
        self.observer.exit_pass_context()

    def should_run(self, mod, info):
        return True

    def run_before_pass(self, mod, info):
        if self.capture is not None and not self.capture(info.name):
            self._open.append(None)
            return
        above = next((o.event for o in reversed(self._open) if o), None)
        event = PassEvent(info.name, self._number(), sum(1 for o in self._open if o),
                          above.sequence if above else None, _phase.get())
        self._open.append(IncompletePass(event, self.observer.pass_started(mod, event)))

    def run_after_pass(self, mod, info):
        done = self._open.pop() if self._open else None
        if done is not None:
            self.observer.pass_finished(mod, done.event, done.state)

    def incomplete_passes(self):
        return tuple(o for o in self._open if o)


def active_stacked_pass_instruments():
    return _active.get()


@contextlib.contextmanager
def pass_phase(name):
    """Events inside belong to this phase."""
    token = _phase.set(name)
    try:
        yield
    finally:
        _phase.reset(token)


def current_pass_phase():
    return _phase.get()


# ---- sessions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CodegenEvent:
    """The emission of one module: its name, the IR, the target."""

    name: str
    mod: Any
    target: Any


class PassInstrumentationTool:
    """One compilation's copy of a tool."""

    pass_instrument_priority = 0  # lower ones are told first

    def create_pass_instrument(self):
        return None

    def pipeline_scope(self, base_phase):
        return contextlib.nullcontext()

    def run_codegen(self, event, next_call):
        return next_call()

    def finish(self, error):
        pass


class CompilePassInstrumentationSession:
    """The tools of one compilation."""

    def __init__(self, tools, name=None):
        self.tools, self.name = tuple(tools), name

    def create_pass_instruments(self):
        made = [(t.pass_instrument_priority, t.create_pass_instrument()) for t in self.tools]
        return [i for _, i in sorted(((p, i) for p, i in made if i is not None),
                                     key=lambda pair: pair[0])]

    def find_tool(self, kind):
        return next((t for t in self.tools if isinstance(t, kind)), None)

    @contextlib.contextmanager
    def pipeline_scope(self, phase):
        with contextlib.ExitStack() as scopes:
            for tool in self.tools:
                scopes.enter_context(tool.pipeline_scope(phase))
            yield

    def run_codegen(self, event, call):
        for tool in reversed(self.tools):
            call = _around(tool, event, call)
        return call()

    def finish(self, error):
        """Every tool hears of the end; a tool's own error counts only where nothing else failed."""
        first = None
        for tool in reversed(self.tools):
            try:
                tool.finish(error)
            except Exception as why:
                first = first or why
        if first is not None and error is None:
            raise first


def _around(tool, event, call):
    return lambda: tool.run_codegen(event, call)


def register_pass_instrumentation_tool(name, factory):
    with _lock:
        _factories[str(name)] = factory


def unregister_pass_instrumentation_tool(name):
    with _lock:
        _factories.pop(str(name), None)


@contextlib.contextmanager
def compile_pass_instrumentation(name=None, tools=(), include_default_tools=True):
    """The session of a compilation; one inside of another is the same."""
    session = _session.get()
    if session is not None:
        yield session
        return
    with _lock:
        makers = list(_factories.values()) if include_default_tools else []
    session = CompilePassInstrumentationSession([m() for m in makers] + list(tools), name)
    token = _session.set(session)
    error = None
    try:
        yield session
    except BaseException as why:
        error = why
        raise
    finally:
        _session.reset(token)
        session.finish(error)


def current_compile_pass_instrumentation():
    return _session.get()


def create_pass_instruments():
    session = _session.get()
    return session.create_pass_instruments() if session else []


@contextlib.contextmanager
def pass_pipeline(target):
    """The passes for a target; their phase is pipeline_TARGET unless a tool renames it."""
    phase = "pipeline_%s" % target
    session = _session.get()
    with pass_phase(phase), session.pipeline_scope(phase) if session else contextlib.nullcontext():
        yield


def run_codegen_with_instrumentation(name, mod, target, call):
    session = _session.get()
    return session.run_codegen(CodegenEvent(name, mod, target), call) if session else call()


# ---- what the compiler does -----------------------------------------------------------------------

_HEAD = re.compile(r"^# after (\w+) of (\w+).*$", re.M)


def watched():
    """Whether a compilation has somebody to tell."""
    session = _session.get()
    return bool(session.tools) if session else bool(_factories)


def _passes(dump):
    """(name, kernel, text after it) of a dump; a pass without text of its own changed nothing."""
    heads = list(_HEAD.finditer(dump))
    ends = [h.start() for h in heads[1:]] + [len(dump)]
    return [(h.group(1), h.group(2), dump[h.end():end].strip("\n")) for h, end in zip(heads, ends)]


def _tell(instruments, dump, first):
    now = {}
    for name, kernel, text in _passes(dump):
        before = now.get(kernel, first)
        now[kernel] = text or before
        info = SimpleNamespace(name=name, opt_level=0, required=())
        for i in instruments:
            if not i.should_run(before, info):
                raise NotImplementedError("should_run: the pass %s cannot be left out" % name)
            i.run_before_pass(before, info)
        for i in reversed(instruments):
            i.run_after_pass(now[kernel], info)


def run(name, target, first, build):
    """build(dump) compiles; the tools are told.  first: the IR as text."""
    with compile_pass_instrumentation(name=name) as session:
        instruments = session.create_pass_instruments()
        core = session.run_codegen(CodegenEvent("target.build." + target.split()[0], first, target),
                                   lambda: build("all"))
        with pass_pipeline(target.split()[0]):
            for i in instruments:
                i.enter_pass_ctx()
            try:
                _tell(instruments, core.text("dump"), first)
            finally:
                for i in instruments:
                    i.exit_pass_ctx()
        return core
