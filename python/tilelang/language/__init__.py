"""tilelang.language: the names kernels are written with, as `T`.

Most are rows of the compiler's own table and are made when first asked for."""

import builtins as _builtins
import sys as _sys

from .. import _core
from .._errors import JITNoBuilderError, make_error as _make_error, refused as _refused
from .._recipe import Layout as _Layout, Recipe as _Recipe, TensorSpec as _TensorSpec
from .. import _source
from .._target import kind_now
from ..tileop import GemmWarpPolicy  # noqa: F401

Expr = PrimExpr = _core.Expr
BufferRegion = _core.BufferRegion


# ---- dtypes ---------------------------------------------------------------------------------------


class dtype(str):
    """A dtype: equal to its name, callable as a cast."""

    __slots__ = ()
    _python = {bool: "bool", int: "int32", float: "float32"}

    def __new__(cls, value):
        if type(value) is cls:
            return value
        name = cls._python.get(value) if isinstance(value, type) else None
        if name is None:
            name = value.__name__ if isinstance(value, type) else str(value)
            name = name.rsplit(".", 1)[-1]
        found = _core.dtype(name)
        if found is None:
            raise ValueError("%r is not a dtype" % (value,))
        return str.__new__(cls, found[0])

    def _about(self):
        return _core.dtype(str(self))

    bits = property(lambda self: self._about()[1])
    lanes = property(lambda self: self._about()[2])
    bytes = property(lambda self: (self.bits * self.lanes + 7) // 8)
    itemsize = bytes
    type_code = property(lambda self: {"float": 2, "uint": 1}.get(self._about()[3], 0))

    def is_float(self):
        return self._about()[3] == "float"

    def is_int(self):
        return self._about()[3] in ("int", "uint")

    def is_integer(self):
        return self.is_int()

    def is_bool(self):
        return self._about()[3] == "bool"

    def is_uint(self):
        return self._about()[3] == "uint"

    is_floating_point = property(lambda self: self.is_float())

    def is_scalar(self):
        return self.lanes == 1

    def is_vector(self):
        return self.lanes > 1

    def __getattr__(self, name):
        if name.startswith("is_"):
            row = _core.builtin("dtype." + name) or _core.builtin(name)
            if row is not None:
                return lambda: row(self)
        raise AttributeError("a dtype has no attribute %r" % name)

    def with_lanes(self, lanes):
        return dtype("%s%s" % (str(self).split("x")[0], "x%d" % lanes if lanes > 1 else ""))

    def as_torch(self):
        import torch

        name = str(self)
        packed = {"float4_e2m1fn": "float4_e2m1fn_x2", "float4_e2m1fnx2": "float4_e2m1fn_x2",
                  "int4": "int8", "uint4": "uint8"}
        other = {"float8_e4m3": "float8_e4m3fn", "tfloat32": "float32", "handle": "int64"}
        name = packed.get(name, name)
        if not hasattr(torch, name):
            name = other.get(name, name)
        return getattr(torch, name if hasattr(torch, name) else "int8")

    def as_numpy(self):
        from ..utils.tensor import numpy_dtype

        return numpy_dtype(str(self))

    def __call__(self, *args, **keys):
        if _core.tracing():
            return _core.call(self, args, keys)
        if len(args) == 1 and isinstance(args[0], (int, float)) and not keys:
            return float(args[0]) if self.is_float() else int(args[0])
        return _Recipe.make("call", self, args, keys)

    def __eq__(self, other):
        if isinstance(other, str):
            if str.__eq__(self, other):
                return True
            found = _core.dtype(other)
            return found is not None and found[0] == str(self)
        try:
            return str.__eq__(self, dtype(other))
        except ValueError:
            return False

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def __str__(self):
        return str.__str__(self)

    def __repr__(self):
        return "T." + str(self)


# ---- functions of kernels -------------------------------------------------------------------------


class Macro:
    """A function whose body is placed where a kernel calls it."""

    _plain = _self = None

    def __init__(self, fn, kind="macro"):
        self._fn = fn
        self._kind = kind
        self._file, self._text = _source.text_of(fn)
        self._found = _source.names_of(fn)
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__
        self.__wrapped__ = fn

    @property
    def _names(self):
        # The names around it are those of its decoration; its own, and those bound after it, had none yet.
        closure = self._found[0]
        for name, value in _source.closure_of(self._fn).items():
            closure.setdefault(name, value)
        return self._found

    def __get__(self, owner, cls=None):
        if owner is None:
            return self
        bound = object.__new__(Macro)
        bound.__dict__.update(self.__dict__)
        bound._self, bound._plain = owner, self
        return bound

    def __call__(self, *args, **keys):
        # Recursive macros and siblings may have been made after this one was decorated.
        if not _core.tracing():
            error = JITNoBuilderError(
                "the macro %r is called outside of a kernel [macro-outside]" % self.__name__
            )
            error.tag = "macro-outside"
            raise error
        return _core.call(self, args, keys)

    def __repr__(self):
        return "<macro %s>" % self.__name__


def macro(func=None):
    """Makes a function whose body is placed where a kernel calls it."""
    if func is None:
        return macro
    if getattr(func, "__name__", "") == "<lambda>":
        return func  # an expression: called while the kernel is traced, it is the same
    if isinstance(func, (staticmethod, classmethod)):
        return type(func)(macro(func.__func__))
    return func if isinstance(func, Macro) else Macro(func)


def inline(func=None):
    """Marks a method of a meta class as placed where it is called."""
    return inline if func is None else Macro(func, "inline")


def meta_class(cls=None):
    """Marks a class whose objects live only while a kernel is traced: methods that store to
    subscripts are placed where they are called."""
    if cls is None:
        return meta_class
    for name, fn in list(vars(cls).items()):
        if callable(fn) and hasattr(fn, "__code__") and not name.startswith("__") \
                and fn.__name__ != "<lambda>":
            file, text = _source.text_of(fn)
            if _core.look(file, text)[1]:
                setattr(cls, name, Macro(fn, "inline"))
    return cls


class PrimFunc:
    """A kernel function, traced when it was decorated."""

    _drops = False  # tensors that nothing touches are no parameters

    def __init__(self, fn, local=None):
        if getattr(fn, "__name__", "") == "<lambda>":
            raise _refused(TypeError, "@T.prim_func needs a def, not a lambda [decorator]")
        self._fn = fn
        self._file, self._text = _source.text_of(fn)
        self._names = _source.names_of(fn, local)
        self._trace = None
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__
        self.attrs = {}
        self._kind = kind_now()
        self._params = ()
        try:
            self._trace = self._make(self._kind)
        except RuntimeError as why:
            tag = getattr(why, "tag", None)
            if tag == "gemm-scope":  # Metal's GEMMs take tensors; said again by who compiles it for another target
                self._kind = "metal"
                self._trace = self._make(self._kind)
            elif tag in ("no-kernel", "outside-kernel"):
                return  # it may only be looked at; said again by whoever compiles it
            else:
                raise
        self._params = self._trace.params()
        self._describe(self._trace.hints())

    def _describe(self, hints):
        """attrs as the original has them: the symbol, and what the function says of itself."""
        outs = [i - len(self._params) for i, p in enumerate(self._params) if p[3]]
        flags = hints.pop("compile_flags", None)
        configs = {k: v for k, v in hints.items() if "." in k}
        self.attrs["global_symbol"] = self.__name__
        if outs:
            self.attrs["tilelang_out_idx"] = outs
        if configs:
            self.attrs["tilelang_pass_configs"] = configs
        if flags:
            self.attrs["tilelang_compile_flags"] = flags.split()

    def out_idx(self, given):
        """The outputs a compilation is told; the function's own are marked already."""
        if given is None:
            return self.attrs.get("tilelang_out_idx")
        if any(p[3] for p in self._params):
            raise ValueError("Out index conflict: %r returns what T.empty made and is compiled "
                             "with out_idx=%r [out-idx-eager]" % (self.__name__, given))
        return given

    def told(self, out_idx):
        """The same function, with the outputs it was compiled with among its attrs."""
        own = object.__new__(type(self))
        own.__dict__.update(self.__dict__)
        outs = list(out_idx) if isinstance(out_idx, (list, tuple)) else [out_idx]
        own.attrs = {**self.attrs, "tilelang_out_idx": outs}
        return own

    def _make(self, target):
        made = _core.trace(self._file, self._text, "prim", self._names, {}, {}, target)
        if self._drops:
            made.drop_unused()
        return made

    def without_unused(self):
        """The same function without the tensors that it does not touch."""
        own = object.__new__(type(self))
        own.__dict__.update(self.__dict__)
        own.attrs, own._drops = dict(self.attrs), True
        own._trace = own._make(own._kind)
        own._params = own._trace.params()
        return own

    def _take(self, target):
        """A trace to compile; the first one is used up by the first compilation."""
        trace, self._trace = self._trace, None
        return trace if trace is not None and target == (self._kind or "cpu") \
            else self._make(target)

    def __getattr__(self, name):
        if name in ("body", "ret_type", "struct_info", "span", "handle"):
            raise AttributeError(
                "a kernel function has no .%s here: its IR is the compiler's own, not TVM's; .script() "
                "is its text, .params and .attrs describe it" % name)
        raise AttributeError("a kernel function has no attribute %r" % name)

    @property
    def params(self):
        return [KernelParam(*p) for p in self._params]

    @property
    def buffer_map(self):
        """The tensors among the parameters, by name."""
        return {p.name: p for p in self.params if not p.is_scalar()}

    def with_attr(self, key, value=None):
        self.attrs.update(key if isinstance(key, dict) else {key: value})
        return self

    def script(self, show_meta=False):
        """The IR as text; show_meta: with the function's attrs after it."""
        if self._trace is None:
            self._trace = self._make(None)
        return self._trace.text() + ("# attrs %r\n" % self.attrs if show_meta else "")

    def show(self):
        print(self.script())

    def __repr__(self):
        return "<prim_func %s>" % self.__name__

    def __str__(self):
        return self.script()

    def __call__(self, *args, **keys):
        raise TypeError(
            "%r is a kernel function; compile it with tilelang.compile" % self.__name__
        )


class KernelParam:
    """One parameter: its name, dtype and shape (names or None stand for run-time extents).
    strides: in elements, None where the tensor is contiguous."""

    def __init__(self, name, dtype_, shape, is_output=False, strides=None):
        self.name = name
        self.dtype = dtype(dtype_)
        self.shape = [] if shape is None else list(shape)
        self.strides = None if strides is None else list(strides)
        self._scalar = shape is None
        self.is_output = is_output

    def is_scalar(self):
        return self._scalar

    def is_unsigned(self):
        return self.dtype.is_uint()

    def is_float8(self):
        return self.dtype.startswith("float8")

    def is_boolean(self):
        return self.dtype.is_bool()

    def torch_dtype(self):
        return self.dtype.as_torch()

    def __repr__(self):
        return "KernelParam(%s: %s%s)" % (self.name, self.dtype, tuple(self.shape))


def prim_func(func=None, *, eager_jit=False):
    """Makes a kernel function of a Python function by tracing it once."""
    if eager_jit:
        raise NotImplementedError("T.prim_func: 'eager_jit' is what @tilelang.jit does")
    if func is None:
        return lambda f: _prim(f, _sys._getframe(1).f_locals)
    return _prim(func, _sys._getframe(1).f_locals)


def _prim(func, local):
    return func if isinstance(func, PrimFunc) else PrimFunc(func, local)


# ---- everything else ------------------------------------------------------------------------------

_OWN = ("dtype", "macro", "inline", "meta_class", "prim_func", "PrimFunc", "GemmWarpPolicy")
_rows = None


def _reasons():
    """name -> why no program can use it, or "".  Names of classes stand in annotations all the same."""
    global _rows
    if _rows is None:
        _rows = {r[0]: "" if "annotations" in r[4] else r[4] for r in _core.rows() if "." not in r[0]}
    return _rows


def _names():
    return {name for name, why in _reasons().items() if not why}


_TYPES = (
    "bool boolean int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "bfloat16 float8_e4m3 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu float4_e2m1fn float4_e2m1_unpacked float6_e2m3fn float6_e3m2fn int4 uint4 "
    "tfloat32"
).split()


_OF_INSTRUCTIONS = (
    "TensorCoreIntrinEmitter TensorCoreIntrinEmitterWithLadderTransform "
    "TensorCoreIntrinEmitterSM120 WGMMATensorCoreIntrinEmitter TCGEN05TensorCoreIntrinEmitter "
    "SparseTensorCoreIntrinEmitter WGSparseTensorCoreIntrinEmitter get_swizzle_layout "
    "make_mma_swizzle_layout mma_store_index_map get_ldmatrix_offset get_mma_micro_size"
).split()

_made = {}  # by names that Python has too

# Two names of one operator.
_SAME = {"tcgen05_mma": "tcgen05_gemm", "tcgen05_mma_blockscaled": "tcgen05_gemm_blockscaled",
         "wgmma_mma": "wgmma_gemm"}


def __getattr__(name):
    if name.startswith("__") and name.endswith("__"):
        if name == "__all__":
            from ._dialect import of_rocm

            return sorted(n for n in _names() | set(_TYPES) | set(_OWN)
                          if not n.startswith("_") and not of_rocm(n))
        if name == "__tilelang_dialect__":
            return "cuda"
        raise AttributeError("module 'tilelang.language' has no attribute %r" % name)
    if name in _SAME:
        globals()[name] = __getattr__(_SAME[name]) if _SAME[name] not in globals() else (
            globals()[_SAME[name]])
        return globals()[name]
    if _reasons().get(name):
        raise AttributeError("T.%s is not supported: %s" % (name, _reasons()[name]))
    if name in _OWN or isinstance(globals().get(name), _core.Builtin):
        return globals()[name]  # asked by a call of this function: a name is one object
    row = _made.get(name) or _core.builtin(name)
    if row is None and _core.dtype("bool" if name == "boolean" else name) is not None:
        row = dtype("bool" if name == "boolean" else name)
    if row is None and name == "WSID":
        row = "tl.ws_op_id"
    if row is None and name in _OF_INSTRUCTIONS:
        from .. import intrinsics

        row = getattr(intrinsics, name)
    if row is None:
        import difflib

        near = difflib.get_close_matches(name, _names(), 1)
        raise AttributeError(
            "T has nothing called %r%s" % (name, "; did you mean T.%s?" % near[0] if near else "")
        )
    if hasattr(_builtins, name):  # T.float and T.print are not what this file means by them
        _made[name] = row
    else:
        globals()[name] = row
    return row


def __dir__():
    return sorted(_names() | set(_TYPES) | set(_OWN))


_core.setup(
    make_error=_make_error,
    dtype=dtype,
    recipe=_Recipe,
    macro=Macro,
    prim=PrimFunc,
    language=_sys.modules[__name__],
    aliases={dtype: "dtype", macro: "macro", inline: "inline", meta_class: "meta_class",
             prim_func: "prim_func", PrimFunc: "PrimFunc"},
)
