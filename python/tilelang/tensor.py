"""Tensor programs: what is computed, in numpy's words; the compiler makes kernels of it."""

import functools
import math
import os
import re
import threading

from . import _core, _source, _target
from ._errors import TileLangError
from .jit import compile as _compile

_serial = 0
_lock = threading.Lock()


def _dtype_of(x):
    """The name of an array's dtype, None for what is no array."""
    dtype = getattr(x, "dtype", None)
    if dtype is None or not hasattr(x, "shape"):
        return None
    name = str(getattr(dtype, "name", dtype))
    return name.rsplit(".", 1)[-1]


def _contiguous(x):
    """Kernels take rows as they stand in memory, one behind the other."""
    if type(x).__module__ == "numpy":
        import numpy

        return numpy.asarray(x, order="C")
    return x.contiguous() if hasattr(x, "contiguous") else x


def _row_major(x):
    return x.flags.c_contiguous


_whole = {}  # by type of array: whether rows of one stand one behind the other


def _learn_type(x):
    """Arrays of numpy and torch themselves; what is made of them is looked at more closely."""
    kind = type(x)
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        _whole[kind] = _row_major
    elif (kind.__module__, kind.__name__) in (("torch", "Tensor"), ("torch.nn.parameter", "Parameter")):
        _whole[kind] = kind.is_contiguous


def _span(x):
    """Where the elements of a contiguous array stand in memory."""
    start = x.data_ptr() if hasattr(x, "data_ptr") else x.__array_interface__["data"][0]
    return start, start + x.itemsize * math.prod(x.shape)


def _overlap(x, y):
    a, b = _span(x), _span(y)
    return a[0] < b[1] and b[0] < a[1]


def _run_text(text, name, serial):
    """The function of a text that was made; its lines are found by inspect."""
    import linecache

    file = "<tiles of %s %d>" % (name, serial)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def _open_extents(func, params, dynamic):
    """By parameter: a name for each extent that stays open, None for the others.  They come from dynamic= or from
    names in an annotation "float32[n, 64]"."""
    found = {}
    for param, note in getattr(func, "__annotations__", {}).items():
        shape = re.fullmatch(r"\w+\[(.*)\]", note.strip()) if isinstance(note, str) else None
        names = tuple(n.strip() if n.strip().isidentifier() else None for n in shape[1].split(",")) if shape else ()
        if any(names):
            found[param] = names
    for param, names in dynamic.items():
        if param not in params:
            raise TypeError("dynamic: %s() has no parameter %r" % (func.__name__, param))
        found[param] = tuple(n if isinstance(n, str) else None for n in names)
    return found


class Compiled:
    """A tensor program for some shapes and types: its source, and the kernel made of it."""

    def __init__(self, name, made, target, note=""):
        global _serial
        self.tiles, self.explain, self.outputs, self.in_place = made
        self.explain += note
        self._name, self._target, self._kernel, self._storing = name, target, None, None
        with _lock:
            _serial += 1
            self._serial = _serial
        self._making = threading.Lock()

    def _made(self, given):
        """The kernel that makes its results, or stores them into given tensors."""
        func = _run_text(self.tiles, self._name, self._serial)
        n = len(func.params)
        outputs = [] if given else list(range(n - self.outputs, n))
        return _compile(func, out_idx=outputs, target=self._target)

    @property
    def kernel(self):
        with self._making:
            if self._kernel is None:
                self._kernel = self._made(False)
        return self._kernel

    def store(self, arrays, out):
        """Results into `out`; where that is memory of an input, and the program reads more of it than
        the element it stores, by way of memory of their own."""
        over = [(o, a) for o in out for a in arrays if _overlap(o, a)]
        over += [(o, p) for k, o in enumerate(out) for p in out[:k] if _overlap(o, p)]
        whole = all(_span(o) == _span(a) and o.shape == a.shape and o.dtype == a.dtype for o, a in over)
        if not over or (self.in_place and whole):
            with self._making:
                if self._storing is None:
                    self._storing = self._made(True)
            self._storing(*arrays, *out)
            return
        got = self.kernel(*arrays)
        for o, g in zip(out, got if isinstance(got, (list, tuple)) else [got]):
            o[...] = g


