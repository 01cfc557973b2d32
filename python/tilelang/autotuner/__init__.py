"""tilelang.autotune and AutoTuner: compile configurations side by side, time them, keep the best.

Compilation runs in threads (the compiler works without the GIL), runs in a process of their own
(trial.py), so that a configuration that fails, crashes or takes longer than the limit is reported
and left out.  Results are kept on disk under a key of everything that matters: the function's text,
its arguments, the configurations, how they are timed, the target, the shapes of the inputs and the
version."""

import contextlib
import functools
import hashlib
import inspect
import itertools
import os
import sys
import threading
import time
from dataclasses import replace

from .. import __version__, _target
from .._errors import ignored
from .._log import Progress, logger
from ..contrib.nvcc import _get_compile_timeout_seconds
from ..env import env
from ..jit import JITImpl, JITKernel, _keeping, compile as _compile, jit as _jit
from ..language import PrimFunc
from ..profiler import do_bench
from ..utils.tensor import TensorSupplyType, torch_assert_close
from .param import AutotuneResult, CompileArgs, ProfileArgs
from .trial import Trials, made_inputs, measure

__all__ = ["autotune", "AutoTuner", "AutotuneResult", "set_autotune_inputs",
           "get_autotune_inputs", "jit"]

_local = threading.local()


@contextlib.contextmanager
def set_autotune_inputs(*args):
    """with set_autotune_inputs(a, b): the inputs configurations are timed with."""
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = tuple(args[0])
    before = get_autotune_inputs()
    _local.inputs = list(args)
    try:
        yield
    finally:
        _local.inputs = before


def get_autotune_inputs():
    return getattr(_local, "inputs", None)


# ---- one search -----------------------------------------------------------------------------------


def _workers(n):
    counts = int(float(env.TILELANG_AUTO_TUNING_CPU_COUNTS or -1))
    if counts <= 0:
        counts = int((os.cpu_count() or 1) * float(env.TILELANG_AUTO_TUNING_CPU_UTILITIES or 0.9))
    most = int(float(env.TILELANG_AUTO_TUNING_MAX_CPU_COUNT or -1))
    if most > 0:
        counts = min(counts, most)
    return max(1, min(counts, n))


def _compiled(build, configs, timeout, failed, group=1):
    """(config, kernel) of those that compiled in time, one by one as they are ready in order.  group:
    so many are compiled one after the other by one worker.  failed: gets what the others said."""
    from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError as Late

    def work(some):
        for config, made in some:
            _keeping.on = True
            try:
                made.set_result(build(config))
            except BaseException as e:
                made.set_exception(e)
            finally:
                _keeping.on = False

    timeout = min(timeout, _get_compile_timeout_seconds() or timeout)
    progress = Progress("compiling", len(configs))
    jobs = [(c, Future()) for c in configs]
    groups = [jobs[i:i + group] for i in range(0, len(jobs), group)]
    pool = ThreadPoolExecutor(_workers(len(groups)))
    for some in groups:
        pool.submit(work, some)
    try:
        for config, made in jobs:
            try:
                kernel = made.result(timeout)
            except Late:
                logger.warning("configuration %s took longer than %s s to compile", config, timeout)
            except Exception as e:
                failed.append(e)
                logger.info("configuration %s does not compile: %s", config, e)
            else:
                yield config, kernel
            progress.step()
    finally:
        progress.end()
        pool.shutdown(wait=False, cancel_futures=True)


def _bytes(inputs):
    return sum(getattr(x, "nbytes", 8) for x in inputs or ())


