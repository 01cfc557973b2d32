"""A space of configurations: lists of values, and conditions that points must meet."""

import inspect
import itertools
import math


MOST = 1 << 20  # points, before conditions: each is looked at


def _check_size(n):
    if n > MOST:
        raise ValueError("the space has %d points, before conditions; at most %d are looked at: narrow its ranges, or give them a step"
                         % (n, MOST))


class Space:
    """Space(block_M=[64, 128], stages=range(2, 5), where=["block_M * stages <= 512", fn]).

    A value is a list, a range, or one value.  A condition is an expression in the names of the space
    and of the kernel's arguments, or a function with such parameters; a point that does not meet it
    is dropped, and the condition (of a function its first line of doc, or its name) is the reason.
    Conditions may use `ceildiv`, `min`, `max`, `abs`."""

    NAMES = {"__builtins__": {}, "min": min, "max": max, "abs": abs,
             "ceildiv": lambda a, b: -(-a // b)}

    def __init__(self, where=(), **values):
        self.values = {name: self._list(name, v) for name, v in values.items()}
        _check_size(len(self))
        self.conditions = [where] if callable(where) or isinstance(where, str) else list(where)
        self.where = [(self._reason(w), self._test(w)) for w in self.conditions]

    def narrowed(self, where=(), **fixed):
        """The same with more conditions, and one value for each of these names."""
        return Space(where=self.conditions + list(where), **{**self.values, **fixed})

    @staticmethod
    def _list(name, v):
        if isinstance(v, (list, tuple, range)):
            if not v:
                raise ValueError("the space has no value for %r" % name)
            _check_size(len(v))
            return list(v)
        return [v]

    @staticmethod
    def _reason(w):
        if isinstance(w, str):
            return w
        doc = (w.__doc__ or "").strip().splitlines()
        return doc[0] if doc else w.__name__

    def _test(self, w):
        if isinstance(w, str):
            try:
                code = compile(w, "<where>", "eval")
            except (SyntaxError, ValueError) as why:
                raise ValueError("the condition %r is no expression: %s" % (w, getattr(why, "msg", why))) from None
            return lambda known: eval(code, self.NAMES, known)
        if not callable(w):
            raise TypeError("a condition is a str or a function, not %s" % type(w).__name__)
        names = list(inspect.signature(w).parameters)
        return lambda known: w(**{n: known[n] for n in names})

    def __len__(self):
        """Points, before conditions."""
        return math.prod(len(v) for v in self.values.values())

    def all(self):
        for point in itertools.product(*self.values.values()):
            yield dict(zip(self.values, point))

    def points(self, args=None, dropped=None):
        """The points that meet the conditions for these arguments of the kernel.  dropped: a dict
        that gets reason -> how many."""
        for point in self.all():
            reason = self._why_not({**(args or {}), **point})
            if reason is None:
                yield point
            elif dropped is not None:
                dropped[reason] = dropped.get(reason, 0) + 1

    def _why_not(self, known):
        for reason, test in self.where:
            try:
                fine = test(known)
            except NameError as e:
                raise ValueError("the condition %r has a name that is neither in the space nor an "
                                 "argument: %s" % (reason, e)) from None
            except KeyError as e:
                raise ValueError("the condition %r takes %s, which is neither in the space nor an "
                                 "argument" % (reason, e)) from None
            except Exception as e:
                raise ValueError("the condition %r cannot be told for %s: %s: %s" % (
                    reason, " ".join("%s=%s" % row for row in known.items()), type(e).__name__, e)) from e
            if not fine:
                return reason
        return None

    def __iter__(self):
        return self.points()

    def __repr__(self):
        return "Space(%s)" % ", ".join("%s=%r" % row for row in self.values.items())

    @classmethod
    def parse(cls, words, where=()):
        """From the command line: block_M=64,128 stages=2..4 block_N=64..256:64 swap=True,False."""
        values = {}
        for word in words:
            name, equal, text = word.partition("=")
            if not equal or not name.isidentifier():
                raise ValueError("a part of a space is NAME=VALUES, not %r" % word)
            if name in values:
                raise ValueError("the space has %r twice" % name)
            values[name] = [v for part in text.split(",") if part for v in _values(name, part)]
        return cls(where=where, **values)


def _values(name, text):
    """64, 2..4, 64..256:64, float16, True"""
    first, dots, rest = text.partition("..")
    try:
        if dots:
            last, _, step = rest.partition(":")
            whole = range(int(first), int(last) + 1, int(step or 1))
            large = whole[MOST:]  # not its len(), which has 64 bits
    except ValueError:
        raise ValueError("%s=%s: a range is FIRST..LAST or FIRST..LAST:STEP" % (name, text)) from None
    if not dots:
        return [plain(text)]
    if large:
        raise ValueError("%s=%s has more than %d values" % (name, text, MOST))
    return list(whole)


def plain(text):
    """A number, True, False or None where it reads as one, else the text."""
    words = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
