"""Pass configurations by their original names, out of the compiler's table, which says of each who
obeys it (`tl explain pass_configs`)."""

import contextlib
import enum
import functools

from .. import _core
from ..jit import contexts

_ROWS = _core.configs()


class _Keys(enum.EnumMeta):
    def __getattr__(cls, name):
        import difflib

        near = difflib.get_close_matches(name, [row[1] for row in _ROWS], 1)
        raise AttributeError("PassConfigKey has no member %r%s" % (
            name, "; did you mean %r?" % near[0] if near else ""))


class _Key(str, enum.Enum, metaclass=_Keys):
    def __str__(self):
        return self.value

    __hash__ = str.__hash__


# PassConfigKey.TL_ENABLE_FAST_MATH is the key "tl.enable_fast_math".
PassConfigKey = _Key("PassConfigKey", {row[1]: row[0] for row in _ROWS}, module=__name__)


class PassContext(contextlib.AbstractContextManager):
    """with PassContext(config={…}): pass configs of what is compiled inside; what a function or its
    caller says of itself wins.  All passes are run."""

    def __init__(self, opt_level=2, required_pass=None, disabled_pass=None, instruments=None,
                 config=None):
        if opt_level < 2 or required_pass or disabled_pass or instruments:
            raise NotImplementedError("PassContext: all passes are run; pass configs and "
                                      "tilelang.instrumentation choose and watch")
        self.opt_level, self.config = opt_level, config or {}

    def __enter__(self):
        contexts().append(self)
        return self

    def __exit__(self, *why):
        contexts().pop()


def simplify_prim_func(func):
    """A kernel function, or what gives one, without the tensors that it does not touch.  All else is
    simplified when it is compiled."""
    from ..language import PrimFunc

    if isinstance(func, PrimFunc):
        return func.without_unused()

    @functools.wraps(func)
    def simplified(*args, **keys):
        made = func(*args, **keys)
        return simplify_prim_func(made) if isinstance(made, PrimFunc) else made

    return simplified


def get_pass_context():
    return contexts()[-1] if contexts() else PassContext()
