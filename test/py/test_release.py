"""What a release says of itself: names, metadata, changes; the gate on speed."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import tilelang
from tilelang import _beside

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(*path):
    with open(os.path.join(ROOT, *path)) as f:
        return f.read()


def test_the_original_beside_it_is_told_of():
    with tempfile.TemporaryDirectory() as site:
        os.mkdir(os.path.join(site, "tilelang_c-0.1.15.dist-info"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not _beside.warn(site)
        os.mkdir(os.path.join(site, "tilelang-0.1.6.dist-info"))
        os.symlink(os.path.dirname(tilelang.__file__), os.path.join(site, "tilelang"))
        p = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", "import tilelang"],
                           env=dict(os.environ, PYTHONPATH=site), capture_output=True, text=True)
        assert p.returncode and "pip uninstall tilelang tilelang-c" in p.stderr, p.stderr
        assert "tilelang-0.1.6" in p.stderr


def test_metadata_and_changes_are_of_this_version():
    about = read("pyproject.toml")
    assert 'name = "tilelang-c"' in about
    for field in ("license", "authors", "requires-python", "classifiers", "readme"):
        assert re.search(r"^%s = " % field, about, re.M), field
    assert re.search(r"^## %s\b" % re.escape(tilelang.__version__), read("CHANGELOG.md"), re.M)


def gate():
    spec = importlib.util.spec_from_file_location("gate", os.path.join(ROOT, "tools", "gate.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_slower_is_beyond_both_spreads():
    slower = gate().slower
    assert slower({"ms": 1.04, "spread": 0}, {"ms": 1, "spread": 0}) < 0
    assert slower({"ms": 1.06, "spread": 0}, {"ms": 1, "spread": 0}) > 0
    assert slower({"ms": 1.2, "spread": 0.15}, {"ms": 1, "spread": 0.1}) < 0


def test_the_gate_fails_what_is_slower_than_its_baseline():
    with tempfile.TemporaryDirectory() as folder:
        line = "%s --target cpu --reps 5" % os.path.join(ROOT, "test", "cli", "add.py")
        with open(os.path.join(folder, "list"), "w") as f:
            f.write("# comment\n%s\n" % line)

        def run(*more):
            return subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gate.py"), os.environ["TL"], "--list",
                                   os.path.join(folder, "list"), "--baselines", folder, "--machine", "A box", *more],
                                  capture_output=True, text=True)

        p = run()
        assert p.returncode == 0 and "no baselines for A box" in p.stdout, p.stdout + p.stderr
        assert run("--update", "first").returncode == 0
        file = os.path.join(folder, "A-box.json")
        with open(file) as f:
            rows = json.load(f)
        assert rows["reason"] == "first" and rows["kernels"][line]["ms"] > 0
        for ms, code in ((1e9, 0), (1e-9, 1)):
            rows["kernels"][line] = {"ms": ms, "spread": 0}
            with open(file, "w") as f:
                json.dump(rows, f)
            p = run()
            assert p.returncode == code, p.stdout + p.stderr
        for text in ('{"kern', "[]", '{"kernels": {"x": {}}}'):
            with open(file, "w") as f:
                f.write(text)
            p = run()
            assert p.returncode == 1 and "is not a file of baselines" in p.stderr, p.stdout + p.stderr