class _Search:
    """One search for the fastest of some configurations."""

    SENT_MOST = 1 << 30  # bytes of inputs that are worth a copy for the other process
    HOPELESS = 2  # times the best so far: a few runs tell

    def __init__(self, profile, inputs=None):
        self.p = profile
        self.inputs = inputs
        self.kept = {}  # inputs that were made, by their shapes
        self.rows = []  # (configuration, ms or None, why it has none)

    def _inputs(self, kernel):
        if self.inputs is not None:
            return self.inputs
        fixed = get_autotune_inputs()
        if fixed is not None:
            return fixed
        if self.p.supply_prog:
            return self.p.supply_prog(kernel.params)
        scalars = [x.name for x in kernel.params if x.is_scalar()]
        if scalars:
            raise ValueError("the scalar %r needs a value to be tuned with: use "
                             "set_autotune_inputs or supply_prog" % scalars[0])
        return None

    def _check(self, kernel, args):
        p = self.p
        if p.ref_prog is None or p.skip_check:
            return
        ours, theirs = kernel(*args), p.ref_prog(*args)
        ours, theirs = ([x] if not isinstance(x, (list, tuple)) else x for x in (ours, theirs))
        if p.manual_check_prog is not None:
            p.manual_check_prog(ours, theirs)
            return
        for a, b in zip(ours, theirs):
            torch_assert_close(a, b, rtol=p.rtol, atol=p.atol,
                               max_mismatched_ratio=p.max_mismatched_ratio)

    def _told(self, best):
        p = self.p
        factor = p.early_stop_factor if p.early_stop else self.HOPELESS
        limit = best.latency * factor if best else None
        return {"warmup": p.warmup, "rep": p.rep, "limit": limit, "supply_type": p.supply_type,
                "backend": p.backend, "keep": p.cache_input_tensors}

    def _here(self, kernel, args, told):
        return measure(lambda: kernel(*args), told)

    def _own(self, kernel):
        return made_inputs(kernel, self._told(None), self.kept)

    def _ahead(self, configs):
        """The other process imports while this one compiles, where no inputs are sent to it."""
        alone = str(env.TILELANG_AUTO_TUNING_ISOLATE).lower() in ("0", "false", "off")
        known = self.inputs is not None or get_autotune_inputs() is not None or self.p.supply_prog
        trials = Trials(None)
        if alone or known or len(configs) < 2:
            return trials, None
        starting = threading.Thread(target=trials.start, daemon=True)
        starting.start()
        return trials, starting

    def _trials(self, kernels, args, ahead):
        trials, starting = ahead
        alone = str(env.TILELANG_AUTO_TUNING_ISOLATE).lower() in ("0", "false", "off")
        if starting is not None:
            starting.join()
        if alone or len(kernels) < 2 or _bytes(args) > self.SENT_MOST:
            trials.close()
            return None
        if starting is None:
            trials = Trials(args)
            trials.start()
        return trials if trials.started() else None

    def _measure(self, trials, config, kernel, args, best):
        told = self._told(best)
        if trials is None or kernel._recipe is None:
            args = args if args is not None else self._own(kernel)
            self._check(kernel, args)
            return self._here(kernel, args, told)
        ms = trials.time(kernel, told, self.p.timeout)
        if self.p.ref_prog is not None:
            self._check(kernel, args if args is not None else self._own(kernel))
        return ms

    def run(self, build, configs, group=1, pipeline=False):
        """pipeline: each is timed as soon as it is compiled, not when all of them are."""
        ahead = self._ahead(configs)
        failed = []
        kernels = _compiled(build, configs, self.p.timeout, failed, group)
        kernels = kernels if pipeline else iter(list(kernels))
        first = list(itertools.islice(kernels, 2))
        why = failed[-1] if failed else None
        try:
            args = self._inputs(first[0][1]) if first else None
        except Exception:
            self._trials([], None, ahead)
            raise
        trials = self._trials(first, args, ahead)
        best = None
        progress = Progress("measuring", len(configs))
        try:
            for config, kernel in itertools.chain(first, kernels):
                progress.step()
                try:
                    ms = self._measure(trials, config, kernel, args, best)
                except Exception as e:
                    why = e
                    logger.info("configuration %s fails: %s", config, e)
                    self.rows.append((config, None, str(e)))
                    continue
                self.rows.append((config, ms, None))
                logger.info("%.4f ms  %s", ms, config)
                if best is None or ms < best.latency:
                    best = AutotuneResult(ms, config, kernel=kernel, func=kernel.prim_func,
                                          libcode=kernel.kernel_source)
        finally:
            progress.end()
            if trials is not None:
                trials.close()
        why = why or (failed[-1] if failed else None)
        if best is None:
            raise RuntimeError("Auto-tuning failed: no configuration compiled and passed "
                               "benchmarking. The last one said: %s" % why) from why
        if self.p.ref_prog is not None:
            with contextlib.suppress(Exception):
                args = args if args is not None else self._own(best.kernel)
                best.ref_latency = do_bench(lambda: self.p.ref_prog(*args), _n_warmup=3,
                                            _n_repeat=10)
        best.kernel.update_tuner_result(best.latency, best.config, best.ref_latency)
        return best


