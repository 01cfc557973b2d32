"""tilelang.jit, tilelang.compile, and compiled kernels."""

import importlib.util
import operator
import contextlib
import os
import sys
import threading

from .. import _core, _source, _target
from .._errors import ignored, refused, tell
from .._recipe import Recipe
from ..env import env
from ..language import KernelParam, PrimFunc, dtype
from .background import BackgroundKernel, Build, compile_async, wait
from .diagnostics import enabled as _diagnosing, jit_phase
from .kernel import JITKernel, OpInGraph, constant, op_text, tracing

__all__ = ["jit", "compile", "compile_async", "par_compile", "wait", "JITKernel", "JITImpl"]

_keeping = threading.local()  # .on: kernels compiled by this thread keep their IR


@contextlib.contextmanager
def keeping_ir():
    """Kernels compiled inside can be made again in another process."""
    before, _keeping.on = getattr(_keeping, "on", False), True
    try:
        yield
    finally:
        _keeping.on = before


def contexts():
    """The transform.PassContext that this thread is in, the innermost last."""
    if not hasattr(_keeping, "contexts"):
        _keeping.contexts = []
    return _keeping.contexts


def _configs(pass_configs):
    """Keys may be members of PassConfigKey.  What a name means and takes, the compiler knows; here
    values only become those that it can be given: bool, int, str, a list of str, a dict."""
    found = {}
    for key, value in (pass_configs or {}).items():
        key = str(getattr(key, "value", key))
        if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
            value = list(value)
        elif hasattr(value, "__index__") and not isinstance(value, bool):
            value = operator.index(value)
        elif value is not None and not isinstance(value, (bool, str, dict)):
            raise ValueError("the pass config %r is given %s [config-value]"
                             % (key, type(value).__name__))
        if value is not None:
            found[key] = value
    return found


_LOOKED_AT = ("TILELANG_PASS_DIFF", "TL_LOWER_TRACE", "TILELANG_PASS_PROFILE")


def _passes():
    """The module that shows passes, where somebody wants to see them."""
    if all(str(getattr(env, name)) in ("", "0") for name in _LOOKED_AT):
        return None
    from . import passes

    return passes if passes.asked() else None


def _flags(flags):
    if flags is None:
        return None
    return flags if isinstance(flags, str) else " ".join(flags)


def _includes(func, told):
    """Flags that let source text of the user find CUDA's headers."""
    text = getattr(func, "_text", None) or getattr(getattr(func, "_impl", None), "_text", "")
    if not told.startswith("cuda") or not ("import_source" in text or "prelude" in text):
        return ""
    from .adapter.nvrtc.include_paths import include_flags

    return " ".join(f for f in include_flags() if " " not in f)


_postproc = {}  # "cuda" or "cpu" -> what changes emitted text; see tilelang.engine.callback


def _changed(hook, made, told, options):
    """made, compiled from the text that the user's function makes of the emitted one."""
    import tempfile

    text = _core.read(made.text(), told).compile(told, **{**options, "no_build": True})
    text = hook(text.text("source"), _target.Target(told))
    if not isinstance(text, str):
        raise TypeError("a postproc function returns the text to compile, not %s"
                        % type(text).__name__)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(text)
        f.flush()
        return made.compile(told, source=f.name, **options)


def _compile(made, name, target, options):
    """Through the tools that watch compilations, where there are some."""
    hook = _postproc.get(target.split()[0])  # none for "sim"
    if hook is not None:
        return _changed(hook, made, target, options)
    tools = sys.modules.get("tilelang.instrumentation")
    if tools is None or not tools.watched():
        return made.compile(target, **options)
    return tools.run(name, _target.told(target), made.text(),
                     lambda dump: made.compile(target, dump=dump, **options))


