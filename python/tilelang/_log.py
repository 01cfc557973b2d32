"""Log level and deprecation."""

import functools
import logging
import sys
import warnings

logger = logging.getLogger("tilelang")


def set_log_level(level):
    """A name ("DEBUG") or a number of the logging module."""
    logger.setLevel(level.upper() if isinstance(level, str) else level)


def _going(name, other, version):
    """What is said of a function that goes away."""
    return "%s is deprecated%s%s" % (name, " and goes with version %s" % version if version else "",
                                     "; use %s" % other if other else "")


def deprecated(method_name=None, new_method_name=None, phaseout_version=None):
    """Marks a function as going away."""

    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(*args, **keys):
            warnings.warn(_going(method_name or fn.__name__, new_method_name, phaseout_version),
                          DeprecationWarning, 2)
            return fn(*args, **keys)

        return wrapper

    return decorate


def deprecated_warning(method_name, new_method_name, phaseout_version=None):
    warnings.warn(_going(method_name, new_method_name, phaseout_version), DeprecationWarning, 3)


class Progress:
    """A line on a terminal; nothing when stderr is a file."""

    def __init__(self, what, total):
        self.what, self.total, self.done = what, total, 0
        self.shown = sys.stderr is not None and sys.stderr.isatty()

    def step(self):
        self.done += 1
        if self.shown:
            width = 30 * self.done // max(self.total, 1)
            sys.stderr.write("\r%s [%s%s] %d/%d" % (self.what, "#" * width, " " * (30 - width),
                                                    self.done, self.total))
            sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