# ---- results on disk ------------------------------------------------------------------------------


def _store():
    root = env.TILELANG_CACHE_DIR
    if not root:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = os.path.join(base, "tilelang-c")
    return os.path.join(root, "tuned")


def _plain(v):
    if isinstance(v, (type(None), bool, int, float, str)):
        return repr(v)
    if isinstance(v, (list, tuple)):
        return "(%s)" % ",".join(map(_plain, v))
    if isinstance(v, dict):
        return "{%s}" % ",".join("%s:%s" % (k, _plain(v[k])) for k in sorted(v, key=str))
    if hasattr(v, "shape") and hasattr(v, "dtype"):
        return "tensor %s %s" % (v.dtype, tuple(v.shape))
    return str(v)


def _key(*parts):
    text = "\n".join(map(_plain, (__version__,) + parts))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _load(key):
    if not env.is_autotune_cache_enabled():
        return None
    return AutotuneResult.read(os.path.join(_store(), key))


def _save(key, result):
    if env.is_autotune_cache_enabled():
        result.save_to_disk(os.path.join(_store(), key))


# ---- AutoTuner ------------------------------------------------------------------------------------


def _cells(fn):
    """What a function closes over, or None where that has no text of its own."""
    values = [c.cell_contents for c in (getattr(fn, "__closure__", None) or ())]
    plain = (type(None), int, float, str, bool)
    return values if all(isinstance(v, plain) for v in values) else None


def _with_configs(impl, configs):
    """The same function under other pass configs; kernels of it are found again."""
    if not configs:
        return impl
    options = dict(impl.options)
    options["pass_configs"] = {**(options.get("pass_configs") or {}), **configs}
    key = _plain(options["pass_configs"])
    if key not in impl._others:
        impl._others[key] = JITImpl(impl.__wrapped__, options)
    return impl._others[key]


def _machine(target):
    """What a result holds for: the target, and the GPU or the CPU it was found on."""
    text = _target.determine_target(target)
    if text.startswith("cuda"):
        from ..carver.arch import driver

        return text, driver.get_device_name()
    import platform

    if text.startswith("hip"):
        return text, _target._core.target(_target.told(text))["model"]
    return text, platform.machine(), os.cpu_count(), _cpu_model()


@functools.lru_cache(1)
def _cpu_model():
    """What the CPU calls itself; of one that has no name its numbers."""
    names = ("model name", "cpu family", "model", "CPU implementer", "CPU part")
    found = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            for line in f:
                name, _, value = line.partition(":")
                if name.strip() in names:
                    found.setdefault(name.strip(), " ".join(value.split()))
    except OSError:
        pass
    return " ".join(found[n] for n in names if n in found) or "unknown"


