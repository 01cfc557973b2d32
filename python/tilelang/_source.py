"""The text of a function with its place in the file, and the names it can see."""

import os
import weakref

from . import _core
from ._errors import refused

# Texts by the id of a code object: to look for one takes milliseconds, with the GIL.  Two code objects that are equal may
# have texts that differ, since annotations leave no trace in them.
_found = {}


def _state(file):
    """What a file that was changed differs in; None: it is no file."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def text_of(fn):
    """(file, text) where line n of the text is line n of the file: what stands before the function
    is blank, and an `if` holds its indentation."""
    code = getattr(fn, "__code__", None)
    if code is None:
        raise refused(TypeError, "a kernel is a function of Python, not %s [decorator]" % type(fn).__name__)
    key, state = id(code), _state(code.co_filename)
    of, then, text = _found.get(key, (None, None, None))
    if of is None or of() is not code or then != state:
        text = _text_of(fn, code)
        _found[key] = weakref.ref(code, lambda gone: _forget(key, gone)), state, text
    return code.co_filename, text


def _forget(key, gone):
    if _found.get(key, (None,))[0] is gone:
        del _found[key]


def _text_of(fn, code):
    import inspect

    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, IndexError) as why:
        lines, first = _elsewhere(code), code.co_firstlineno
        if lines is None:
            raise OSError(
                "the source of %r is not available (%s); a function made by exec needs its text "
                "in linecache" % (fn.__qualname__, why)
            ) from None
    if not _defines(lines, code.co_name):
        raise OSError("%s has changed since %r was defined there: its text is no longer found at "
                      "line %d" % (code.co_filename, fn.__qualname__, first))
    head = lines[0]
    indented = head[:1] in (" ", "\t")
    if indented and first > 1:
        text = "\n" * (first - 2) + "if 1:\n"
    elif indented:
        import textwrap

        text = ""
        lines = textwrap.dedent("".join(lines)).splitlines(True)
    else:
        text = "\n" * (first - 1)
    return text + "".join(lines)


def _defines(lines, name):
    """Whether the first function of the lines has that name."""
    for line in lines:
        words = line.split()
        if words and words[0] == "async":
            words = words[1:]
        if len(words) > 1 and words[0] == "def":
            return words[1].split("(")[0].split("[")[0].rstrip(":\\") == name
    return False


def _texts():
    """Texts that inspect does not know of: of python -c, and of cells under %%time and the like."""
    import sys

    words = getattr(sys, "orig_argv", [])
    if "-c" in words[:-1]:
        yield words[words.index("-c") + 1]
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = ask() if ask else None
    cells = getattr(getattr(shell, "history_manager", None), "input_hist_raw", [])
    for cell in reversed(cells[-3:]):
        head, _, body = cell.partition("\n")
        if head.startswith("%%"):
            yield body


def _elsewhere(code):
    """Lines of a function in one of those texts, else None."""
    import inspect

    for text in _texts():
        try:
            todo = [compile(text, code.co_filename, "exec")]
        except SyntaxError:
            continue
        for c in todo:  # grows; the very same function is somewhere in there, or it is another's
            if c == code:
                return inspect.getblock(text.splitlines(True)[code.co_firstlineno - 1 :])
            todo += [k for k in c.co_consts if isinstance(k, type(code))]
    return None


def closure_of(fn):
    """The cells as they are now; an empty one is left out."""
    found = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            pass
    return found


_FUTURE = 0x1000000  # CO_FUTURE_ANNOTATIONS: every annotation is the text that was written


def _annotations(fn, closure, local):
    notes = {}
    text = fn.__code__.co_flags & _FUTURE
    for name, note in getattr(fn, "__annotations__", {}).items():
        if isinstance(note, str) and (text or _core.dtype(note) is None):
            try:
                note = eval(note, fn.__globals__, {**(local or {}), **closure})
            except Exception:
                continue  # the evaluator reads the text itself and says what is wrong
        notes[name] = note
    return notes


def _defaults(fn):
    code = fn.__code__
    names = code.co_varnames[: code.co_argcount]
    given = fn.__defaults__ or ()
    found = dict(zip(names[len(names) - len(given) :], given))
    found.update(fn.__kwdefaults__ or {})
    return found


def names_of(fn, local=None):
    """What the evaluator asks for: closure (frozen now), globals, annotations, defaults."""
    closure = closure_of(fn)
    return closure, fn.__globals__, _annotations(fn, closure, local), _defaults(fn)