def _finish(func, trace, out_idx, target, pass_configs, compile_flags, name, verbose=None,
            no_build=False):
    """trace: a function of the compiler's target that gives something to compile."""
    text = _target.determine_target(target)
    told = _target.told(text)
    if told.startswith("cutedsl") and importlib.util.find_spec("cutlass"):
        os.environ.setdefault("TILELANG_CUTEDSL_PYTHON", sys.executable)  # it has the DSL
    if (env.TILELANG_VERBOSE not in ("0", "") if verbose is None else verbose) or \
            env.is_print_on_compilation_enabled():
        print("tilelang: compiling %s for %s" % (name, text), file=sys.stderr)
    said = dict(enabled=_diagnosing(), kernel=name, target=text)
    with jit_phase("trace", **said):
        made = trace(told)
    consts = made.consts()
    around = contexts()[-1].config if contexts() else {}
    configs = _configs({**around, **(pass_configs or {})})
    options = dict(
        out_idx=list(out_idx) if isinstance(out_idx, (list, tuple)) else out_idx,
        configs=configs,
        flags=" ".join(filter(None, (_flags(compile_flags), _includes(func, told)))) or None,
        name=name,
        no_cache=not env.is_cache_enabled(),
        no_build=no_build or told.startswith("cuda") and env.no_device_code(),
    )
    ir = made.text() if getattr(_keeping, "on", False) else None
    passes = _passes()
    if passes is not None and passes.wanted():
        options["dump"] = "all"
    with jit_phase("compile", **said):
        core = _compile(made, name, text, options)
    tell(core)
    if passes is not None:
        passes.show(core, name)
    report = core.text("report")
    if report:
        print(report, end="")
    kernel = JITKernel._made(core, func, text, out_idx, pass_configs, compile_flags)
    if ir is not None:
        kernel._recipe = {"ir": ir, "told": text, "options": options}
    return kernel, consts


_BACKENDS = ("auto", "tvm_ffi", "cython", "nvrtc", "ctypes", "dlpack", "torch")


def _backend(name):
    """There is one; the names of the original's are known, and one that it does not have is not."""
    name = name or env.TILELANG_EXECUTION_BACKEND or "auto"
    if name == "cutedsl":
        raise NotImplementedError("the execution backend 'cutedsl' is not supported")
    if name not in _BACKENDS:
        raise ValueError("Invalid execution backend: %r; there are %s" % (name,
                                                                         ", ".join(_BACKENDS)))
    return "tvm_ffi" if name == "auto" else name


def _host(target_host):
    if target_host is not None:
        ignored("target_host", "the part of a kernel that runs on the host is built for this "
                "machine", 3)


def compile(func=None, out_idx=None, execution_backend=None, target=None, target_host=None,
            verbose=None, pass_configs=None, compile_flags=None):
    """Compile a @T.prim_func into a JITKernel."""
    if isinstance(func, JITImpl):
        raise TypeError("%r is a jit function; call it, or use its .compile" % func.__name__)
    backend = _backend(execution_backend)
    _host(target_host)
    if not isinstance(func, PrimFunc):
        raise refused(TypeError, "tilelang.compile needs a @T.prim_func, not %s [decorator]" % type(func).__name__)
    attrs = func.attrs
    out_idx = func.out_idx(out_idx)
    configs = {**(attrs.get("tilelang_pass_configs") or {}), **(pass_configs or {})}
    kernel = _finish(func, func._take, out_idx, target, configs, compile_flags,
                     attrs.get("name", func.__name__), verbose)[0]
    kernel.execution_backend = backend
    return kernel


def _parallel(jobs, num_workers, ignore_error):
    """Results of the calls in order; compiling runs without the GIL."""
    from concurrent.futures import ThreadPoolExecutor

    workers = num_workers or min(len(jobs), os.cpu_count() or 1) or 1

    from .._log import Progress, logger

    progress, done = Progress("compiling", len(jobs)), []

    def one(job):
        try:
            return job()
        except Exception as why:
            if ignore_error:
                logger.warning("a kernel does not compile: %s", why)
                return None
            raise

    try:
        with ThreadPoolExecutor(workers) as pool:
            for kernel in pool.map(one, jobs):
                done.append(kernel)
                progress.step()
    finally:
        progress.end()
    return done


def par_compile(funcs, out_idx=None, execution_backend=None, target=None, target_host=None,
                verbose=None, pass_configs=None, compile_flags=None, num_workers=None,
                ignore_error=False):
    """Compile several functions at once; with ignore_error a failed one is None."""
    jobs = [
        lambda f=f: compile(f, out_idx, execution_backend, target, target_host, verbose,
                            pass_configs, compile_flags)
        for f in funcs
    ]
    return _parallel(jobs, num_workers, ignore_error)


# ---- @tilelang.jit --------------------------------------------------------------------------------


class _Same:
    """An object that has no hash, by identity; it is kept, so that no other gets its address."""

    def __init__(self, thing):
        self.thing = thing

    def __eq__(self, other):
        return isinstance(other, _Same) and self.thing is other.thing

    def __hash__(self):
        return id(self.thing)


def _frozen_object(v):
    """Dataclasses by their fields and arrays by their elements, since both may change."""
    if hasattr(type(v), "__dataclass_fields__"):
        return (type(v),) + tuple((n, _freeze(getattr(v, n))) for n in v.__dataclass_fields__)
    if type(v).__module__ == "numpy" and hasattr(v, "tobytes"):
        return "array", str(v.dtype), v.shape, v.tobytes()
    return _Same(v)


