"""Nothing is silently ignored by functions of the package: every parameter of every public function and
method is read by it, and those that say how something is done are seen to change it."""

import ast
import contextlib
import importlib
import inspect
import io
import pkgutil
import textwrap
import threading
import warnings

import numpy as np

import tilelang
import tilelang.language as T
from check import raises, settings

# ---- what there is -------------------------------------------------------------------------------


def modules():
    yield tilelang
    for m in pkgutil.walk_packages(tilelang.__path__, "tilelang."):
        if not any(part.startswith("_") for part in m.name.split(".")):
            yield importlib.import_module(m.name)


def own(x):
    return str(getattr(x, "__module__", "")).startswith("tilelang")


def functions():
    """(name, function) of all that has a Python body, each once.  Methods of classes too."""
    seen = set()
    for m in modules():
        for name, x in sorted(vars(m).items()):
            if name.startswith("_") or not own(x):
                continue
            found = [(name, x)]
            if inspect.isclass(x):
                found = [("%s.%s" % (name, k), getattr(f, "__func__", f)) for k, f in vars(x).items()
                         if not k.startswith("_") or k in ("__init__", "__new__", "__call__")]
            for title, f in found:
                f = inspect.unwrap(f) if callable(f) else f
                if inspect.isfunction(f) and own(f) and f.__code__ not in seen:
                    seen.add(f.__code__)
                    yield "%s.%s" % (m.__name__, title), f


def unread(f):
    """Parameters that the body does not mention."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(f))).body[0]
    except (OSError, SyntaxError):
        return []  # a lambda within a line, or one that dataclasses made of its fields
    if not isinstance(tree, ast.FunctionDef):
        return []
    names = {n.id for part in tree.body for n in ast.walk(part) if isinstance(n, ast.Name)}
    return [p for p in inspect.signature(f).parameters if p not in names and p not in ("self", "cls")]


def refuses(f):
    """Whatever it is given, it raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(f))).body[0]
    body = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return len(body) == 1 and isinstance(body[0], ast.Raise)


def test_every_parameter_of_the_package_is_read():
    found, quiet = 0, []
    for name, f in functions():
        found += 1
        left = unread(f)
        if left and not refuses(f) and not is_hook(f):
            quiet.append("%s(%s)" % (name, ", ".join(left)))
    assert found > 300, found
    assert not quiet, "read by nobody:\n  " + "\n  ".join(quiet)


# ---- hooks: methods that subclasses put in place of those of the package -----------------------------


def is_hook(f):
    from tilelang import instrumentation as made

    return any(f.__code__ is getattr(c, f.__name__).__code__
               for c in (made.PassEventObserver, made.PassInstrumentationTool,
                         made.StackedPassInstrument) if hasattr(c, f.__name__))


def test_hooks_get_their_arguments():
    """Every parameter of a method that is there to be put in place of arrives."""
    from tilelang import instrumentation as made

    got = {}

    def spy(cls):
        class Spy(cls):
            pass

        for name, f in vars(cls).items():
            if inspect.isfunction(f) and not name.startswith("_"):
                def method(self, *args, _name=name, _f=f):
                    got.setdefault(_name, []).append(args)
                    return _f(self, *args)

                setattr(Spy, name, method)
        return Spy

    class Tool(spy(made.PassInstrumentationTool)):
        def create_pass_instrument(self):
            return spy(made.StackedPassInstrument)(spy(made.PassEventObserver)())

    with made.compile_pass_instrumentation(tools=[Tool()]):
        tilelang.compile(scaled(), target="cpu")
    for cls in (made.PassEventObserver, made.PassInstrumentationTool, made.StackedPassInstrument):
        for name, f in vars(cls).items():
            if not inspect.isfunction(f) or not unread(f):
                continue
            assert name in got, "%s.%s was not called" % (cls.__name__, name)


def scaled(n=64):
    @T.prim_func
    def scaled(A: T.Tensor((n,), T.float32), B: T.Tensor((n,), T.float32)):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i] = A[i] * 2

    return scaled


