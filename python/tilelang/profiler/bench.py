"""Times of the device itself: what its own counters say of each kernel (CUPTI, through torch)."""

import contextlib
import os
import sys
import warnings

from . import do_bench  # noqa: F401


def _on_device(event):
    """A kernel, copy or fill; not the shadow of a named range."""
    return str(getattr(event, "device_type", "")).endswith("CUDA") and not getattr(
        event, "is_user_annotation", False)


def _without_flush(spans, n_repeat):
    """Microseconds of a run, out of (start, name, microseconds) of everything on the device: in each
    run the first is the emptying of the cache."""
    spans = sorted(spans)
    each, rest = divmod(len(spans), n_repeat)
    if not rest:
        runs = [spans[i * each + 1:(i + 1) * each] for i in range(n_repeat)]
    else:  # runs of unequal numbers of kernels: a fill as long as the first begins the next one
        _, flush, least = spans[0]
        runs = []
        for at, name, length in spans:
            if name == flush and length >= least / 2:
                runs.append([])
            else:
                runs[-1].append((at, name, length))
    return sum(length for run in runs for _, _, length in run) / n_repeat


def _bench_with_cupti(fn, cache, n_repeat):
    """Milliseconds of a run of fn on the device, without gaps and without the emptying of the cache
    before it; 0.0 where fn runs nothing there.  RuntimeError: there are no counters."""
    torch = sys.modules["torch"]
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for _ in range(n_repeat):
            cache.zero_()
            fn()
        torch.cuda.synchronize()
    spans = [(e.time_range.start, e.name, e.time_range.elapsed_us()) for e in p.events()
             if _on_device(e)]
    if not spans:
        raise RuntimeError("torch's profiler saw nothing of the device: CUPTI is missing")
    return _without_flush(spans, n_repeat) / 1e3


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


def bench_with_wall(fn, n_repeat, quantiles=None, return_mode="mean", synchronize=None):
    """Milliseconds of fn() by the host's clock; synchronize() is part of each run."""
    import time

    from . import _summary

    if synchronize is not None:
        synchronize()
    times = []
    for _ in range(n_repeat):
        start = time.perf_counter()
        fn()
        if synchronize is not None:
            synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return _summary(times, quantiles, return_mode)
