"""The examples as scripts: what verify() and bench() print, and that a wrong result is seen."""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from tilelang import script

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")


def load(name):
    path = os.path.join(EXAMPLES, name + ".py")
    spec = importlib.util.spec_from_file_location("script_" + name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def printed(fn, **keys):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        got = fn(**keys)
    return got, out.getvalue()


def names():
    return sorted(f[:-3] for f in os.listdir(EXAMPLES) if f.endswith(".py"))


def test_every_example_verifies():
    """Also those of 8-bit floats, which numpy has from ml_dtypes: test/all.sh brings it."""
    assert len(names()) >= 20
    for name in names():
        got, text = printed(load(name).verify)
        assert got is True and set(text.splitlines()) == {"VERIFY: PASS"}, "%s: %s" % (name, text)


def test_every_example_has_a_bench():
    for name in names():
        with open(os.path.join(EXAMPLES, name + ".py")) as f:
            text = f.read()
        assert "\ndef bench(" in text and "script.main(verify, bench)" in text, name


def run(name, *words):
    return subprocess.run([sys.executable, os.path.join(EXAMPLES, name + ".py"), *words],
                          capture_output=True, text=True)


def test_run_by_python():
    for name, words in (("vector_add", ["N=1000"]), ("softmax", ["M=33", "N=100"]),
                        ("gemm", ["M=40", "N=50", "K=60", "dtype=float16"])):
        r = run(name, *words)
        assert r.returncode == 0, r.stderr
        assert re.fullmatch(r"VERIFY: PASS\nTFLOPS: [0-9.]+ time_ms: [0-9.]+\n", r.stdout), r.stdout


def test_unknown_words_are_refused():
    r = run("vector_add", "M=3")
    assert r.returncode == 1 and "takes NAME=VALUE for N" in r.stderr


def test_wrong_results_fail():
    vector_add = load("vector_add").vector_add
    a, b = script.normal(100), script.normal(100)
    want = a + b
    want[17] += 0.5
    got, text = printed(lambda: script.check(vector_add(100), [a, b], want))
    assert got is False and re.fullmatch(r"VERIFY: FAIL max_abs_err=0\.5\d*\n", text), text
    got, text = printed(lambda: script.check(vector_add(100), [a, b], want[:99]))
    assert got is False and "FAIL" in text


def test_bfloat16_is_rounded_to_nearest():
    x = np.array([1.0, 1.00390625, 1.01171875, -3.0], "float32")
    assert script.rounded(x, "bfloat16").tolist() == [1.0, 1.0, 1.015625, -3.0]


def test_strict_and_json():
    import json

    def half(a):
        return (np.asarray(a, "float32") * 0.5).astype("float16")

    off = 0.0

    def verify(N=64):
        x = np.linspace(-200, 200, N).astype("float16")
        return script.check(lambda a: half(a) + np.float16(off), [x], half(x).astype("float64"))

    def bench(N=64):
        script.timed(half, [np.ones(N, "float16")], flops=N)

    def run(*words):
        out, code = io.StringIO(), None
        with contextlib.redirect_stdout(out):
            try:
                script.main(verify, bench, argv=list(words))
            except SystemExit as end:
                code = end.code
        return code, out.getvalue()

    code, text = run("--strict", "--json")
    found = json.loads(text.splitlines()[-1])
    assert not code and "VERIFY: PASS" in text and re.search(r"^TFLOPS: [\d.]+ time_ms: [\d.]+$", text, re.M), text
    assert found["verify"] == "PASS" and found["strict"] and found["time_ms"] > 0 and found["max_abs_err"] == 0
    off = 0.02  # little beside 200, and more than a harness takes
    assert run()[0] == 0
    code, text = run("--strict")
    assert code and "VERIFY: FAIL max_abs_err=" in text
    assert run("N=32")[0] == 0 and not script._Mode.strict
    off = float("nan")
    code, text = run("--json")
    assert code and json.loads(text.splitlines()[-1])["max_abs_err"] is None and "nan" not in text.splitlines()[-1].lower()

    def plain(dtype="float32", by=1e-3):  # as near as float32 sums of a thousand are, and no nearer
        y = np.linspace(-200, 200, 64)
        return script.check(lambda a: (y + by).astype("float32"), [y.astype(dtype)], y)

    with contextlib.redirect_stdout(io.StringIO()):
        script._Mode.strict = True
        try:
            assert plain() and not plain(by=1.0)
            assert not plain("float16", by=1.5e-3)  # float16 is what it is of, whatever it gives
        finally:
            script._Mode.strict = False


def test_quickstart_of_the_readme():
    """The kernel saved as matmul.py and the lines for numpy, as they are printed."""
    with open(os.path.join(ROOT, "README.md")) as f:
        text = f.read()
    kernel = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    lines = next(b for b in re.findall(r"```py\n(.*?)```", text, re.S) if "import numpy" in b)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "matmul.py"), "w") as f:
            f.write(kernel)
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(os.path.abspath(p) for p in sys.path if p))
        got = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, cwd=folder, env=env)
    assert got.returncode == 0 and float(got.stdout) < 0.1, got.stdout + got.stderr
