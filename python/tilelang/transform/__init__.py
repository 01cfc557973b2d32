"""Pass configurations by their original names, out of the compiler's table, which says of each who
obeys it (`tl explain pass_configs`)."""

import contextlib
import enum
import functools

from .. import _core

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
    """Accepted; pass configs are given to tilelang.jit and tilelang.compile."""

    def __init__(self, *args, **keys):
        self.config = keys.get("config") or {}

    def __exit__(self, *why):
        return None


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
    return PassContext()
