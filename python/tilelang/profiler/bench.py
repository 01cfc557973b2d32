"""Times of the device itself: what its own counters say of each kernel (CUPTI, through torch)."""

import contextlib
import os
import sys
import warnings

from . import do_bench  # noqa: F401

_FLUSH = "tilelang_flush"


def _on_device(event):
    """A kernel, copy or fill; not the shadow of a named range."""
    if not str(getattr(event, "device_type", "")).endswith("CUDA"):
        return False
    return event.name != _FLUSH and not getattr(event, "is_user_annotation", False)


def _launched_by(event):
    """Microseconds of what a call on the host started on the device."""
    return sum(k.duration for k in event.kernels) + sum(map(_launched_by, event.cpu_children))


def _spans(fn, cache, n_repeat):
    """Microseconds the device was busy with in all, and with emptying the cache."""
    torch = sys.modules["torch"]
    from torch.profiler import ProfilerActivity, profile, record_function

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        for _ in range(n_repeat):
            with record_function(_FLUSH):
                cache.zero_()
            fn()
        torch.cuda.synchronize()
    events = p.events()
    total = sum(e.time_range.elapsed_us() for e in events if _on_device(e))
    flush = sum(_launched_by(e) for e in events
                if e.name == _FLUSH and str(e.device_type).endswith("CPU"))
    return total, flush


def _bench_with_cupti(fn, cache, n_repeat):
    """Milliseconds of a run of fn on the device, without gaps and without the emptying of the cache
    before it; 0.0 where fn runs nothing there.  RuntimeError: there are no counters."""
    total, flush = _spans(fn, cache, n_repeat)
    if not total:
        raise RuntimeError("torch's profiler saw nothing of the device: CUPTI is missing")
    return max(0.0, round(total - flush, 3)) / n_repeat / 1e3


def by_counters(fn, cache, n_repeat, otherwise):
    """The same as a list; where there are no counters, otherwise() with a warning."""
    try:
        return [_bench_with_cupti(fn, cache, n_repeat)]
    except (ImportError, RuntimeError) as why:
        warnings.warn("backend=\"cupti\" is not to be had (%s): timed by events" % why, UserWarning, 3)
        return otherwise()


def by_graph(fn, cache, n_repeat):
    """Milliseconds of fn(), each time a graph of n_repeat calls divided by their number."""
    torch = sys.modules["torch"]
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        fn()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(n_repeat):
                fn()
        marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(10)]
        for a, b in marks:
            cache.zero_()
            a.record()
            graph.replay()
            b.record()
        stream.synchronize()
    return [a.elapsed_time(b) / n_repeat for a, b in marks]


class suppress_stdout_stderr:
    """Nothing is written to the process's standard output and error inside of it."""

    def __enter__(self):
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        self._kept = []
        null = os.open(os.devnull, os.O_WRONLY)
        for fd in (1, 2):
            self._kept.append((fd, os.dup(fd)))
            os.dup2(null, fd)
        os.close(null)
        return self

    def __exit__(self, *why):
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        for fd, kept in self._kept:
            os.dup2(kept, fd)
            os.close(kept)