# ---- effects -----------------------------------------------------------------------------------


def outcome(f, *args, **keys):
    """What comes of a call: its value, what it prints and warns, or its error."""
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            got = f(*args, **keys)
        except Exception as e:
            got = "%s: %s" % (type(e).__name__, e)
    return repr(got), out.getvalue(), [str(w.message) for w in told]


def differs(f, base, other, function=None):
    """Every parameter of a function, given another value than in base, changes what comes of it."""
    names = set(inspect.signature(function or f).parameters) - {"self", "cls"}
    missing = names - set(other)
    assert not missing, "%s: no other value for %s" % (f, ", ".join(sorted(missing)))
    before = outcome(f, **base)
    assert outcome(f, **base) == before, "%s gives something else each time" % f
    same = [p for p, v in other.items() if outcome(f, **{**base, p: v}) == before]
    assert not same, "%s: nothing comes of %s" % (f, ", ".join(same))


class Clock:
    """time.perf_counter of do_bench: runs take a millisecond or a few more."""

    def __init__(self):
        self.now, self.step = 0.0, 0

    def perf_counter(self):
        return self.now


def bench(run=tilelang.do_bench, **keys):
    """do_bench by a clock of our own: milliseconds, runs, their inputs, what was emptied before them."""
    from tilelang import profiler

    clock, runs, emptied = Clock(), [], []
    long = keys.pop("fn", None)

    class Flush(profiler._Flush):
        def zero_(self):
            super().zero_()
            emptied.append((self.made and len(self.made), self.fast))

    def body(*args):
        runs.append([x.shape for x in args])
        clock.step += 1
        clock.now += (1 + clock.step % 7) * (2e-3 if long else 1e-3)

    kept = profiler.time, profiler._Flush
    profiler.time, profiler._Flush = clock, Flush
    try:
        got = run(body, **keys)
    finally:
        profiler.time, profiler._Flush = kept
    dropped = [x.grad for x in keys.get("grad_to_none") or ()]
    return got, len(runs), runs[:1], emptied[-1], dropped


class WithGradient:
    grad = 3


def test_do_bench():
    differs(bench, {}, dict(
        fn=2, warmup=50, rep=200, _n_warmup=3, _n_repeat=5, quantiles=[0.1, 0.9], fast_flush=False,
        backend="cupti", return_mode="max", device=1, cache_size=1, early_stop_baseline=0.5, n_warmup=3,
        n_repeat=5, grad_to_none=[WithGradient()]), tilelang.do_bench)


def test_profiler_times():
    n = T.dynamic("n")

    @T.prim_func
    def doubled(A: T.Tensor((n,), T.float32), B: T.Tensor((n,), T.float32)):
        with T.Kernel(1, threads=32):
            for i in T.serial(n):
                B[i] = A[i] * 2

    p = tilelang.compile(doubled, out_idx=-1, target="cpu").get_profiler()

    def timed(**keys):
        other = keys.pop("func", None)
        return bench(lambda body, **k: p.do_bench(other or body, **k), **keys)

    differs(timed, dict(dynamic_symbolic_constraints={"n": 8}), dict(
        func=len, warmup=50, rep=200, n_warmup=3, n_repeat=5, backend="cupti", quantiles=[0.1, 0.9],
        return_mode="max", device=1, early_stop_baseline=0.5, input_tensors=[np.zeros(4, "float32")],
        dynamic_symbolic_constraints={"n": 4}), type(p).do_bench)