class AutoTuner:
    """AutoTuner.from_kernel(kernel, configs).set_compile_args(…).set_profile_args(…).run()"""

    def __init__(self, fn, configs):
        self.fn, self.configs = fn, list(configs)
        self.compile_args, self.profile_args = CompileArgs(), ProfileArgs()

    @classmethod
    def from_kernel(cls, kernel, configs):
        return cls(kernel, configs)

    def set_compile_args(self, out_idx=None, target=None, execution_backend=None,
                         target_host=None, verbose=None, pass_configs=None):
        if target_host is not None:
            ignored("target_host", "the part of a kernel that runs on the host is built for this "
                    "machine")
        self.compile_args = CompileArgs(out_idx=out_idx, target=target, verbose=verbose,
                                        execution_backend=execution_backend,
                                        target_host=target_host, pass_configs=pass_configs)
        return self

    def set_profile_args(self, warmup=25, rep=100, timeout=30, supply_type=TensorSupplyType.Auto,
                         ref_prog=None, supply_prog=None, rtol=1e-2, atol=1e-2,
                         max_mismatched_ratio=0.01, skip_check=False, manual_check_prog=None,
                         cache_input_tensors=False, backend="event"):
        """How configurations are checked and timed; warmup and rep are numbers of runs."""
        self.profile_args = ProfileArgs(
            warmup=warmup, rep=rep, timeout=timeout, supply_type=supply_type, ref_prog=ref_prog,
            supply_prog=supply_prog, rtol=rtol, atol=atol, skip_check=skip_check,
            max_mismatched_ratio=max_mismatched_ratio, manual_check_prog=manual_check_prog,
            cache_input_tensors=cache_input_tensors, backend=backend)
        return self

    def _build(self, config):
        config, c = dict(config), self.compile_args
        configs = {**(c.pass_configs or {}), **(config.pop("pass_configs", None) or {})}
        func = self.fn
        if isinstance(func, JITImpl):
            return _with_configs(func, configs).compile(**config)
        func = func(**config)
        if isinstance(func, JITKernel):
            return func
        return _compile(func, pass_configs=configs, out_idx=c.out_idx, target=c.target,
                        verbose=c.verbose, execution_backend=c.execution_backend)

    def generate_cache_key(self, parameters=None, extra_parameters=None):
        """Under what a result is kept; None: functions have a say in it, and nothing is."""
        fn = getattr(self.fn, "func", self.fn)
        fn = getattr(fn, "__wrapped__", fn)
        cells = _cells(fn)
        if self.profile_args.has_callbacks() or cells is None:
            return None
        return _key(inspect.getsource(fn), cells, list(parameters or ()), extra_parameters or {},
                    self.configs, _machine(self.compile_args.target),
                    vars(self.compile_args), self.profile_args.identity(), get_autotune_inputs())

    def run(self, warmup=25, rep=100, timeout=180, use_pipeline=False,
            enable_grouped_compile=False, group_compile_size=2, benchmark_devices=None,
            benchmark_multi_gpu=False, early_stop=False, early_stop_factor=2.0):
        """The fastest of the configurations.  enable_grouped_compile: group_compile_size of them are
        compiled one after the other by one worker; use_pipeline: each is timed as soon as it is
        compiled.  They are timed on one device, the current one."""
        if benchmark_devices is not None or benchmark_multi_gpu:
            raise NotImplementedError("benchmark_devices, benchmark_multi_gpu: configurations are "
                                      "timed on one device, the current one")
        if group_compile_size < 1:
            raise ValueError("group_compile_size is %r" % group_compile_size)
        own = self.profile_args
        if own == ProfileArgs():
            own = replace(own, warmup=warmup, rep=rep)
        own = replace(own, timeout=timeout, early_stop=early_stop,
                      early_stop_factor=early_stop_factor)
        key = self.generate_cache_key()
        known = _load(key) if key else None
        if known:
            return _known(self._build(known["config"]), known)
        result = _Search(own).run(self._build, self.configs,
                                  group_compile_size if enable_grouped_compile else 1, use_pipeline)
        if key:
            _save(key, result)
        return result


def _known(kernel, known):
    kernel.update_tuner_result(known["latency"], known["config"], known["ref_latency"])
    return AutotuneResult(known["latency"], known["config"], known["ref_latency"],
                          kernel.kernel_source, kernel.prim_func, kernel)


# ---- @tilelang.autotune ---------------------------------------------------------------------------


