"""Profiler and do_bench: milliseconds of kernels and functions."""

import sys
import time
import warnings

from ..utils.tensor import TensorSupplyType, supply, torch_assert_close


def _summary(times, quantiles, return_mode):
    times = sorted(times)
    if quantiles is not None:
        got = [times[min(len(times) - 1, int(q * len(times)))] for q in quantiles]
        return got[0] if len(got) == 1 else got
    if return_mode == "min":
        return times[0]
    if return_mode == "max":
        return times[-1]
    if return_mode == "median":
        return times[len(times) // 2]
    if return_mode != "mean":
        raise ValueError("return_mode is mean, min, max or median, not %r" % return_mode)
    return sum(times) / len(times)


def _cuda():
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_available() else None


def do_bench(fn, warmup=25, rep=100, _n_warmup=0, _n_repeat=0, quantiles=None, fast_flush=True,
             backend="event", return_mode="mean", device=None, cache_size=256,
             early_stop_baseline=None, n_warmup=0, n_repeat=0, grad_to_none=None):
    """Milliseconds of fn(); warmup and rep are budgets in milliseconds unless counts are given.
    backend: "event", "cupti" (what the device's counters say of its kernels), "cudagraph", or "wall":
    the host's clock around each call, which waits for the device where one is named.
    cache_size: MiB of cache that are emptied before each run, on a CPU only if another number than
    256 is said; fast_flush=False empties it byte by byte.  grad_to_none: tensors whose gradients are
    dropped before each run."""
    if backend in ("msprof", "msprof_detail"):
        raise NotImplementedError("backend=%r reads the counters of Ascend devices, which have no "
                                  "back-end here" % (backend,))
    if backend not in ("event", "cupti", "cudagraph", "wall"):
        raise ValueError("backend is event, cupti, cudagraph or wall, not %r" % (backend,))
    torch = _cuda()
    if backend == "wall":
        return _summary(_by_wall(_without_gradients(fn, grad_to_none), warmup, rep,
                                 _n_warmup or n_warmup, _n_repeat or n_repeat,
                                 early_stop_baseline, device), quantiles, return_mode)
    if torch is not None and device is not None:
        with torch.cuda.device(device):
            return do_bench(fn, warmup, rep, _n_warmup, _n_repeat, quantiles, fast_flush, backend,
                            return_mode, None, cache_size, early_stop_baseline, n_warmup,
                            n_repeat, grad_to_none)
    if torch is None and device not in (None, "cpu"):
        raise ValueError("device=%r: there is no GPU" % (device,))
    if torch is None and backend != "event":
        warnings.warn("backend=%r is of GPUs: timed by the clock" % backend, UserWarning, 2)
    flush = _Flush(torch, cache_size, fast_flush)
    times = (_by_clock if torch is None else _by_events)(
        _without_gradients(fn, grad_to_none), warmup, rep, _n_warmup or n_warmup,
        _n_repeat or n_repeat, flush, early_stop_baseline, backend)
    return _summary(times, quantiles, return_mode)


def _without_gradients(fn, tensors):
    if not tensors:
        return fn

    def run():
        for x in tensors:
            x.grad = None
        return fn()

    return run


class _Flush:
    """What empties the cache before each run."""

    def __init__(self, torch, size, fast):
        self.made = None
        if torch is not None:
            self.made = torch.empty(int(size) << 18 if fast else int(size) << 20,
                                    dtype=torch.int32 if fast else torch.int8, device="cuda")
        elif size != 256:
            self.made = bytearray(int(size) << 20)
        self.fast = fast

    def zero_(self):
        if isinstance(self.made, bytearray):
            step = 4096 if self.fast else 64
            self.made[::step] = bytes(len(range(0, len(self.made), step)))
        elif self.made is not None:
            self.made.zero_()


def _count(given, budget, each):
    return given or max(1, min(int(budget / max(each, 1e-4)), 10000))


def _by_wall(fn, warmup, rep, n_warmup, n_repeat, limit, device):
    """Without emptying a cache.  A function that returns early is waited for where device= says of
    whom."""
    torch = sys.modules.get("torch")
    waits = device is not None and (isinstance(device, int) or not str(device).startswith("cpu"))

    def once():
        fn()
        if waits:
            torch.cuda.synchronize(device)

    return _by_clock(once, warmup, rep, n_warmup, n_repeat, _Flush(None, 256, True), limit,
                     "wall")


def _by_clock(fn, warmup, rep, n_warmup, n_repeat, flush, limit, backend):
    def once():
        flush.zero_()
        start = time.perf_counter()
        fn()
        return (time.perf_counter() - start) * 1e3

    once()
    each = min(once() for _ in range(3))
    if limit and each > limit:
        return [each]
    for _ in range(_count(n_warmup, warmup, each)):
        fn()
    return [once() for _ in range(_count(n_repeat, rep, each))]


def _by_events(fn, warmup, rep, n_warmup, n_repeat, flush, limit, backend):
    """Between events, the cache of the device emptied before each run; the host waits once."""
    import torch

    from . import bench

    fn()
    torch.cuda.synchronize()

    def many(n):
        marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(n)]
        for a, b in marks:
            flush.zero_()
            a.record()
            fn()
            b.record()
        torch.cuda.synchronize()
        return marks

    if limit:
        once = many(1)[0]
        if once[0].elapsed_time(once[1]) > 2 * limit:
            return [once[0].elapsed_time(once[1])]
    each = 0
    if limit or not (n_warmup and n_repeat):
        guess = many(3 if n_warmup and n_repeat else 5)
        each = guess[0][0].elapsed_time(guess[-1][1]) / len(guess)
    if limit and each > limit:
        return [a.elapsed_time(b) for a, b in guess]
    for _ in range(_count(n_warmup, warmup, each)):
        fn()
    n = _count(n_repeat, rep, each)

    def between_events():
        return [a.elapsed_time(b) for a, b in many(n)]

    if backend == "cupti":
        return bench.by_counters(fn, flush, n, between_events)
    if backend == "cudagraph":
        return bench.by_graph(fn, flush, n)
    return between_events()


