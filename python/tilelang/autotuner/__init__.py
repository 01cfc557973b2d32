"""tilelang.autotune and AutoTuner: compile configurations side by side, time them, keep the best.

Compilation runs in threads (the compiler works without the GIL).  A configuration that fails, or
takes longer than the limit, is reported and left out.  Results are kept on disk under a key of
everything that matters: the function's text, its arguments, the configurations, the target, the
shapes of the inputs and the version."""

import contextlib
import hashlib
import inspect
import json
import os
import sys
import threading
import time

from .. import __version__, _target
from .._log import logger
from ..env import env
from ..jit import JITImpl, JITKernel, compile as _compile
from ..language import PrimFunc
from ..profiler import Profiler, do_bench
from ..utils.tensor import TensorSupplyType, torch_assert_close

__all__ = ["autotune", "AutoTuner", "AutotuneResult", "set_autotune_inputs",
           "get_autotune_inputs"]

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


class AutotuneResult:
    """The best configuration: latency in milliseconds, config, kernel."""

    def __init__(self, latency=None, config=None, ref_latency=None, libcode=None, func=None,
                 kernel=None):
        self.latency, self.config, self.ref_latency = latency, config, ref_latency
        self.libcode, self.func, self.kernel = libcode, func, kernel

    def __repr__(self):
        return "AutotuneResult(latency=%s, config=%s)" % (self.latency, self.config)


# ---- one search -----------------------------------------------------------------------------------


def _workers(n):
    counts = int(float(env.TILELANG_AUTO_TUNING_CPU_COUNTS or -1))
    if counts <= 0:
        counts = int((os.cpu_count() or 1) * float(env.TILELANG_AUTO_TUNING_CPU_UTILITIES or 0.9))
    most = int(float(env.TILELANG_AUTO_TUNING_MAX_CPU_COUNT or -1))
    if most > 0:
        counts = min(counts, most)
    return max(1, min(counts, n))


class _Progress:
    """A line on a terminal; nothing when stderr is a file."""

    def __init__(self, what, total):
        self.what, self.total, self.done = what, total, 0
        self.shown = sys.stderr.isatty()

    def step(self):
        self.done += 1
        if self.shown:
            width = 30 * self.done // max(self.total, 1)
            sys.stderr.write("\r%s [%s%s] %d/%d" % (self.what, "#" * width, " " * (30 - width),
                                                    self.done, self.total))
            sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")


def _compile_all(build, configs, timeout):
    """[(config, kernel)] of those that compiled in time."""
    from concurrent.futures import ThreadPoolExecutor, TimeoutError as Late

    done, why = [], None
    progress = _Progress("compiling", len(configs))
    pool = ThreadPoolExecutor(_workers(len(configs)))
    jobs = [(c, pool.submit(build, c)) for c in configs]
    for config, job in jobs:
        try:
            done.append((config, job.result(timeout)))
        except Late:
            logger.warning("configuration %s took longer than %s s to compile", config, timeout)
        except Exception as e:
            why = e
            logger.info("configuration %s does not compile: %s", config, e)
        progress.step()
    progress.end()
    pool.shutdown(wait=False, cancel_futures=True)
    return done, why


