"""The kernel cache on disk."""

from .. import _core


def clear_cache():
    """Remove every compiled kernel; gives their number."""
    return _core.cache_clear()


def cached(func=None, *args, **keys):
    from ..jit import compile

    return compile(func, *args, **keys)