class TensorProgram:
    """What @tl.tensor_program makes of a function.  Shapes and types come from the call; arguments
    that are no arrays are constants of the program."""

    def __init__(self, func, target=None, argnums=None, with_value=False, dynamic=None):
        functools.update_wrapper(self, func)
        self._func, self._target, self._dynamic = func, target, dynamic
        self._argnums, self._with_value = argnums, with_value
        self._known, self._refused, self._quick = {}, {}, {}
        self._last = None
        code = func.__code__
        self._params = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._open = _open_extents(func, self._params, dynamic or {})

    def _bind(self, args, keys):
        if len(args) > len(self._params):
            raise TypeError("%s() takes %d arguments, not %d"
                            % (self.__name__, len(self._params), len(args)))
        given = dict(zip(self._params, args))
        for name, value in keys.items():
            if name not in self._params:
                raise TypeError("%s() got an unexpected keyword argument %r"
                                % (self.__name__, name))
            if name in given:
                raise TypeError("%s() got multiple values for argument %r" % (self.__name__, name))
            given[name] = value
        return given

    def _compiled(self, given):
        arrays, shapes, numbers = [], {}, {}
        for name in self._params:
            if name not in given:
                continue
            dtype = _dtype_of(given[name])
            if dtype is None:
                numbers[name] = given[name]
            else:
                shape = tuple(int(n) for n in given[name].shape)
                shapes[name] = (shape, dtype, self._names(name, shape))
                arrays.append(_contiguous(given[name]))
        rest = (str(_target.determine_target(self._target)), repr(sorted(numbers.items())))
        self._last = self._open_or_closed(shapes, numbers, rest) if self._open else self._closed(shapes, numbers, rest)
        return self._last, arrays

    def _names(self, param, shape):
        """The names of extents of an argument that stay open; None for the others."""
        names = self._open.get(param, (None,) * len(shape))
        if len(names) != len(shape):
            raise ValueError("%s(): '%s' has %d axes, and %d are declared: (%s)"
                             % (self.__name__, param, len(shape), len(names), ", ".join(str(n or "_") for n in names)))
        return names

    def _make(self, key, shapes, numbers, rest, least=0, note=""):
        found = self._known.get(key)
        if found is None:
            file, text = _source.text_of(self._func)
            made = _core.tensor(file, text, _source.names_of(self._func), numbers, shapes, rest[0], self._argnums,
                                self._with_value, least)
            found = self._known.setdefault(key, Compiled(self._func.__name__, made, rest[0], note))
        return found

    def _closed(self, shapes, numbers, rest, note=""):
        closed = {name: (shape, dtype, (None,) * len(shape)) for name, (shape, dtype, _) in shapes.items()}
        return self._make((rest, tuple(closed.items())), closed, numbers, rest, note=note)

    def _extents(self, shapes):
        """The values of open extents in a call."""
        values = {}
        for param, (shape, _, names) in shapes.items():
            for name, n in zip(names, shape):
                if name is not None and values.setdefault(name, (n, param))[0] != n:
                    raise ValueError("%s(): the extent '%s' is %d in '%s' and %d in '%s'"
                                     % (self.__name__, name, values[name][0], values[name][1], n, param))
        return {name: n for name, (n, _) in values.items()}

    def _open_or_closed(self, shapes, numbers, rest):
        """One kernel for all extents that stay open, from 1 on or from 16; where the program cannot do without
        their values, one for those of the call."""
        values = self._extents(shapes)
        pattern = tuple((p, tuple(k or n for k, n in zip(names, shape)), t) for p, (shape, t, names) in shapes.items())
        why = None
        for least in (1, 16):
            if min(values.values(), default=1) < least:
                continue
            key = (rest, pattern, least)
            refused = self._refused.get(key)
            if refused is None:
                try:
                    return self._make(key, shapes, numbers, rest, least)
                except TileLangError as error:
                    refused = self._refused[key] = error
            why = refused
        known = ", ".join("%s = %d" % v for v in values.items())
        try:
            reason = str(why).splitlines()[0] if why else "it is less than 1"
            return self._closed(shapes, numbers, rest, "for %s alone: %s\n" % (known, reason))
        except TileLangError:
            if why is None or "[tensor-extent]" in str(why):
                raise
            raise why from None

    def _signature(self, args):
        """What calls with arrays alone are told apart by; None where that takes a closer look."""
        if len(args) != len(self._params) or self._open:
            return None
        parts = [str(_target._current[-1]) if _target._current else None]
        if self._target is None:
            parts.append(os.environ.get("TILELANG_DEFAULT_TARGET"))
        for x in args:
            whole = _whole.get(type(x))
            if whole is None or not whole(x):
                return None
            parts += (x.dtype, x.shape)
        return tuple(parts)

    def _find(self, args, keys):
        """The program for a call, and its arrays."""
        signature = None if keys else self._signature(args)
        found = None if signature is None else self._quick.get(signature)
        if found is not None:
            self._last = found
            return found, args
        found, arrays = self._compiled(self._bind(args, keys))
        for x in args:
            _learn_type(x)
        if signature is not None:
            self._quick[signature] = found
        return found, arrays

    def _store(self, found, arrays, out):
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(given) != found.outputs:
            raise ValueError("%s() gives %d tensors, but out has %d"
                             % (self.__name__, found.outputs, len(given)))
        for o in given:
            if not (hasattr(o, "data_ptr") or hasattr(o, "__array_interface__")) or _contiguous(o) is not o:
                raise ValueError("%s(): out must be contiguous arrays that can be written, of numpy or torch"
                                 % self.__name__)
        found.store(arrays, given)
        return out

    def __call__(self, *args, **keys):
        """Its results; with out=, stored into those arrays, which may be arguments too."""
        if _core.tracing():
            return self._func(*args, **keys)
        out = None if "out" in self._params else keys.pop("out", None)
        found, arrays = self._find(args, keys)
        if out is not None:
            return self._store(found, arrays, out)
        got = (found._kernel or found.kernel)(*arrays)
        if found.outputs == 1 and isinstance(got, (list, tuple)):
            return got[0]
        return tuple(got) if isinstance(got, list) else got

    def compile(self, *args, **keys):
        """The program for such arguments: .tiles, .explain, .kernel."""
        return self._compiled(self._bind(args, keys))[0]

    def _shown(self, args, keys):
        if args or keys:
            return self.compile(*args, **keys)
        if self._last is None:
            raise ValueError("%s was not called yet: give arrays of the shapes in question"
                             % self.__name__)
        return self._last

    def tiles(self, *args, **keys):
        """Its kernels as source of the developer level, for such arguments or those of the last
        call."""
        return self._shown(args, keys).tiles

    def explain(self, *args, **keys):
        """What was fused into each kernel, what not and why, with bytes and flops."""
        return self._shown(args, keys).explain


def tensor_program(func=None, *, target=None, dynamic=None):
    """Make a tensor program of a function: whole tensors in numpy's words, tl.NAME.  dynamic={"x": ("n", None)}:
    the first extent of x stays open, one kernel takes all its values; so does x: "float32[n, 64]"."""
    if func is None:
        return lambda f: TensorProgram(f, target, dynamic=dynamic)
    return TensorProgram(func, target, dynamic=dynamic)


def _derived(f, argnums, with_value):
    plain = f._func if isinstance(f, TensorProgram) else f
    argnums = list(argnums) if isinstance(argnums, tuple) else argnums
    return TensorProgram(plain, getattr(f, "_target", None), argnums, with_value, getattr(f, "_dynamic", None))


def grad(f, argnums=0):
    """A tensor program that gives the derivatives of f, which gives one number, by arguments."""
    if _core.tracing():
        return _core.builtin("tilelang.grad")(f, argnums)
    return _derived(f, argnums, False)


def value_and_grad(f, argnums=0):
    """The same, after the value of f."""
    if _core.tracing():
        return _core.builtin("tilelang.value_and_grad")(f, argnums)
    return _derived(f, argnums, True)
