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


def tell_ignored(core):
    """The compiler's own messages of this kind, each at the line it is about."""
    import warnings

    for text, file, line in core.ignored():
        warnings.warn_explicit(text + " [ignored]", IgnoredWarning, file or "<kernel>", line)


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
    "not-iterable not-indexable unhashable argument-dtype argument-device decorator annotation",
    ValueError: "missing-annotation init-range ref-argument out-idx out-idx-eager argument-shape "
    "argument-rank argument-stride argument-null unknown-dtype bad-extent kernel-extent dim-value "
    "missing-parameter no-such-parameter config-unknown config-value tile-shape target-unknown layout-injective "
    "layout-collision parallel-local parallel-nesting pipelined-in-parallel tile-in-parallel "
    "sync-in-parallel memory-order rounding-mode reinterpret-size gemm-shape copy-shape reduce-shape "
    "dp4a-dtype fragment-extent",
    OverflowError: "int-too-big",
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


def _raised(text):
    """`raise ValueError(…)` in a kernel is a ValueError."""
    import builtins

    word = text.split("error: ", 1)[-1].split(" ", 1)[0]
    base = getattr(builtins, word, None)
    return base if isinstance(base, type) and issubclass(base, Exception) else RuntimeError


def make_error(status, tag, text, filename, line, column):
    if tag in _NO_BUILDER:
        cls = JITNoBuilderError
    elif tag == "raised":
        cls = _class(_raised(text))
    elif status == _MEM:
        cls = _class(MemoryError)
    elif status == _IO:
        cls = _class(OSError)
    else:
        cls = _class(_BY_TAG.get(tag, RuntimeError))
    error = cls(text.rstrip("\n"))
    error.tag, error.filename, error.lineno, error.offset = tag, filename, line, column
    if isinstance(error, SyntaxError):
        error.msg = text.rstrip("\n")
    return error