def _freeze(v):
    if isinstance(v, dict):
        return ("dict",) + tuple((k, _freeze(x)) for k, x in v.items())
    if isinstance(v, (list, tuple)):
        return (type(v).__name__,) + tuple(map(_freeze, v))
    if isinstance(v, set):
        return ("set", frozenset(v))
    try:
        hash(v)
    except TypeError:
        return _frozen_object(v)
    if isinstance(v, float):
        return type(v), v.hex()  # 0.0 is not -0.0, and nan is nan
    return (type(v), v) if isinstance(v, (bool, int, float)) else v


def _strides(x):
    if callable(getattr(x, "stride", None)):
        return None if x.stride() is None else tuple(x.stride())
    strides = getattr(x, "strides", None)
    if strides is None:
        return None
    size = getattr(x, "itemsize", 1) or 1
    return tuple(s // size for s in strides)


class _Values(tuple):
    """Values of a call.  Two are equal where the types are, too: 1, True and 1.0 make different
    kernels, and so may a list and a tuple."""

    def __eq__(self, other):
        if not isinstance(other, _Values):
            return tuple.__eq__(self, other)
        return tuple.__eq__(self, other) and self.types == other.types

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__


def _sort(v):
    """What equal values differ in: the type, and the sign of zero."""
    return str(v) if type(v) is float and v == 0 else type(v)


def _values(items, kind=tuple):
    made = _Values(items)
    made.types = (kind,) + tuple(map(_sort, made))
    return made


def _hashable(v):
    """v with its lists, dicts and sets turned into tuples; what has no hash then is refused."""
    if isinstance(v, dict):
        return _values((_values((k, _hashable(x))) for k, x in v.items()), dict)
    if isinstance(v, (list, tuple)):
        return _values(map(_hashable, v), type(v))
    if isinstance(v, (set, frozenset)):
        return frozenset(map(_hashable, v))
    try:
        hash(v)
    except TypeError:
        raise TypeError("Unsupported unhashable JIT compile-time cache key value: %r" % (v,)) \
            from None
    return v


class JITFunc:
    """The Python function of a JITImpl, and how calls of it are told apart."""

    def __init__(self, impl, func):
        self._impl, self.__wrapped__ = impl, func
        self.orig_func = func
        self.__name__, self.__doc__ = _name_of(func), func.__doc__
        self.__qualname__ = getattr(func, "__qualname__", self.__name__)
        self.__module__ = getattr(func, "__module__", None)

    def __call__(self, *args, **keys):
        return self.__wrapped__(*args, **keys)

    def __getattr__(self, name):
        if name in ("__code__", "__closure__", "__globals__", "__defaults__"):
            return getattr(self.__wrapped__, name)
        raise AttributeError(name)

    def set_mode(self, mode):
        self._impl.mode = mode

    def _bind(self, args, keys):
        """Values by name in the order of the signature, defaults in, and those it has no name
        for; a parameter **name is taken apart."""
        params = self._impl.signature.parameters
        values = self._bind_plain(params, args) if not keys else None
        if values is not None:
            return values, {}
        spread = [n for n, p in params.items() if p.kind is p.VAR_KEYWORD]
        known = keys if spread else {k: v for k, v in keys.items() if k in params}
        bound = self._impl.signature.bind(*args, **known)
        bound.apply_defaults()
        values = dict(bound.arguments)
        for name in spread:
            values.update(values.pop(name))
        return values, {k: v for k, v in keys.items() if k not in known}

    def _bind_plain(self, params, args):
        """The same for positions alone, which are most calls; None where it takes more."""
        plain = self.__dict__.get("_defaults")
        if plain is None:
            plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in params.values()) and \
                tuple((n, p.default, p.default is not p.empty) for n, p in params.items())
            self._defaults = plain
        if plain is False or len(args) > len(plain):
            return None
        values = {n: x for (n, _, _), x in zip(plain, args)}
        for n, x, has in plain[len(args):]:
            if not has:
                return None
            values[n] = x
        return values

    def parse_args(self, *args, **keys):
        """((what is fixed when compiling), None), {tensors}"""
        fixed, given, extra = self._parts(args, keys)
        key = list(fixed.values())
        if extra:
            key.append(tuple(extra.items()))
        return (_hashable(tuple(key)), None), given

    def _parts(self, args, keys):
        values, extra = self._bind(args, keys)
        given = {k: v for k, v in values.items() if self._impl._runtime(k)}
        return {k: v for k, v in values.items() if k not in given}, given, extra

    def _parse_phase1_key(self, *args, **keys):
        fixed, given, extra = self._parts(args, keys)
        fixed.update(extra)
        return tuple(_hashable(v) for v in fixed.values()), given, fixed


