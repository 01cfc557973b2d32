"""Where the text of a kernel may stand, and what may stand around it."""

import functools
import inspect
import subprocess
import linecache
import sys
import types

import numpy as np

import tilelang
import tilelang.language as T
from check import raises

COMMAND = """
import tilelang, tilelang.language as T, numpy as np
if True:
    @tilelang.jit(out_idx=[-1], target="c")
    def made(n):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
            with T.Kernel(1):
                T.copy(A, B)
        return main
print(made(4)(np.arange(4, dtype="float32")).sum())
@T.prim_func
def bad(A: T.Tensor((4,), "float32")):
    with T.Kernel(1):
        A[0] = nothing
"""


def copy_of(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1):
            T.copy(A, B)

    return main


def kept(f):
    @functools.wraps(f)
    def wrapper(*args, **keys):
        return f(*args, **keys)

    return wrapper


def test_text_of_a_command():
    r = subprocess.run([sys.executable, "-c", COMMAND], capture_output=True, text=True)
    assert r.stdout.strip() == "6.0", r.stderr
    assert "<string>:15:16: error: 'nothing' is not defined" in r.stderr, r.stderr
    code = "exec('import tilelang.language as T\\n@T.prim_func\\ndef f(A: T.int32):\\n  pass')"
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "needs its text in linecache" in r.stderr


def test_cells_under_a_magic():
    cell = "%%time\n@T.prim_func\ndef f(A: T.Tensor((4,), 'float32')):\n" \
           "    with T.Kernel(1):\n        T.fill(A, 3.0)\n"
    shell = types.SimpleNamespace(history_manager=types.SimpleNamespace(input_hist_raw=[cell]))
    before = sys.modules.get("IPython")
    sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
    try:
        names = {"T": T}
        exec(compile(cell.partition("\n")[2], "<timed exec>", "exec"), names)
    finally:
        if before is None:
            del sys.modules["IPython"]
        else:
            sys.modules["IPython"] = before
    x = np.zeros(4, "float32")
    tilelang.compile(names["f"], target="c")(x)
    assert (x == 3).all()


def test_decorators_around_kernels():
    x = np.arange(4, dtype="float32")
    twice = tilelang.jit(tilelang.jit(copy_of, out_idx=[-1], target="cuda"), target="c")
    assert (twice(4)(x) == x).all()

    @tilelang.jit(out_idx=[-1], target="c")
    @kept
    def lazy(n):
        return copy_of(n)

    @tilelang.jit(target="c")
    @kept
    def eager(A):
        N = T.const("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((N,), "float32")
        with T.Kernel(1):
            T.copy(A, B)
        return B

    assert (lazy(4)(x) == x).all() and (eager(x) == x).all()


def test_callables_that_make_kernels():
    x = np.arange(4, dtype="float32")
    for f in (lambda n=4: copy_of(n), functools.partial(copy_of, 4)):
        assert (tilelang.jit(f, out_idx=[-1], target="c")()(x) == x).all()
    with raises(TypeError, "not a @T.prim_func"):
        tilelang.jit(lambda: None, target="c")()
    with raises(TypeError, "needs a function"):
        tilelang.jit(int)

    double = T.macro(lambda A, i: A[i] * 2)

    @T.prim_func
    def main(A: T.Tensor((4,), "float32"), B: T.Tensor((4,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(4):
                B[i] = double(A, i)

    assert (tilelang.compile(main, out_idx=[1], target="c")(x) == 2 * x).all()


def test_files_that_change():
    """Another text at the function's place is noticed."""
    import importlib
    import os
    import tempfile

    text = "import tilelang.language as T\n\n\ndef make():\n    @T.prim_func\n" \
           "    def fill(A: T.Tensor((4,), 'float32')):\n        with T.Kernel(1):\n" \
           "            T.fill(A, 1.0)\n\n    return fill\n"
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "kernels_that_change.py")
        with open(path, "w") as f:
            f.write(text)
        sys.path.insert(0, d)
        try:
            module = importlib.import_module("kernels_that_change")
        finally:
            sys.path.remove(d)
        assert module.make().__name__ == "fill"
        with open(path, "w") as f:
            f.write("def other():\n    def first():\n        pass\n" * 3 + "    def last(): pass\n")
        os.utime(path, (1, 1))
        with raises(OSError, "has changed", "fill"):
            module.make()


def test_texts_of_equal_code():
    """Two functions whose code is equal, and whose annotations, of which it says nothing, are not."""
    from tilelang import _source

    text = "def fill(A):\n    A: %s\n    return A\n"
    made = []
    for n, note in enumerate(("int", "float")):
        name, spaces = "<equal %d>" % n, {}
        linecache.cache[name] = (1, None, (text % note).splitlines(True), name)
        exec(compile(text % note, name, "exec"), spaces)
        made.append(spaces["fill"])
    assert made[0].__code__.co_code == made[1].__code__.co_code
    texts = [_source.text_of(f)[1] for f in made * 2]
    assert texts == [text % "int", text % "float"] * 2, texts


def test_signatures():
    from tilelang import _core

    for name, *_ in _core.rows():
        inspect.signature(_core.builtin(name))
    copy = inspect.signature(T.copy).parameters
    assert list(copy)[:2] == ["src", "dst"] and copy["disable_tma"].kind is copy["src"].KEYWORD_ONLY
    assert inspect.signature(T.gemm).parameters["clear_accum"].default is False
