"""Kernels that are built while calls run on another one: jit(background=True), compile_async, wait.

Threads of our own build; a call never waits for one where a generic kernel can take it.  What is
finished is put in place by one assignment, which every later call sees."""

import atexit
import collections
import functools
import os
import sys
import threading
import time

LINGER = 30.0       # seconds that a thread waits for another job: to start one costs a call 0.3 ms
PAUSE = 0.003       # seconds before a build begins: the call that asked for it comes first
SWITCH = 0.00002    # seconds after which a call that waits for the GIL is given it, while something is built


@functools.lru_cache(1)
def _cores():
    return os.cpu_count() or 1  # reads a file, and every call that asks for a kernel comes here


def _threads():
    from ..env import env

    asked = str(env.TILELANG_BACKGROUND_THREADS)
    if asked:
        if not asked.isdigit() or int(asked) < 1:
            raise ValueError("TILELANG_BACKGROUND_THREADS is %r: a number from 1 on" % asked)
        return int(asked)
    return max(1, min(4, _cores() // 2))


class _Switch:
    """Python hands the GIL over every 5 ms; a call must not wait that long for what is traced beside it."""

    before = None

    def short(self):
        if self.before is None:
            self.before = sys.getswitchinterval()
            sys.setswitchinterval(min(SWITCH, self.before))

    def back(self):
        before, self.before = self.before, None
        if before is not None and sys.getswitchinterval() <= SWITCH:  # nobody has set it since
            sys.setswitchinterval(before)


class _Builder:
    """Jobs in the order they came; a thread ends when there were none for it for a while."""

    def __init__(self):
        self.reset()

    def reset(self, jobs=()):
        self.changed = threading.Condition()
        self.waiting = collections.deque(jobs)
        self.running = []
        self.threads = []
        self.free = 0  # threads that wait for a job
        self.stopped = False
        self.switch = _Switch()

    def after_fork(self):
        """Threads do not come along: what they had begun waits again."""
        self.switch.back()
        self.reset(self.running + list(self.waiting))

    def submit(self, job):
        with self.changed:
            if self.stopped:
                return
            self.waiting.append(job)
            self._start()

    def _start(self):
        most = _threads()
        if self.free >= len(self.waiting):
            self.changed.notify_all()
        elif self.waiting and not self.stopped and len(self.threads) < most:
            thread = threading.Thread(target=self._work, name="tilelang background", daemon=True)
            self.threads.append(thread)
            thread.start()

    def _next(self, done):
        with self.changed:
            if done is not None:
                self.running.remove(done)
                self.changed.notify_all()
            if not self.running and not self.waiting:
                self.switch.back()
            self.free += 1
            self.changed.wait_for(lambda: self.waiting or self.stopped, LINGER)
            self.free -= 1
            if not self.waiting or self.stopped:
                self.threads.remove(threading.current_thread())
                return None
            job = self.waiting.popleft()
            self.running.append(job)
            self.switch.short()
            return job

    def _work(self):
        from .. import _core

        _core.give_way(True)  # calls of other threads come first
        job = self._next(None)
        while job is not None:
            time.sleep(PAUSE)
            job()
            job = self._next(job)

    def wait(self, idle, timeout):
        """Until idle() holds; False where that took longer."""
        until = None if timeout is None else time.monotonic() + timeout
        with self.changed:
            self._start()  # after a fork there is no thread yet
            while not idle():
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self.changed.wait(left)
        return True

    def idle(self):
        return not self.waiting and not self.running

    def stop(self):
        """At the end of the process: what waits is dropped, what runs is waited for, since a
        compiler must not find its libraries gone."""
        with self.changed:
            self.stopped = True
            self.waiting.clear()
            self.changed.notify_all()
            threads = list(self.threads)
        for thread in threads:
            thread.join()


_builder = _Builder()
os.register_at_fork(after_in_child=_builder.after_fork)
atexit.register(_builder.stop)


def wait(timeout=None):
    """Until every kernel that is built in the background is there, or has failed.  False: that took
    longer than `timeout` seconds."""
    return _builder.wait(_builder.idle, timeout)


class Build:
    """One kernel that is being built.  done: take it; failure: what was wrong."""

    kernel = failure = None

    def __init__(self, name, build, take=None, has_generic=True):
        from . import contexts

        self.name, self._build, self._take = name, build, take
        self._has_generic = has_generic
        self._contexts = list(contexts())  # PassContexts belong to the thread that is in them
        _builder.submit(self._run)

    def _run(self):
        from . import contexts

        contexts()[:] = self._contexts
        try:
            kernel = self._build()
            if self._take is not None:
                self._take(kernel)
            self.kernel = kernel
        except BaseException as why:
            self.failure = why
            if self._has_generic:
                from .._log import logger

                logger.warning("%s: no kernel for these arguments could be built, and the generic "
                               "one stays: %s", self.name, why)
        finally:
            contexts()[:] = []
            self._build = self._take = None

    def ended(self):
        return self.kernel is not None or self.failure is not None

    def result(self, timeout=None):
        if not _builder.wait(self.ended, timeout):
            raise TimeoutError("%s was not built in %s seconds" % (self.name, timeout))
        if self.kernel is None:
            raise self.failure
        return self.kernel


class BackgroundKernel:
    """A kernel that is being built.  A call runs on the generic one until it is there; without one
    it waits.  Everything else that a JITKernel has is asked of the kernel itself, and waits."""

    def __init__(self, name, build, generic=None):
        self._generic = generic
        self._pending = Build(name, build, has_generic=generic is not None)

    @property
    def ready(self):
        """Whether calls run on the kernel itself."""
        return self._pending.kernel is not None

    @property
    def failure(self):
        """The exception that ended the build, or None."""
        return self._pending.failure

    def wait(self, timeout=None):
        """The kernel itself; raises what was wrong with it."""
        return self._pending.result(timeout)

    def __call__(self, *args, **keys):
        pending = self._pending
        if pending.kernel is not None:
            return pending.kernel(*args, **keys)
        if self._generic is not None:
            return self._generic(*args, **keys)
        return pending.result()(*args, **keys)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.wait(), name)

    def __repr__(self):
        state = "ready" if self.ready else "failed" if self.failure else "being built"
        return "<BackgroundKernel %s, %s>" % (self._pending.name, state)


def compile_async(func=None, out_idx=None, execution_backend=None, target=None, target_host=None,
                  verbose=None, pass_configs=None, compile_flags=None, generic=None):
    """tilelang.compile in the background.  generic: a kernel, or a @T.prim_func to be compiled now,
    that takes calls until it is done."""
    from . import JITKernel, _backend, _host, compile as build
    from .. import _target
    from ..language import PrimFunc

    if not isinstance(func, PrimFunc):
        raise TypeError("tilelang.compile_async needs a @T.prim_func, not %s" % type(func).__name__)
    _backend(execution_backend)
    _host(target_host)
    text = _target.determine_target(target)
    rest = (execution_backend, text, None, verbose, pass_configs, compile_flags)
    if isinstance(generic, PrimFunc):
        generic = build(generic, out_idx, *rest)
    if generic is not None and not isinstance(generic, (JITKernel, BackgroundKernel)):
        raise TypeError("generic= is a kernel or a @T.prim_func, not %s" % type(generic).__name__)
    return BackgroundKernel(func.__name__, lambda: build(func, out_idx, *rest), generic)
