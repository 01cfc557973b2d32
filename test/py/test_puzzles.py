"""The course of examples/puzzles: each hole left empty fails, each solution passes."""

import contextlib
import importlib.util
import io
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PUZZLES = os.path.join(ROOT, "examples", "puzzles")


def names():
    return sorted(f[:-3] for f in os.listdir(PUZZLES) if f.endswith(".py"))


def text_of(*path):
    with open(os.path.join(PUZZLES, *path)) as f:
        return f.read()


def filled(text, solution):
    lines = text.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.strip().startswith("# ---- your turn"))
    last = next(i for i, line in enumerate(lines) if line.strip() == "# ---- end")
    return "".join(lines[:first]) + solution + "".join(lines[last + 1:])


def outcome(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "puzzle.py")
        with open(path, "w") as f:
            f.write(text)
        spec = importlib.util.spec_from_file_location("puzzle_" + name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            spec.loader.exec_module(module)
            got = module.check()
        return got, out.getvalue()


def test_there_are_ten():
    assert [n[:2] for n in names()] == ["%02d" % i for i in range(1, 11)]


def test_an_empty_hole_fails():
    for name in names():
        got, said = outcome(name, text_of(name + ".py"))
        assert got is False and said.startswith("VERIFY: FAIL max_abs_err="), "%s: %s" % (name, said)


def test_the_solutions_pass():
    for name in names():
        text = filled(text_of(name + ".py"), text_of("solutions", name + ".txt"))
        got, said = outcome(name, text)
        assert got is True and said == "VERIFY: PASS\n", "%s: %s" % (name, said)