class AutoTuneImpl:
    """A jit function whose best configuration is looked for at the first call."""

    def __init__(self, impl, configs, profile, do_not_specialize=()):
        if not isinstance(impl, JITImpl):
            raise TypeError("@tilelang.autotune stands above @tilelang.jit")
        self.jit_impl, self.configs, self.profile = impl, configs, profile
        self.do_not_specialize = set(do_not_specialize or ())
        self.__name__, self.__doc__ = impl.__name__, impl.__doc__
        self.__wrapped__ = impl.__wrapped__
        self._tuner_cache = {}  # key -> configuration, or None where the caller has chosen
        self._results = {}

    def _choices(self, args, keys):
        configs = self.configs
        if hasattr(configs, "points"):
            configs = self._legal(configs, args, keys)
        elif callable(configs):
            configs = configs(*args, **keys)
        configs = [dict(c) for c in configs]
        names = set(self.jit_impl.signature.parameters)
        for c in configs:
            unused = set(c) - names - {"pass_configs"}
            if unused:
                raise ValueError("Unused keys in a configuration: %s" % ", ".join(sorted(unused)))
        return configs

    def _legal(self, space, args, keys):
        """The points of a tilelang.tune.Space that meet its conditions for these arguments."""
        bound = self.jit_impl.signature.bind_partial(*args, **keys)
        bound.apply_defaults()
        dropped = {}
        points = list(space.points(dict(bound.arguments), dropped))
        for reason, n in dropped.items():
            logger.info("%s: %d points dropped: %s", self.__name__, n, reason)
        if not points:
            raise ValueError("%s: no point of the space meets its conditions: %s"
                             % (self.__name__, ", ".join("%s (%d)" % row for row in dropped.items())))
        return points

    def _fixed(self, args, keys, configs):
        """Whether the caller has set what would be tuned."""
        tunable = {k for c in configs for k in c}
        names = list(self.jit_impl.signature.parameters)
        given = set(keys) | set(names[: len(args)])
        return bool(tunable) and bool(tunable & given)

    def _key(self, args, keys, configs, chosen):
        skip = self.do_not_specialize
        known = self.jit_impl.signature.parameters
        bound = self.jit_impl.signature.bind_partial(
            *args, **{k: v for k, v in keys.items() if k in known})
        bound.apply_defaults()
        bound = dict(bound.arguments)
        bound.update((k, v) for k, v in keys.items() if k not in known)
        # Shapes of inputs follow from arguments; those that do not matter must not come back so.
        fixed = None if skip else get_autotune_inputs()
        options = {k: v for k, v in self.jit_impl.options.items() if k != "target"}
        return _key(self.jit_impl._text, {k: v for k, v in bound.items() if k not in skip},
                    _cells(self.__wrapped__), _machine(self.jit_impl.target), options,
                    self.profile.identity(), fixed, configs, chosen)

    def _is_kept(self):
        """Functions have no text of their own that a result could be kept under."""
        return not self.profile.has_callbacks() and _cells(self.__wrapped__) is not None

    def _build(self, args, keys, config):
        """The kernel of one configuration, with its own pass configs."""
        config = dict(config)
        impl = _with_configs(self.jit_impl, config.pop("pass_configs", None))
        return impl.compile(*args, **{**keys, **config})

    def _search(self, key, args, keys, configs):
        """A result from disk, or found now."""
        def build(config):
            return self._build(args, keys, config)

        known = _load(key) if self._is_kept() else None
        if known:
            return _known(build(known["config"]), known)
        inputs = None
        if self.jit_impl._eager:
            inputs = list(self.jit_impl._split(args, dict(keys))[1].values()) or None
        search = _Search(self.profile, inputs)
        found = search.run(build, configs)
        if self._is_kept():
            _save(key, found)
            self._note(args, keys, found.kernel, search.rows)
        return found

    def _note(self, args, keys, kernel, rows):
        """What was measured, into the library that tl tune keeps.  Where it cannot be written the
        search is as good."""
        import sqlite3

        from ..tune.library import Library, LibraryError, problem_of

        if str(env.TILELANG_AUTO_TUNING_DISABLE_CACHE).lower() in ("1", "true", "on"):
            return
        given = self.jit_impl.signature.bind_partial(
            *args, **{k: v for k, v in keys.items() if k in self.jit_impl.signature.parameters})
        try:
            with Library() as library:
                number = library.problem(**problem_of(self.jit_impl, given.arguments, kernel))
                for config, ms, why in rows:
                    library.add(number, config, "ok" if why is None else "failed", why,
                                () if ms is None else (ms,))
        except (LibraryError, sqlite3.Error, OSError) as e:
            logger.info("%s: the tuning library keeps nothing of this: %s", self.__name__, e)

    def compile(self, *args, **keys):
        keys.pop("__return_kernel", None)
        configs = self._choices(args, keys)
        chosen = self._fixed(args, keys, configs)
        key = self._key(args, keys, configs, chosen)
        if chosen:
            if key not in self._tuner_cache:
                logger.warning("%s: tunable parameters are given, so nothing is tuned",
                               self.__name__)
                self._tuner_cache[key] = None
            return self.jit_impl.compile(*args, **keys)
        if key not in self._tuner_cache:
            found = self._results[key] = self._search(key, args, keys, configs)
            self._tuner_cache[key] = found.config
            return found.kernel
        # Another value of what is not specialised: the same choice, another kernel.
        kernel = self._build(args, keys, self._tuner_cache[key])
        if kernel.latency is None and key in self._results:
            found = self._results[key]
            kernel.update_tuner_result(found.latency, found.config, found.ref_latency)
        return kernel

    def _result(self, args, keys, kernel):
        """What a call gave when jit was the tuner's own: its configuration is a list of values."""
        configs = self._choices(args, keys)
        found = self._results.get(self._key(args, keys, configs, False))
        if found is None:
            found = _known(kernel, {"latency": kernel.latency, "config": kernel.config,
                                    "ref_latency": kernel.ref_latency})
        return AutotuneResult(found.latency, list((found.config or {}).values()), found.ref_latency,
                              found.libcode, found.func, found.kernel)

    def __call__(self, *args, **keys):
        kernel = self.compile(*args, **keys)
        if hasattr(self.jit_impl, "_profile_told"):
            return self._result(args, keys, kernel)
        if self.jit_impl._eager:
            return kernel(*self.jit_impl._split(args, keys)[1].values())
        return kernel

    def __repr__(self):
        return "<tilelang.autotune %s>" % self.__name__