def test_profiler_compares():
    kernel = tilelang.compile(scaled(), out_idx=-1, target="cpu")
    made = kernel.get_profiler()
    ones = [np.ones(64, "float32")]
    differs(made.assert_allclose,
            dict(reference_program=lambda x: 2 * x + 0.1 * (np.arange(64) < 4), input_tensors=ones),
            dict(reference_program=lambda x: 3 * x, input_tensors=[np.ones(9, "float32")], atol=1.0, rtol=1.0,
                 max_mismatched_ratio=0.5))
    differs(made.manual_assert_close,
            dict(reference_program=lambda x: x, input_tensors=ones, manual_check_prog=lambda a, b: print(b)),
            dict(reference_program=lambda x: 3 * x, input_tensors=[np.ones(9, "float32")],
                 manual_check_prog=lambda a, b: print(a)))
    runs = []

    def counted(*a):
        runs.append(a)
        return np.zeros(2)

    other = tilelang.Profiler(kernel, tilelang.TensorSupplyType.Zero, kernel.params[:1], counted)
    other.assert_consistent(repeat=3)
    assert len(runs) == 4 and len(runs[0]) == 1 and not runs[0][0].any()
    assert other.run_once(lambda x: 7) == 7 and other.with_default_adapter(kernel).func is kernel