class _Search:
    def __init__(self, profile, inputs=None):
        self.p = profile
        self.inputs = inputs

    def _inputs(self, kernel):
        if self.inputs is not None:
            return self.inputs
        made = self.p.get("supply_prog")
        fixed = get_autotune_inputs()
        if fixed is not None:
            return fixed
        if made:
            return made(kernel.params)
        return Profiler(kernel, self.p.get("supply_type") or TensorSupplyType.Auto)._get_inputs()

    def _check(self, kernel, args):
        ref, manual = self.p.get("ref_prog"), self.p.get("manual_check_prog")
        if ref is None or self.p.get("skip_check"):
            return
        ours, theirs = kernel(*args), ref(*args)
        ours, theirs = ([x] if not isinstance(x, (list, tuple)) else x for x in (ours, theirs))
        if manual is not None:
            manual(ours, theirs)
            return
        for a, b in zip(ours, theirs):
            torch_assert_close(a, b, rtol=self.p.get("rtol", 1e-2), atol=self.p.get("atol", 1e-2),
                               max_mismatched_ratio=self.p.get("max_mismatched_ratio", 0.01))

    def _time(self, kernel, args, best):
        limit = None
        if self.p.get("early_stop") and best is not None:
            limit = best * self.p.get("early_stop_factor", 2.0)
        return do_bench(lambda: kernel(*args), warmup=self.p.get("warmup", 25),
                        rep=self.p.get("rep", 100), early_stop_baseline=limit)

    def run(self, build, configs):
        kernels, why = _compile_all(build, configs, self.p.get("timeout", 100))
        best, args = None, None
        progress = _Progress("measuring", len(kernels))
        for config, kernel in kernels:
            progress.step()
            try:
                if args is None or not self.p.get("cache_input_tensors", False):
                    args = self._inputs(kernel)
                self._check(kernel, args)
                ms = self._time(kernel, args, best.latency if best else None)
            except Exception as e:
                why = e
                logger.info("configuration %s fails: %s", config, e)
                continue
            logger.info("%.4f ms  %s", ms, config)
            if best is None or ms < best.latency:
                best = AutotuneResult(ms, config, kernel=kernel, func=kernel.prim_func,
                                      libcode=kernel.kernel_source)
        progress.end()
        if best is None:
            raise RuntimeError("Auto-tuning failed: no configuration compiled and passed "
                               "benchmarking. The last one said: %s" % why) from why
        if self.p.get("ref_prog") is not None:
            with contextlib.suppress(Exception):
                best.ref_latency = do_bench(lambda: self.p["ref_prog"](*args), _n_warmup=3,
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
    try:
        with open(os.path.join(_store(), key + ".json")) as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def _save(key, result):
    if not env.is_autotune_cache_enabled():
        return
    with contextlib.suppress(OSError, TypeError, ValueError):
        os.makedirs(_store(), exist_ok=True)
        path = os.path.join(_store(), key + ".json")
        temp = "%s.%d.%d.tmp" % (path, os.getpid(), threading.get_ident())
        with open(temp, "w") as f:
            json.dump({"config": result.config, "latency": result.latency,
                       "ref_latency": result.ref_latency, "time": time.time()}, f)
        os.replace(temp, path)


# ---- AutoTuner ------------------------------------------------------------------------------------


class AutoTuner:
    """AutoTuner.from_kernel(kernel, configs).set_compile_args(…).set_profile_args(…).run()"""

    def __init__(self, fn, configs):
        self.fn, self.configs = fn, list(configs)
        self.compile_args, self.profile_args = {}, {}

    @classmethod
    def from_kernel(cls, kernel, configs):
        return cls(kernel, configs)

    def set_compile_args(self, out_idx=None, target=None, execution_backend=None,
                         target_host=None, verbose=None, pass_configs=None):
        self.compile_args = dict(out_idx=out_idx, target=target, verbose=verbose,
                                 pass_configs=pass_configs)
        return self

    def set_profile_args(self, warmup=25, rep=100, timeout=30,
                         supply_type=TensorSupplyType.Auto, ref_prog=None, supply_prog=None,
                         rtol=1e-2, atol=1e-2, max_mismatched_ratio=0.01, skip_check=False,
                         manual_check_prog=None, cache_input_tensors=False, backend="event"):
        self.profile_args = dict(locals())
        self.profile_args.pop("self")
        return self

    def _build(self, config):
        config = dict(config)
        configs = {**(self.compile_args.get("pass_configs") or {}),
                   **(config.pop("pass_configs", None) or {})}
        func = self.fn
        if isinstance(func, JITImpl):
            return func.compile(**config)
        func = func(**config)
        if isinstance(func, JITKernel):
            return func
        args = {k: v for k, v in self.compile_args.items() if k != "pass_configs"}
        return _compile(func, pass_configs=configs, **args)

    def run(self, warmup=25, rep=100, timeout=180, use_pipeline=False,
            enable_grouped_compile=False, group_compile_size=2, benchmark_devices=None,
            benchmark_multi_gpu=False, early_stop=False, early_stop_factor=2.0):
        p = {"warmup": warmup, "rep": rep, **self.profile_args, "timeout": timeout,
             "early_stop": early_stop, "early_stop_factor": early_stop_factor}
        callbacks = any(p.get(n) for n in ("ref_prog", "supply_prog", "manual_check_prog"))
        fn = getattr(self.fn, "func", self.fn)
        key = None
        if not callbacks and not any(getattr(c, "cell_contents", None) is not None and
                                     not isinstance(c.cell_contents, (int, float, str, bool))
                                     for c in (fn.__closure__ or ())):
            cells = [c.cell_contents for c in (fn.__closure__ or ())]
            key = _key(inspect.getsource(fn), cells, self.configs,
                       _target.determine_target(self.compile_args.get("target")),
                       self.compile_args, get_autotune_inputs())
            known = _load(key)
            if known:
                kernel = self._build(known["config"])
                kernel.update_tuner_result(known["latency"], known["config"],
                                           known["ref_latency"])
                return AutotuneResult(known["latency"], known["config"], known["ref_latency"],
                                      kernel.kernel_source, kernel.prim_func, kernel)
        result = _Search(p).run(self._build, self.configs)
        if key:
            _save(key, result)
        return result


# ---- @tilelang.autotune ---------------------------------------------------------------------------


class AutoTuneImpl:
    """A jit function whose best configuration is looked for at the first call."""

    def __init__(self, impl, configs, profile):
        if not isinstance(impl, JITImpl):
            raise TypeError("@tilelang.autotune stands above @tilelang.jit")
        self.jit_impl, self.configs, self.profile = impl, configs, profile
        self.__name__, self.__doc__ = impl.__name__, impl.__doc__
        self.__wrapped__ = impl.func
        self._tuned = self._tuner_cache = {}
        self._told = False

    def _choices(self, args, keys):
        configs = self.configs
        if callable(configs):
            configs = configs(*args, **keys)
        configs = [dict(c) for c in configs]
        names = set(self.jit_impl.signature.parameters)
        for c in configs:
            unused = set(c) - names - {"pass_configs"}
            if unused:
                raise ValueError("Unused keys in a configuration: %s" % ", ".join(sorted(unused)))
        return configs

    def _fixed(self, args, keys, configs):
        """Whether the caller has set what would be tuned."""
        tunable = {k for c in configs for k in c}
        names = list(self.jit_impl.signature.parameters)
        given = set(keys) | set(names[: len(args)])
        return bool(tunable) and bool(tunable & given)

    def _key(self, args, keys):
        skip = set(self.profile.get("do_not_specialize") or ())
        known = self.jit_impl.signature.parameters
        bound = dict(self.jit_impl.signature.bind_partial(
            *args, **{k: v for k, v in keys.items() if k in known}).arguments)
        bound.update((k, v) for k, v in keys.items() if k not in known)
        fixed = get_autotune_inputs()
        return _key(self.jit_impl._text, {k: v for k, v in bound.items() if k not in skip},
                    _target.determine_target(self.jit_impl.target),
                    self.jit_impl.pass_configs or {}, fixed)

    def _with(self, config):
        """The jit function, with the pass configs of this configuration."""
        own = config.pop("pass_configs", None)
        if not own:
            return self.jit_impl
        options = dict(self.jit_impl.options)
        options["pass_configs"] = {**(options.get("pass_configs") or {}), **own}
        return JITImpl(self.jit_impl.func, options)

    def _result(self, args, keys):
        configs = self._choices(args, keys)
        keys.pop("__return_kernel", None)
        key = self._key(args, keys) + _key(configs)
        found = self._tuned.get(key)
        if found is not None:
            return found
        impl = self.jit_impl

        def build(config):
            config = dict(config)
            return self._with(config).compile(*args, **{**keys, **config})

        callbacks = any(self.profile.get(n) for n in ("ref_prog", "supply_prog",
                                                      "manual_check_prog"))
        known = None if callbacks else _load(key)
        if known:
            kernel = build(known["config"])
            kernel.update_tuner_result(known["latency"], known["config"], known["ref_latency"])
            found = AutotuneResult(known["latency"], known["config"], known["ref_latency"],
                                   kernel=kernel)
        else:
            inputs = None
            if impl._eager:
                inputs = list(impl._split(args, keys)[1].values()) or None
            found = _Search(self.profile, inputs).run(build, configs)
            if not callbacks:
                _save(key, found)
        self._tuned[key] = found
        return found

    def compile(self, *args, **keys):
        configs = self._choices(args, keys)
        if self._fixed(args, keys, configs):
            if not self._told:
                logger.warning("%s: tunable parameters are given, so nothing is tuned",
                               self.__name__)
            self._told = True
            return self.jit_impl.compile(*args, **keys)
        return self._result(args, keys).kernel

    def __call__(self, *args, **keys):
        kernel = self.compile(*args, **keys)
        if self.jit_impl._eager:
            return kernel(*self.jit_impl._split(args, keys)[1].values())
        return kernel

    def __repr__(self):
        return "<tilelang.autotune %s>" % self.__name__


def autotune(func=None, *, configs=None, warmup=25, rep=100, timeout=100,
             supply_type=TensorSupplyType.Auto, ref_prog=None, supply_prog=None, rtol=1e-2,
             atol=1e-2, max_mismatched_ratio=0.01, skip_check=False, manual_check_prog=None,
             cache_input_tensors=False, do_not_specialize=None, early_stop=False,
             early_stop_factor=2.0):
    """Stands above @tilelang.jit; configs is a list of dicts, or a function of the arguments."""
    if func is not None or configs is None:
        raise ValueError("use @tilelang.autotune(configs=…) above @tilelang.jit")
    profile = dict(warmup=warmup, rep=rep, timeout=timeout, supply_type=supply_type,
                   ref_prog=ref_prog, supply_prog=supply_prog, rtol=rtol, atol=atol,
                   max_mismatched_ratio=max_mismatched_ratio, skip_check=skip_check,
                   manual_check_prog=manual_check_prog, cache_input_tensors=cache_input_tensors,
                   do_not_specialize=do_not_specialize, early_stop=early_stop,
                   early_stop_factor=early_stop_factor)

    def decorate(f):
        if isinstance(f, PrimFunc):
            raise TypeError("@tilelang.autotune stands above @tilelang.jit")
        return AutoTuneImpl(f, configs, profile)

    return decorate
