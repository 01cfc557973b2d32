"""T.* outside of a kernel.

What is made of plain values is worked out at once: T.ceildiv(100, 32) is 4.  What only has a
meaning inside of a kernel (a symbolic size, a tensor's annotation, a layout) is kept as a recipe
and made again in every kernel that uses it."""

from . import _core
from ._errors import JITNoBuilderError, refused
from ._target import kind_now

_REFLECTED = "add sub mul truediv floordiv mod pow and or xor lshift rshift"


# Calls of a thread that may be made before there is a kernel.
_VOTES = {"any_sync", "all_sync", "ballot_sync", "ballot", "syncthreads_count", "syncthreads_and",
          "syncthreads_or"}


class Recipe:
    __slots__ = ("_recipe", "_about", "__weakref__")

    def __init__(self, what, a, b, c=None):
        self._recipe = (what, a, b, c) if what == "call" else (what, a, b)

    @classmethod
    def make(cls, what, a, b, c=None):
        if what == "call" and isinstance(a, _core.Builtin):
            if a.__name__ in ("dynamic", "symbolic"):
                return _dynamic(a, *b, **(c or {}))
            if a.__name__ in ("Layout", "Fragment"):
                cls = Layout
            elif a.__name__.startswith("layout."):
                cls = Layout
        r = cls(what, a, b, c)
        if _core.tracing():
            return _core.value(r)
        try:
            plain, v = _core.evaluate(r, kind_now())
        except JITNoBuilderError:
            if getattr(a, "__name__", "") in _VOTES:
                return r
            raise
        if not plain and v == "a layout" and cls is Recipe:
            r = Layout(what, a, b, c)
        elif not plain and v == "a tensor annotation":
            r.__class__ = TensorSpec
        return v if plain else r

    @staticmethod
    def signature(text):
        """inspect.Signature of a row of the table."""
        import inspect

        return inspect.signature(eval("lambda %s: None" % text))

    @staticmethod
    def is_instance(name, x):
        """isinstance(x, T.name)"""
        if name in ("Var", "SizeVar"):
            row = x._recipe[1] if isinstance(x, Recipe) else None
            return getattr(row, "__name__", "") in ("dynamic", "symbolic", "Var") or (
                isinstance(x, _core.Expr) and str(x).isidentifier())
        if name in ("Tensor", "Buffer", "StridedTensor"):
            return isinstance(x, (_core.Buffer, TensorSpec))
        if name in ("Layout", "Fragment"):
            return isinstance(x, (_core.LiveLayout, Layout))
        if name == "BufferLoad":
            return isinstance(x, _core.BufferRegion)
        if name == "Call":
            return (isinstance(x, Recipe) and x._recipe[0] == "call"
                    and not Recipe.is_instance("Var", x))
        return False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Recipe.make("attr", self, name)

    def __getitem__(self, key):
        return Recipe.make("index", self, key)

    def __call__(self, *args, **keys):
        return Recipe.make("call", self, args, keys)

    def __iter__(self):
        raise TypeError("cannot walk over " + repr(self))

    def __enter__(self):
        raise refused(RuntimeError, "%r stands outside of a kernel function [outside-function]" % self)

    def __exit__(self, *why):
        return False

    def __bool__(self):
        if self._recipe[0] == "op" and self._recipe[1] in ("__eq__", "__ne__"):
            a, b = self._recipe[2]
            return _same(a, b) == (self._recipe[1] == "__eq__")
        if self._recipe[0] == "op" and self._recipe[1] in ("__lt__", "__le__", "__gt__", "__ge__"):
            raise ValueError("%r is known only at run time, and Python needs it now" % (self,))
        return True

    def __hash__(self):
        return hash(_key(self))

    def __repr__(self):
        what, a, b = self._recipe[:3]
        if what == "op":
            signs = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%",
                     "truediv": "/", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=",
                     "ge": ">="}
            sign = signs.get(a.strip("_"))
            if sign and len(b) == 2:
                return "(%r %s %r)" % (b[0], sign, b[1])
            return "%s(%s)" % (a.strip("_"), ", ".join(map(repr, b)))
        if what == "call":
            if getattr(a, "__name__", "") in ("dynamic", "symbolic"):
                return str(b[0])
            keys = ["%s=%r" % kv for kv in (self._recipe[3] or {}).items()]
            return "%r(%s)" % (a, ", ".join(list(map(repr, b)) + keys))
        return "%r.%s" % (a, b) if what == "attr" else "%r[%r]" % (a, b)

    @property
    def name(self):
        return repr(self)

    @property
    def dtype(self):
        from .language import dtype

        what, a, b = self._recipe[:3]
        if what == "call" and getattr(a, "__name__", "") in ("dynamic", "symbolic"):
            return dtype(b[1])
        if what == "op":
            for x in b:
                if isinstance(x, Recipe):
                    return x.dtype
        return Recipe.make("attr", self, "dtype")