def _bits(x):
    """Of an element as it is stored; 0 where that is not said."""
    size = getattr(x, "itemsize", None)
    if size is None and callable(getattr(x, "element_size", None)):
        size = x.element_size()
    return 8 * size if isinstance(size, int) else 0


def _pinned(v):
    """An int that torch.compile would leave open as the number it is."""
    return operator.index(v) if isinstance(v, int) and not isinstance(v, bool) else v


def _unlike(name, given, why):
    """The exception for arguments that do not tell what T.const stands for."""
    for word, x in given.items():
        if not hasattr(x, "shape") and not isinstance(x, (int, float)):
            return TypeError("%s: argument %r is expected as a tensor and got %s, which is no array "
                             "[argument-type]" % (name, word, type(x).__name__))
    shapes = ", ".join("%r is %s" % (w, tuple(x.shape) if hasattr(x, "shape") else x)
                       for w, x in given.items())
    return ValueError("%s: %s, which has not the dimensions that are declared [argument-rank]\n%s"
                      % (name, shapes, why))


class _Look:
    """What compiling needs to know of an argument, where there is no tensor yet."""

    def __init__(self, shape, strides, itemsize):
        self.shape, self._strides, self.itemsize = shape, strides, itemsize

    def stride(self):
        return self._strides


def _name_of(func):
    """A lambda and functools.partial(f) make kernels, too."""
    name = getattr(func, "__name__", None) or getattr(getattr(func, "func", None), "__name__", "")
    return name if name.isidentifier() else "kernel"


def _text_behind(func):
    """((file, text) or None, function): a lambda and any other callable are asked for kernels
    only; behind a decorator that keeps __wrapped__ may stand the body of an eager kernel."""
    import types

    if not isinstance(func, types.FunctionType) or func.__name__ == "<lambda>":
        return None, func
    inner = func
    while isinstance(getattr(inner, "__wrapped__", None), types.FunctionType):
        inner = inner.__wrapped__
    text = _source.text_of(inner)
    return text, inner if _core.look(*text)[0] else func


_PLAIN = frozenset((int, float, bool, str, type(None), dtype))  # equal ones of a type are the same


