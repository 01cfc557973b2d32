"""The few names of tvm that kernels use.  There is no TVM in this package; what is not here is
no attribute, and the error says why."""

import functools
import sys
import types

from .. import _core
from .._refused import NO_TVM, names_of, refusal
from .._target import Target
from ..language import __getattr__ as _language, dtype as DataType  # noqa: F401


class IRModule:
    """Accepted in annotations."""

    def __init__(self, *args, **keys):
        raise NotImplementedError("tvm.IRModule is not supported: %s" % NO_TVM)


class IndexMap:
    """A function from indices to indices."""

    def __init__(self, fn):
        self._fn = fn

    @staticmethod
    def from_func(mapping_function, index_dtype=None):
        """index_dtype: an integer type; indices keep the one that they have."""
        if index_dtype is not None and not DataType(index_dtype).is_int():
            raise TypeError("index_dtype is an integer type, not %s" % index_dtype)
        return IndexMap(mapping_function)

    def map_indices(self, indices):
        got = self._fn(*indices)
        return list(got) if isinstance(got, (list, tuple)) else [got]


class _Module(types.ModuleType):
    """tvm.tir and the like: nodes and functions by the names of T."""

    __path__ = ()  # a package, whose modules the finder makes
    PrimExpr = Expr = _core.Expr
    IndexMap = IndexMap
    Buffer = _core.Buffer
    BufferRegion = _core.BufferRegion

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "const":
            return _core.builtin("tvm_const")
        if name == "convert":  # numbers and expressions are what they are
            return lambda value, *rest: value
        if name == "PrimFunc":
            return _prim()
        if name in ("all", "any"):
            join = _language("And" if name == "all" else "Or")
            return lambda *conditions: functools.reduce(join, conditions)
        if name == "op":
            return self
        try:
            return _language(name)
        except AttributeError:
            raise refusal("tilelang." + self.__name__, name) from None


def _prim():
    from ..language import PrimFunc

    return PrimFunc


class Analyzer:
    """Folds what Python knows; expressions are simplified when a kernel is compiled."""

    def simplify(self, expr, steps=2):
        """As it is, after any number of steps."""
        if steps < 0:
            raise ValueError("steps is %r" % steps)
        return expr

    canonical_simplify = rewrite_simplify = simplify

    def can_prove(self, condition):
        return condition if isinstance(condition, bool) else False

    def can_prove_equal(self, a, b):
        known = getattr(self, "_known", {})
        a, b = (known.get(str(x), x) for x in (a, b))
        return isinstance(a, int) and isinstance(b, int) and a == b

    def bind(self, var, value):
        """What a variable is, where two values are compared."""
        self._known = {**getattr(self, "_known", {}), str(var): value}


def _var(name="tindex", dtype="int32", span=None):
    return _language("dynamic")(name, dtype)


arith = types.ModuleType("tvm.arith")
arith.Analyzer = Analyzer
te = types.ModuleType("tvm.te")
te.var = te.size_var = _var
tir = _Module("tvm.tir")
tirx = _Module("tvm.tirx")
script = _Module("tvm.script")
target = types.ModuleType("tvm.target")
target.Target = Target
testing = types.ModuleType("tvm.testing")
testing.requires_package = lambda *names: lambda fn: fn
ir = _Module("tvm.ir")
for _m in (arith, ir, te, tir, tirx, script, target, testing):
    sys.modules[__name__ + "." + _m.__name__[4:]] = _m


def submodule(name):
    """The module that `import tvm.…` finds."""
    ours = "tilelang." + name
    if ours not in sys.modules:
        sys.modules[ours] = _Module(name)
    return sys.modules[ours]


__getattr__ = names_of(__name__)