class Like(np.ndarray):
    """What torch_assert_close asks of torch's tensors."""

    device, layout = "cpu", "strided"

    def detach(self):
        return np.asarray(self).view(Like)

    def to(self, what):
        return self if what == "cpu" else self.astype(what)

    def stride(self):
        return tuple(n // self.itemsize for n in self.strides)

    def is_floating_point(self):
        return True

    def element_size(self):
        return self.itemsize

    def numel(self):
        return self.size


def like(x, **fields):
    made = np.array(x, copy=False).view(Like)
    vars(made).update(fields)
    return made


@contextlib.contextmanager
def torch_of_numpy():
    import sys
    import types

    torch = types.ModuleType("torch")
    torch.isclose, torch.bool, torch.promote_types = np.isclose, np.dtype(bool), np.promote_types
    kept = sys.modules.get("torch")
    sys.modules["torch"] = torch
    try:
        yield
    finally:
        sys.modules.pop("torch")
        if kept is not None:
            sys.modules["torch"] = kept


def test_torch_assert_close():
    from tilelang.utils.tensor import torch_assert_close

    a = np.ones((4, 4), "float32")
    b = a + 0.1 * np.eye(4, dtype="float32")
    holes = a + np.diag([np.nan] * 4).astype("float32") * 0 + np.where(np.eye(4) > 0, np.nan, 0).astype("float32")

    def close(**keys):
        with torch_of_numpy():
            return torch_assert_close(**keys)

    for p, v in dict(tensor_a=like(a * 2), tensor_b=like(a), rtol=1.0, atol=1.0, max_mismatched_ratio=0.5,
                     verbose=True, msg="why", base_name="ours", ref_name="theirs").items():
        base = dict(tensor_a=like(a), tensor_b=like(b))
        assert outcome(close, **{**base, p: v}) != outcome(close, **base), p
    same = dict(tensor_a=like(a))
    for p, v, other in (("equal_nan", False, like(holes)), ("check_device", False, like(a, device="cuda")),
                        ("check_dtype", False, like(a.astype("float64"))),
                        ("check_layout", False, like(a, layout="sparse")),
                        ("check_stride", True, like(a.T.copy().T))):
        base = dict(tensor_a=like(holes) if p == "equal_nan" else same["tensor_a"], tensor_b=other)
        assert outcome(close, **{**base, p: v}) != outcome(close, **base), p
    left = set(inspect.signature(torch_assert_close).parameters) - {
        "tensor_a", "tensor_b", "rtol", "atol", "max_mismatched_ratio", "verbose", "msg", "base_name", "ref_name",
        "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride"}
    assert not left, left


# ---- tuning --------------------------------------------------------------------------------------


def test_tuner_runs():
    """How configurations are compiled and timed is what was asked for."""
    from tilelang import autotuner

    log, timed = [], threading.Event()

    def build(config):
        if config["n"] == 32:  # the last one: is another timed before it is there?
            log.append(("timed already", timed.wait(0.3)))
        log.append(("compiled", config["n"]))
        return tilelang.compile(scaled(config["n"]), out_idx=-1, target="cpu")

    def measure(run, told):
        timed.set()
        log.append(("timed", told["warmup"], told["rep"], told["backend"], told["limit"]))
        return 1.0 + len(log)

    def tuned(**keys):
        del log[:]
        timed.clear()
        profile = {k: keys.pop(k) for k in list(keys) if k in ("cache_input_tensors", "backend")}
        tuner = autotuner.AutoTuner(lambda n: None, [{"n": 64}, {"n": 64}, {"n": 32}])
        tuner._build = build
        tuner.set_profile_args(**profile) if profile else None
        got = tuner.run(**keys)
        return got.config, list(log), len(pools), list(inputs)

    pools, inputs = [], []
    kept = autotuner.measure, autotuner._workers, autotuner.made_inputs
    autotuner.measure = measure
    autotuner._workers = lambda n: pools.append(n) or 1
    autotuner.made_inputs = lambda k, told, had: inputs.append((told["keep"], len(had))) or kept[2](k, told, had)

    def once(**keys):
        del pools[:], inputs[:]
        return tuned(**keys) + (list(pools),)

    try:
        with settings(TILELANG_AUTO_TUNING_ISOLATE="0", TILELANG_AUTO_TUNING_DISABLE_CACHE="1"):
            differs(once, dict(enable_grouped_compile=True, early_stop=True, early_stop_factor=3.0), dict(
                warmup=5, rep=7, timeout=1e-9, use_pipeline=True, enable_grouped_compile=False,
                group_compile_size=3, benchmark_devices=[1], benchmark_multi_gpu=True, early_stop=False,
                early_stop_factor=4.0, cache_input_tensors=True, backend="cupti"), autotuner.AutoTuner.run)
    finally:
        autotuner.measure, autotuner._workers, autotuner.made_inputs = kept


# ---- targets, lowering, pass contexts ------------------------------------------------------------


def test_lower():
    def lowered(**keys):
        got = tilelang.lower(**{"func_or_mod": scaled(), **keys})
        return got.target, got.kernel_source, got.device_mod is None, got.kernel._core.cached()

    base = dict(target="cuda -arch=sm_90a")
    for p, v in dict(func_or_mod=scaled(4096), target="cpu", target_host="llvm", runtime_only=True,
                     enable_host_codegen=True).items():
        assert outcome(lowered, **{**base, p: v}) != outcome(lowered, **base), p


def test_pass_context():
    from tilelang.transform import PassContext, get_pass_context

    @T.prim_func
    def moved(A: T.Tensor((1024,), T.float32), B: T.Tensor((1024,), T.float32)):
        with T.Kernel(1, threads=64):
            T.copy(A, B)

    def source():
        return tilelang.lower(moved, target="cuda -arch=sm_90a").kernel_source

    plain = source()
    with PassContext(config={"tirx.disable_vectorize": True}) as now:
        assert source() != plain and get_pass_context() is now
    assert source() == plain
    for keys in (dict(opt_level=0), dict(required_pass=["x"]), dict(disabled_pass=["x"]),
                 dict(instruments=[3])):
        with raises(NotImplementedError, "PassContext"):
            PassContext(**keys)


# ---- names that are refused ----------------------------------------------------------------------


def test_refused_names_are_no_attributes():
    import tilelang.tvm as tvm

    for module, name in ((tvm, "relay"), (tvm.tir, "Schedule"), (T, "tma_gather4"), (T, "sblock")):
        assert not hasattr(module, name), name
        with raises(AttributeError, name, "not supported"):
            getattr(module, name)


def test_one_table_says_what_is_refused():
    """Each module of the table refuses what it has not, with the table's reason; no other file does it by itself."""
    import glob
    import os

    from tilelang import _refused

    for module, why in _refused.WHY.items():
        at = importlib.import_module(module)
        assert not hasattr(at, "nothing_of_this_name"), module
        with raises(AttributeError, "nothing_of_this_name is not supported", why):
            at.nothing_of_this_name
    assert not hasattr(T, "get_ldmatrix_offset") and hasattr(T, "get_swizzle_layout")
    assert tilelang.rocm.language.__name__ == "tilelang.rocm.language"
    root = os.path.dirname(tilelang.__file__)
    for file in glob.glob(root + "/**/*.py", recursive=True):
        with open(file) as f:
            assert "def refuse(" not in f.read(), file
