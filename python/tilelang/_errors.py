"""Exceptions.  A message of the compiler is an exception of the class the original package raises
for that mistake, and always a TileLangError with the text, the tag and the place."""


class TileLangError(Exception):
    """What the compiler refused.  tag is stable and documented; file, line and column say where."""

    tag = ""
    filename = None
    lineno = 0
    offset = 0


class JITNoBuilderError(TileLangError, RuntimeError):
    """A macro or T.name that needs a kernel was used outside of one."""


class EagerJITBuildError(TileLangError, RuntimeError):
    """The body of an eager kernel could not be traced."""


class IgnoredWarning(UserWarning):
    """An option was accepted and is not obeyed; the text says what happens instead.  The compiler's
    own message has the tag [ignored]."""


def ignored(what, instead, stacklevel=2):
    """Warns the caller of the function that accepted `what`."""
    import warnings

    warnings.warn("%s is ignored: %s [ignored]" % (what, instead), IgnoredWarning, stacklevel + 1)


class SlowWarning(UserWarning):
    """A kernel got less than its target has, at a cost; kernel.get_audit() has all of it.  The tag is
    [slow]."""


def tell(core):
    """The compiler's own messages of these kinds, each at the line it is about."""
    import warnings

    for tag, text, file, line in core.told():
        kind = IgnoredWarning if tag == "ignored" else SlowWarning
        warnings.warn_explicit("%s [%s]" % (text, tag), kind, file or "<kernel>", line)


_OK, _USER, _IO, _TOOL, _TARGET, _MEM, _BUG = range(7)

_BASES = {
    AssertionError: "assert-failed view-size reducer-dtype",
    AttributeError: "no-attribute no-such-name",
    IndexError: "index-count index-range slice-range",
    KeyError: "missing-key",
    NameError: "undefined-name no-such-function",
    NotImplementedError: "target-unsupported config-refused attribute-store unsupported-here no-generator no-async macro-return",
    SyntaxError: "syntax",
    TypeError: "argument-count argument-name argument-type for-iterable positional-only "
    "buffer-condition operand-types not-a-number not-a-tile not-an-int not-callable "
    "not-iterable not-indexable unhashable argument-dtype argument-device argument-layout decorator annotation "
    "tensor-type",
    ValueError: "missing-annotation init-range ref-argument out-idx out-idx-eager argument-shape "
    "argument-rank argument-stride argument-sign argument-read-only argument-null "
    "unknown-dtype bad-extent kernel-extent dim-value "
    "missing-parameter no-such-parameter config-unknown config-value tile-shape target-unknown layout-injective "
    "layout-collision parallel-local parallel-nesting pipelined-in-parallel tile-in-parallel "
    "sync-in-parallel memory-order rounding-mode reinterpret-size gemm-shape copy-shape reduce-shape "
    "dp4a-dtype fragment-extent",
    OverflowError: "int-too-big argument-range",
}
_BY_TAG = {tag: base for base, tags in _BASES.items() for tag in tags.split()}
_NO_BUILDER = {"macro-outside", "outside-function", "outside-kernel", "const-outside"}
_classes = {}


def _class(base):
    made = _classes.get(base)
    if made is None:
        made = type("Kernel" + base.__name__, (TileLangError, base), {"__module__": "tilelang"})
        _classes[base] = made
    return made


def refused(base, text):
    """The exception for a call that cannot be made; the tag is at the end of the text."""
    error = _class(base)(text)
    if text.endswith("]"):
        error.tag = text[text.rindex("[") + 1:-1]
    return error


def _raised(text):
    """`raise ValueError(…)` in a kernel is a ValueError."""
    import builtins

    word = text.split("error: ", 1)[-1].split(" ", 1)[0]
    base = getattr(builtins, word, None)
    return base if isinstance(base, type) and issubclass(base, Exception) else RuntimeError


def _caller():
    """(file, line, first column, last column) of what Python ran outside of this package; columns are 0 before 3.11."""
    import os
    import sys

    frame, own = sys._getframe(1), os.path.dirname(os.path.abspath(__file__)) + os.sep
    while frame and os.path.abspath(frame.f_code.co_filename).startswith(own):
        frame = frame.f_back
    if frame is None:
        return None, 0, 0, 0
    first = last = 0
    if hasattr(frame.f_code, "co_positions") and frame.f_lasti >= 0:
        line, end, start, stop = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        if line == end == frame.f_lineno and start is not None:
            first, last = start + 1, stop
    return frame.f_code.co_filename, frame.f_lineno, first, last


def _placed(text):
    """A message about a value that Python computed: where Python was says where it is from."""
    import linecache

    filename, line, first, last = _caller()
    shown = linecache.getline(filename, line).rstrip("\n") if filename else ""
    if not shown:
        return text, None, 0, 0
    message, _, rest = text.partition("\n")
    place = "%s:%d:%d: " % (filename, line, first) if first else "%s:%d: " % (filename, line)
    lines = [place + message, "%5d | %s" % (line, shown)]
    if first:
        lines.append("      | " + " " * (first - 1) + "^" + "~" * (last - first))
    return "\n".join(lines + ([rest] if rest else [])), filename, line, first


def make_error(status, tag, text, filename, line, column):
    if filename is None and text.startswith("error: "):
        text, filename, line, column = _placed(text)
    if tag in _NO_BUILDER:
        cls = JITNoBuilderError
    elif tag == "raised":
        cls = _class(_raised(text))
    elif status == _MEM:
        cls = _class(MemoryError)
    elif status == _IO:
        cls = _class(OSError)
    elif tag == "argument-count" and filename is None:
        cls = _class(ValueError)  # of the call of a kernel, as the original has it
    else:
        cls = _class(_BY_TAG.get(tag, RuntimeError))
    error = cls(text.rstrip("\n"))
    error.tag, error.filename, error.lineno, error.offset = tag, filename, line, column
    if isinstance(error, SyntaxError):
        error.msg = text.rstrip("\n")
    return error