class Profiler:
    """Inputs, timing and comparison for one kernel."""

    def __init__(self, kernel, supply_type=TensorSupplyType.Auto, params=None, adapter=None):
        self.kernel, self.adapter = kernel, adapter or kernel  # whose inputs, and who is called
        self.params = params or kernel.params
        self.supply_type = supply_type

    def with_default_adapter(self, adapter):
        self.adapter = adapter
        return self

    def _get_params(self, with_output=False):
        return [p for p in self.params if with_output or not p.is_output]

    def _get_inputs(self, with_output=False, dynamic_symbolic_constraints=None):
        traced = getattr(self.kernel.prim_func, "params", None) or self.params
        named = {p.name: p.shape for p in traced}
        made = []
        for p in self._get_params(with_output):
            if dynamic_symbolic_constraints and p.name in named:
                p.shape = named[p.name]
            made.append(supply(p, self.supply_type, dynamic_symbolic_constraints))
        return made

    def run_once(self, func=None):
        return (func or self.adapter)(*self._get_inputs())

    def __call__(self, *args, **keys):
        return self.adapter(*args, **keys)

    def do_bench(self, func=None, warmup=25, rep=100, n_warmup=0, n_repeat=0, input_tensors=None,
                 backend="event", quantiles=None, return_mode="mean",
                 dynamic_symbolic_constraints=None, device=None, early_stop_baseline=None):
        """Milliseconds of the kernel, or of func on the same inputs."""
        args = input_tensors
        if args is None:
            args = self._get_inputs(dynamic_symbolic_constraints=dynamic_symbolic_constraints)
        run = func or self.adapter
        return do_bench(lambda: run(*args), warmup, rep, n_warmup, n_repeat, quantiles,
                        backend=backend, return_mode=return_mode, device=device,
                        early_stop_baseline=early_stop_baseline)

    def _both(self, reference, input_tensors):
        args = self._get_inputs() if input_tensors is None else input_tensors
        ours, theirs = self.adapter(*args), reference(*args)
        ours, theirs = ([x] if not isinstance(x, (list, tuple)) else list(x)
                        for x in (ours, theirs))
        if len(ours) != len(theirs):
            raise AssertionError("%d outputs and %d of the reference" % (len(ours), len(theirs)))
        return args, ours, theirs

    def assert_allclose(self, reference_program, input_tensors=None, atol=1e-2, rtol=1e-2,
                        max_mismatched_ratio=0.01):
        """Run both and compare."""
        for a, b in zip(*self._both(reference_program, input_tensors)[1:]):
            if a is None and b is None:
                continue
            torch_assert_close(a, b, rtol=rtol, atol=atol,
                               max_mismatched_ratio=max_mismatched_ratio)

    def manual_assert_close(self, reference_program, input_tensors=None, manual_check_prog=None):
        manual_check_prog(*self._both(reference_program, input_tensors)[1:])

    def assert_consistent(self, repeat=10):
        """Bit for bit the same, every time."""
        import numpy

        args = self._get_inputs()

        def run():
            got = self.adapter(*args)
            return [x.cpu().numpy() if hasattr(x, "cpu") else x
                    for x in (got if isinstance(got, list) else [got])]

        first = run()
        for _ in range(repeat):
            for a, b in zip(first, run()):
                if not numpy.array_equal(numpy.asarray(a).view("uint8"),
                                         numpy.asarray(b).view("uint8")):
                    raise AssertionError("two runs differ")

    @property
    def func(self):
        return self.adapter


_cached = {}


def cached(func, result_idx=None, *args, target="auto"):
    """The kernel of func(*args), compiled once for the same arguments; result_idx is out_idx."""
    from ..jit import compile

    key = (func, repr(result_idx), repr(args), str(target))
    if key not in _cached:
        _cached[key] = compile(func(*args), out_idx=result_idx, target=target)
    return _cached[key]
