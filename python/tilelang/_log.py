"""Log level and deprecation."""

import functools
import logging
import warnings

logger = logging.getLogger("tilelang")


def set_log_level(level):
    """A name ("DEBUG") or a number of the logging module."""
    logger.setLevel(level.upper() if isinstance(level, str) else level)


def deprecated(method_name=None, new_method_name=None, phaseout_version=None):
    """Marks a function as going away."""

    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(*args, **keys):
            warnings.warn("%s is deprecated%s" % (
                method_name or fn.__name__,
                "; use %s" % new_method_name if new_method_name else ""), DeprecationWarning, 2)
            return fn(*args, **keys)

        return wrapper

    return decorate


def deprecated_warning(method_name, new_method_name, phaseout_version=None):
    warnings.warn("%s is deprecated; use %s" % (method_name, new_method_name),
                  DeprecationWarning, 3)