def autotune(func=None, *, configs=None, warmup=25, rep=100, timeout=100,
             supply_type=TensorSupplyType.Auto, ref_prog=None, supply_prog=None, rtol=1e-2,
             atol=1e-2, max_mismatched_ratio=0.01, skip_check=False, manual_check_prog=None,
             cache_input_tensors=False, do_not_specialize=None, early_stop=False,
             early_stop_factor=2.0, keys=None):
    """Stands above @tilelang.jit; configs is a list of dicts, or a function of the arguments.
    keys: names of what is tuned, which older scripts say once more."""
    if func is not None or configs is None:
        raise ValueError("use @tilelang.autotune(configs=…) above @tilelang.jit")
    profile = ProfileArgs(warmup=warmup, rep=rep, timeout=timeout, supply_type=supply_type,
                          ref_prog=ref_prog, supply_prog=supply_prog, rtol=rtol, atol=atol,
                          max_mismatched_ratio=max_mismatched_ratio, skip_check=skip_check,
                          manual_check_prog=manual_check_prog,
                          cache_input_tensors=cache_input_tensors, early_stop=early_stop,
                          early_stop_factor=early_stop_factor)

    def decorate(f):
        if isinstance(f, PrimFunc):
            raise TypeError("@tilelang.autotune stands above @tilelang.jit")
        told = getattr(f, "_profile_told", {})
        tuner = AutoTuneImpl(f, configs, replace(profile, **told), do_not_specialize)
        unknown = [k for k in keys or () if k not in tuner.jit_impl.signature.parameters]
        if unknown:
            raise ValueError("keys= names no parameter of %s: %s"
                             % (tuner.__name__, ", ".join(map(repr, unknown))))
        return tuner

    return decorate


def jit(func=None, *, supply_type=None, ref_prog=None, supply_prog=None, rtol=None, atol=None,
        max_mismatched_ratio=None, skip_check=None, cache_input_tensors=None, profiler="auto",
        **options):
    """tilelang.jit as it stood under autotune in older scripts: it says how configurations are
    checked, and the call of the tuned function gives the AutotuneResult."""
    if profiler not in ("auto", "tvm", "torch", "dlpack"):
        raise ValueError("profiler is auto, torch, tvm or dlpack, not %r" % (profiler,))
    told = dict(supply_type=supply_type, ref_prog=ref_prog, supply_prog=supply_prog, rtol=rtol,
                atol=atol, max_mismatched_ratio=max_mismatched_ratio, skip_check=skip_check,
                cache_input_tensors=cache_input_tensors)

    def decorate(f):
        impl = _jit(f, **options)
        if isinstance(impl, JITImpl):
            impl._profile_told = {k: v for k, v in told.items() if v is not None}
        return impl

    return decorate if func is None else decorate(func)