class JITImpl:
    """A function under @tilelang.jit.

    Lazy: it returns a @T.prim_func; a call gives the compiled kernel.
    Eager: its body is the kernel; a call compiles for the arguments' shapes and runs."""

    def __init__(self, func, options):
        func = getattr(func, "__wrapped__", func) if isinstance(func, JITFunc) else func
        text, func = _text_behind(func)
        self.func = JITFunc(self, func)
        self.__name__ = _name_of(func)
        self.__qualname__ = getattr(func, "__qualname__", self.__name__)
        self.__doc__ = func.__doc__
        self.__module__ = self.func.__module__
        self.__wrapped__ = func
        self.options = options
        self.out_idx = options.get("out_idx")
        self.pass_configs = options.get("pass_configs")
        self.target = options.get("target")
        self._file, self._text = text or ("", "")
        eager, _, params, makes = _core.look(*text) if text else (False, False, [], True)
        self._declared = dict(params)
        self._names = _source.names_of(func) if text else ({}, {}, {}, {})
        # A macro may open the kernel of a function whose parameters are tensors.
        eager = eager or not makes and any(self._runtime(n) for n, _ in params)
        self._eager = eager
        self._lock = threading.RLock()
        self._kernels = {}
        self._by_target = {}
        self._consts = {}
        self._signature = None
        # For torch.compile, which asks for kernels while it looks.
        self._constant = constant(lambda fixed, given: self._for_graph(fixed, given))
        self._const_dims = constant(lambda fixed, looks: self._dims(fixed, looks))
        self._others = {}  # the same under other pass configs
        self._background = options.get("background") or False
        self._named_sizes = None
        self._generics = {}  # kernels for all sizes, by what is fixed
        self._generic_locks = {}
        self._pending = {}
        self._graph_dims = {}
        self._in_graphs = []  # graphs know kernels by name only
        self.signature  # made now: what torch.compile reads must not change meanwhile
        if eager and self.out_idx is not None:
            raise ValueError(
                "out_idx has no meaning here: %r returns its outputs, made by T.empty "
                "[out-idx-eager]" % self.__name__
            )
        if isinstance(self._background, tuple):
            self._check_background(eager)

    def _check_background(self, eager):
        if eager:
            raise ValueError("background=: the sizes of %r are its T.const, so say True"
                             % self.__name__)
        unknown = [n for n in self._background if n not in self.signature.parameters]
        if unknown:
            raise ValueError("background= names no parameter of %s: %s"
                             % (self.__name__, ", ".join(map(repr, unknown))))

    @property
    def mode(self):
        return "eager" if self._eager else "lazy"

    @mode.setter
    def mode(self, word):
        if word not in ("eager", "lazy", "auto"):
            raise ValueError("a jit function is eager or lazy, not %r" % (word,))
        self._eager = word == "eager" if word != "auto" else self._eager

    def is_lazy_mode(self):
        return not self._eager

    @property
    def signature(self):
        if self._signature is None:
            import inspect

            self._signature = inspect.signature(self.__wrapped__)
        return self._signature

    # ---- lazy

    def get_tir(self, *args, **keys):
        """The kernel function for these arguments."""
        if self._eager:
            return _EagerFunc(self, *self._split(args, keys))
        with _target.building(_target.determine_target(self.target)):
            got = self.func(*args, **keys)
        if isinstance(got, JITImpl):
            got = got.get_tir()
        if not isinstance(got, PrimFunc):
            raise TypeError(
                "%r is under @tilelang.jit and returned %s, not a @T.prim_func; the body of an "
                "eager kernel has `with T.Kernel` in it" % (self.__name__, type(got).__name__)
            )
        return got

    def parse_cache_key(self, *args, **keys):
        """Calls that mean the same, by position, by name or by default, have one key."""
        try:
            values, extra = self.func._bind(args, keys)
        except TypeError:
            values, extra = {"": args}, keys
        return _freeze(values), _freeze(extra), _target.determine_target(self.target)

    @property
    def _kernel_cache(self):
        """Kernels of a lazy function by what parse_args makes of a call, for the target of now."""
        return self._caches()[0]

    @property
    def _call_form_cache(self):
        """The same by calls as they are written, which is quicker to see."""
        return self._caches()[1]

    def _caches(self):
        text = _target.determine_target(self.target)
        found = self._by_target.get(text)
        return found if found is not None else self._by_target.setdefault(text, ({}, {}))

    def _lazy_key(self, args, keys):
        try:
            key, given = self.func.parse_args(*args, **keys)
            return key if not given else (key, _hashable(given))
        except TypeError:  # no such call, or a value without a hash: told apart by identity
            return self.parse_cache_key(*args, **keys)

    def _compile_lazy(self, args, keys):
        kernels, forms = self._caches()
        plain = all(type(v) in _PLAIN for v in args) and \
            all(type(v) in _PLAIN for v in keys.values())
        form = (args, tuple(keys.items()))
        if plain:
            form += (tuple(map(_sort, args)), tuple(map(_sort, keys.values())))
            kernel = forms.get(form)
            if kernel is not None:
                return kernel
        kernel = self._lazy_kernel(kernels, args, keys)
        if plain:
            forms[form] = kernel
        return kernel

    def _lazy_kernel(self, kernels, args, keys):
        extra = keys.pop("__tune_params", None) or {}
        keys.pop("__return_kernel", None)
        key = self._lazy_key(args, {**keys, **extra})
        kernel = kernels.get(key)
        if kernel is None:
            kernel = self._make_lazy(args, {**keys, **extra}, self.target)
            with self._lock:
                kernel = kernels.setdefault(key, kernel)
        return kernel

    def _make_lazy(self, args, keys, target, no_build=False):
        func = self.get_tir(*args, **keys)
        o = self.options
        out_idx = func.out_idx(self.out_idx)
        backend = _backend(o.get("execution_backend"))
        kernel, _ = _finish(func, func._take, out_idx, target, o.get("pass_configs"),
                            o.get("compile_flags"), self.__name__, o.get("verbose"), no_build)
        kernel.execution_backend = backend
        self._debug(kernel)
        return kernel

    def _debug(self, kernel):
        """debug_root_path: the emitted text and the IR of every kernel that is made."""
        root = self.options.get("debug_root_path")
        if root:
            root = os.path.abspath(root)
            os.makedirs(root, exist_ok=True)
            for name, text in (("kernel_%s.c", kernel.get_kernel_source()),
                               ("program_%s.py", kernel.get_ir())):
                with open(os.path.join(root, "tilelang_jit_" + name % self.__name__), "w") as f:
                    f.write(text)

    # ---- in the background

    @property
    def _sizes(self):
        """Names of the parameters that a generic kernel of a lazy function may leave open."""
        if self._named_sizes is None:
            self._named_sizes = self._background if self._background is not True else \
                tuple(n for n, p in self.signature.parameters.items() if p.default is p.empty)
        return self._named_sizes

    def _generic_of(self, key, make):
        """The kernel for all sizes, built by the first call; None where there can be none.  Only calls that
        need the same one wait for it."""
        if key in self._generics:
            return self._generics[key]
        with self._lock:
            one = self._generic_locks.setdefault((key, os.getpid()), threading.Lock())  # none of a fork's parent
        with one:
            if key not in self._generics:
                try:
                    self._generics[key] = make()
                except Exception as why:
                    from .._log import logger

                    logger.warning("%s has no generic kernel, so calls with new sizes wait for "
                                   "theirs: %s", self.__name__, why)
                    self._generics[key] = None
            return self._generics[key]

    def _lazy_generic(self, values, target):
        opened = [n for n in self._sizes if n in values and (self._background is not True or type(values[n]) is int)]
        rest = {n: v for n, v in values.items() if n not in opened}
        key = _freeze(rest), tuple(opened), target
        return self._generic_of(key, lambda: self._make_open(opened, rest, target) if opened else None)

    def _make_open(self, opened, rest, target):
        from ..language import dynamic

        return self._make_lazy((), {**rest, **{n: dynamic(n) for n in opened}}, target)

    def _lazy_background(self, args, keys):
        """A kernel that may still be built; the generic one takes its calls until then.  This runs beside calls
        that must not wait, so it asks for little."""
        target = _target.determine_target(self.target)
        values, extra = self.func._bind(args, keys)
        sorts = tuple(map(_sort, values.values()))
        if not extra and all(type(v) in _PLAIN for v in values.values()):
            key = tuple(values.values()), sorts, target
        else:
            key = self._lazy_key(args, keys), target
        kernel = self._pending.get(key)
        if kernel is None:
            generic = self._lazy_generic({**values, **extra}, target)
            with self._lock:
                if key not in self._pending:
                    self._pending[key] = BackgroundKernel(
                        self.__name__, lambda: self._make_lazy(args, keys, target), generic)
                kernel = self._pending[key]
        return kernel

    def _eager_meanwhile(self, fixed, given):
        """The kernel for these arguments if it is there, else the generic one; None: there is
        none, and the call has to wait."""
        target = _target.determine_target(self.target)
        fixed_key = (_freeze(fixed), target)
        consts = self._const_key(fixed_key, given)
        kernel = self._kernels.get((fixed_key, consts)) if consts is not None else None
        if kernel is not None:
            return kernel
        looks = {n: _Look(tuple(x.shape), _strides(x), _bits(x) // 8) if hasattr(x, "shape") else x
                 for n, x in given.items()}
        generic = self._generic_of(fixed_key, lambda: self._make_eager(fixed, looks, target, True)[0])
        key = fixed_key, self._const_key(fixed_key, given)
        if generic is None or key[1] is None:
            return None
        if key[1] == ():
            return generic  # nothing is fixed by shapes: it is the special one
        with self._lock:
            if key not in self._pending and key not in self._kernels:
                self._pending[key] = Build(
                    self.__name__, lambda: self._make_eager(fixed, looks, target)[0],
                    lambda kernel: self._kernels.setdefault(key, kernel))
        return generic

    # ---- eager

    def _runtime(self, name):
        """Tensors, pointers and scalars of the kernel; all others are fixed when compiling."""
        if self._declared.get(name):
            return True
        note = self._names[2].get(name)
        if note is None or isinstance(note, type):
            return False
        if isinstance(note, (Recipe, str)):
            return True
        return isinstance(note, _core.Builtin) and note.__name__ in (
            "Tensor", "ptr", "StridedTensor", "Buffer", "handle")

    def _split(self, args, keys, defaults=True):
        """Values of the call -> (compile-time by name, run-time by name)."""
        keys.pop("__return_kernel", None)
        keys.update(keys.pop("__tune_params", None) or {})
        known = self.signature.parameters
        extra = {k: v for k, v in keys.items() if k not in known}
        bound = self.signature.bind_partial(
            *args, **{k: v for k, v in keys.items() if k in known})
        if defaults:
            bound.apply_defaults()
        fixed, given = dict(extra), {}
        for name, value in bound.arguments.items():
            if self._runtime(name):
                given[name] = value
            else:
                fixed[name] = value
        return fixed, given

    def _const_key(self, fixed_key, given):
        uses = self._consts.get(fixed_key)
        if uses is None:
            return None
        key = []
        for name, dim, stride in uses:
            x = given.get(name)
            sizes = (_strides(x) if stride else getattr(x, "shape", None)) or ()
            if dim >= len(sizes):
                return None  # what is wrong with it is said when compiling
            key.append(sizes[dim])
        return tuple(key)

    def _compile_eager(self, fixed, given):
        fixed_key = (_freeze(fixed), _target.determine_target(self.target))
        consts = self._const_key(fixed_key, given)
        kernel = self._kernels.get((fixed_key, consts)) if consts is not None else None
        if kernel is not None:
            return kernel
        kernel, uses = self._make_eager(fixed, given, self.target)
        with self._lock:
            self._consts.setdefault(fixed_key, uses)
            consts = self._const_key(fixed_key, given)
            if consts is not None:
                kernel = self._kernels.setdefault((fixed_key, consts), kernel)
        return kernel

    def _make_eager(self, fixed, given, target, generic=False, no_build=False):
        """(kernel, where T.const got their values).  generic: they stay open."""
        shapes = {}
        for name, x in given.items():
            shape = getattr(x, "shape", None)
            if shape is not None:
                shapes[name] = (tuple(int(n) for n in shape), _strides(x), _bits(x))

        def trace(told):
            return _core.trace(self._file, self._text, "eager", self._names, fixed, shapes, told,
                               generic)

        o = self.options
        backend = _backend(o.get("execution_backend"))
        try:
            kernel, uses = _finish(_EagerFunc(self, fixed, given), trace, None, target,
                                   o.get("pass_configs"), o.get("compile_flags"), self.__name__,
                                   o.get("verbose"), no_build)
        except RuntimeError as why:
            if getattr(why, "tag", "") == "const-unknown" and given:
                raise _unlike(self.__name__, given, why) from None
            raise
        kernel.execution_backend = backend
        self._debug(kernel)
        if generic:
            self._consts.setdefault((_freeze(fixed), target), uses)
        return kernel, uses

    def _run_eager(self, args, keys):
        fixed, given = self._split(args, keys)
        missing = [n for n in self.signature.parameters if self._runtime(n) and n not in given]
        if missing:
            raise refused(TypeError, "%s needs %s [argument-count]" % (self.__name__, ", ".join(map(repr, missing))))
        kernel = self._eager_meanwhile(fixed, given) if self._background else None
        if kernel is None:
            kernel = self._compile_eager(fixed, given)
        return kernel(*given.values())

    # ---- both

    def compile(self, *args, **keys):
        """The compiled kernel, without running it; T.const values may be given by name."""
        if not self._eager:
            return self._compile_lazy(args, keys)
        return self._compile_eager(*self._split(args, keys))

    def __call__(self, *args, **keys):
        if tracing():
            return self._in_graph(args, keys)
        if self._eager:
            return self._run_eager(args, keys)
        if self._background:
            return self._lazy_background(args, keys)
        return self._compile_lazy(args, keys)

    def _dims(self, fixed, looks):
        """Which extents and strides T.const names stand for, "A.0 A.s1": found by a trace for
        some shapes, and kept, since torch.compile may ask twice."""
        key = _freeze(dict(fixed)), looks
        if key not in self._graph_dims:
            shapes = {name: ((64,) * rank, tuple(64 ** d for d in reversed(range(rank))), 8 * size)
                      for name, rank, size in looks}
            told = _target.told(_target.determine_target(self.target))
            try:
                uses = _core.trace(self._file, self._text, "eager", self._names,
                                   self._split((), dict(fixed))[0], shapes, told).consts()
                text = " ".join("%s.%s%d" % (n, "s" if stride else "", d) for n, d, stride in uses)
            except Exception:  # not for these shapes: every extent counts
                text = "*"
            self._graph_dims[key] = text
        return self._graph_dims[key]

    def _for_graph(self, fixed, given):
        """The operator of a kernel, and how many outputs it has."""
        if self._eager:
            looks = {row[0]: _Look(*row[1:]) for row in given}
            kernel = self._compile_eager(self._split((), dict(fixed))[0], looks)
        else:
            kernel = self._compile_lazy(tuple(given), dict(fixed))
        self._in_graphs.append(kernel)
        return op_text(kernel)

    def _in_graph(self, args, keys):
        """A call inside of torch.compile, which reads this text.  Of tensors it asks only for what
        T.const stands for."""
        if not self._eager:
            return OpInGraph(self._constant({n: _pinned(v) for n, v in keys.items()},
                                            tuple(_pinned(v) for v in args)))
        fixed, given = self._split(args, keys, False)
        fixed = {n: _pinned(v) for n, v in fixed.items()}
        tensors = {n: x for n, x in given.items() if hasattr(x, "shape")}
        words = self._const_dims(fixed, tuple((n, x.dim(), x.element_size())
                                              for n, x in tensors.items())).split()
        looks = []
        for name, x in tensors.items():
            shape = tuple(_pinned(n) if "*" in words or "%s.%d" % (name, i) in words else 1
                          for i, n in enumerate(x.shape))
            strides = tuple(_pinned(n) if "*" in words or "%s.s%d" % (name, i) in words else 1
                            for i, n in enumerate(x.stride()))
            looks.append((name, shape, strides, x.element_size()))
        return OpInGraph(self._constant(fixed, tuple(looks)))(*given.values())

    def lowered(self, target, **keys):
        """The kernel without its code, which can be looked at and sent to another process."""
        with keeping_ir():
            if self._eager:
                return self._make_eager(*self._split((), keys), target, no_build=True)[0]
            return self._make_lazy((), keys, target, no_build=True)

    def par_compile(self, configs, num_workers=None, ignore_error=False):
        def job(c):
            if isinstance(c, dict):
                return lambda: self.compile(**c)
            return lambda: self.compile(*c)

        return _parallel([job(c) for c in configs], num_workers, ignore_error)

    def get_kernel_source(self, *args, **keys):
        return self.compile(*args, **keys).get_kernel_source()

    def get_host_source(self, *args, **keys):
        return self.compile(*args, **keys).get_host_source()

    def __get__(self, owner, cls=None):
        if owner is None:
            return self
        import functools

        return functools.partial(self, owner)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return "<tilelang.jit %s (%s)>" % (self.__name__, self.mode)


class _EagerFunc(PrimFunc):
    """What stands behind an eager kernel, for get_tir and Profiler."""

    def __init__(self, impl, fixed, given):
        self._impl, self._fixed, self._given = impl, fixed, given
        self._kind = None
        self._params = ()
        self.__name__ = impl.__name__
        self.attrs = {}
        self._trace = None

    def _make(self, target):
        shapes = {n: (tuple(int(s) for s in x.shape), _strides(x), _bits(x))
                  for n, x in self._given.items() if hasattr(x, "shape")}
        i = self._impl
        return _core.trace(i._file, i._text, "eager", i._names, self._fixed, shapes, target)

    @property
    def params(self):
        if self._trace is None:
            self._trace = self._make(None)
        return [KernelParam(*p) for p in self._trace.params()]


def _sizes_named(background):
    if background is None or isinstance(background, bool):
        return background
    if isinstance(background, (list, tuple)) and all(isinstance(n, str) for n in background):
        return tuple(background)
    raise TypeError("background= is True or a list of names of arguments, not %r" % (background,))


def jit(func=None, *, out_idx=None, target=None, target_host=None, execution_backend=None,
        verbose=None, pass_configs=None, debug_root_path=None, compile_flags=None, background=None):
    """Compile a kernel when it is called; with or without parentheses.

    background=True: calls with new sizes run on a kernel for all sizes while theirs is built.  Of a
    function that returns a @T.prim_func the ints without a default are the sizes; a list of names
    says otherwise."""
    options = dict(out_idx=out_idx, target=target, target_host=target_host,
                   execution_backend=execution_backend, verbose=verbose,
                   pass_configs=pass_configs, debug_root_path=debug_root_path,
                   compile_flags=compile_flags, background=_sizes_named(background))

    _host(target_host)
    if execution_backend != "cutedsl":  # which is refused when it is used
        _backend(execution_backend)

    def decorate(f):
        if isinstance(f, PrimFunc):
            if background:
                raise ValueError("background=: a @T.prim_func has no other sizes to wait for; "
                                 "tilelang.compile_async builds it in the background")
            return compile(f, out_idx, execution_backend, target, None, verbose,
                           pass_configs, compile_flags)
        if isinstance(f, JITImpl):
            given = {k: v for k, v in options.items() if v is not None}
            return JITImpl(f.__wrapped__, {**f.options, **given})
        if not callable(f) or isinstance(f, type):
            raise refused(TypeError, "@tilelang.jit needs a function, not %s [decorator]" % type(f).__name__)
        return JITImpl(f, options)

    return decorate if func is None else decorate(func)


def lazy_jit(func=None, **options):
    return jit(func, **options)