def _same(a, b):
    if isinstance(a, Recipe) and isinstance(b, Recipe):
        return a is b or _key(a) == _key(b)
    return not isinstance(a, Recipe) and not isinstance(b, Recipe) and a == b


def _key(r):
    if isinstance(r, Recipe):
        what, a, b = r._recipe[:3]
        keys = r._recipe[3] if what == "call" else None
        return (what, _key(a), _key(b), _key(keys))
    if isinstance(r, (tuple, list)):
        return tuple(map(_key, r))
    if isinstance(r, dict):
        return tuple((k, _key(v)) for k, v in r.items())
    try:
        hash(r)
    except TypeError:
        return id(r)
    return r


def _operator(name, reflected=False):
    def method(self, *others):
        args = (others[0], self) if reflected else (self, *others)
        return Recipe.make("op", name, args)

    return method


for _name in _REFLECTED.split():
    setattr(Recipe, "__%s__" % _name, _operator("__%s__" % _name))
    setattr(Recipe, "__r%s__" % _name, _operator("__%s__" % _name, True))
for _name in "lt le gt ge eq ne neg pos invert abs".split():
    setattr(Recipe, "__%s__" % _name, _operator("__%s__" % _name))


class TensorSpec(Recipe):
    """T.Tensor((M, N), "float16") as an annotation."""

    __slots__ = ()

    def _argument(self, name, place, default=None):
        what, a, b = self._recipe[:3]
        keys = self._recipe[3] or {} if what == "call" else {}
        if what == "index":
            b = b if isinstance(b, tuple) else (b,)
        if name in keys:
            return keys[name]
        return b[place] if len(b) > place else default

    @property
    def shape(self):
        s = self._argument("shape", 0, ())
        return tuple(s) if isinstance(s, (tuple, list)) else (s,)

    @property
    def dtype(self):
        from .language import dtype

        strided = getattr(self._recipe[1], "__name__", "") == "StridedTensor"
        return dtype(self._argument("dtype", 2 if strided else 1, "float32"))


class Layout(Recipe):
    """A layout or fragment made outside of a kernel."""

    __slots__ = ()

    def expand(self, leading):
        """Dimensions before the others, by one extent or several."""
        extents = leading if isinstance(leading, (list, tuple)) else [leading]
        for n in extents:
            if not isinstance(n, int) or isinstance(n, bool):
                raise TypeError("an extent is an int, not %r" % (n,))
            if n < 1:
                raise ValueError("an extent is positive, not %d" % n)
        if not extents:
            return self
        return Recipe.make("call", Recipe.make("attr", self, "expand"), (list(extents),), {})

    def repeat(self, *args, **keys):
        """Of a layout: (dim, factor); of a fragment: (repeats, repeat_on_thread,
        lower_dim_first)."""
        many = args and isinstance(args[0], (list, tuple)) or "repeats" in keys
        if many:
            return Recipe.make("call", Recipe.make("attr", self, "repeat"), args, keys)
        return self._repeated(*args, **keys)

    def _repeated(self, dim, factor):
        shape = list(self.get_input_shape())
        if not -len(shape) <= dim < len(shape):
            raise ValueError("the layout has %d dimensions and no %d" % (len(shape), dim))
        if factor < 1:
            raise ValueError("the factor is positive, not %d" % factor)
        if factor == 1:
            return self
        dim, one = dim % len(shape), shape[dim]
        shape[dim] *= factor

        def forward(*index):
            inner = list(index)
            inner[dim] = inner[dim] % one
            return [index[dim] // one] + list(self.map_forward_index(inner))

        return Recipe.make("call", _core.builtin("Layout"), (shape, forward), {})


def _dynamic(row, name, dtype="int32"):
    """One symbolic size, or as many as there are names."""
    if _core.tracing():
        return _core.call(row, (name, str(dtype)))
    if not isinstance(name, str):
        raise TypeError("T.dynamic needs a name or names in a str, not %r" % (name,))
    names = name.replace(",", " ").split()
    if not names:
        raise ValueError("T.dynamic needs a name")
    made = tuple(Recipe("call", row, (n, str(dtype)), {}) for n in names)
    return made if len(made) > 1 or "," in name else made[0]
