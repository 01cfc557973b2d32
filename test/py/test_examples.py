"""The examples through both doors: Python and tl emit the same text."""

import importlib.util
import os
import subprocess
import sys

import tilelang
from tilelang.jit import JITImpl, _finish

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TL = os.environ.get("TL", os.path.join(ROOT, "build", "tl"))


def load(path):
    name = "example_" + os.path.basename(path)[:-3]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def emitted(impl, target):
    impl.target = target
    func = impl.get_tir()
    k, _ = _finish(func, func._take, impl.out_idx, target, impl.pass_configs, None, impl.__name__,
                   no_build=True)
    return k.get_kernel_source()


def emitted_or_tag(impl, target):
    try:
        return emitted(impl, target)
    except tilelang.TileLangError as e:
        return "[%s]" % e.tag


def by_tl(path, name, target):
    r = subprocess.run([TL, "build", "%s:%s" % (path, name), "--target", target, "--source", "--quiet"],
                       capture_output=True, text=True, cwd=ROOT)
    if r.returncode:
        first = next(line for line in r.stderr.splitlines() if "error:" in line)
        return first[first.rindex("["):]
    return r.stdout


def same(target):
    seen = 0
    folder = os.path.join(ROOT, "examples")
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".py"):
            continue
        path = os.path.join(folder, file)
        module = load(path)
        for name, impl in vars(module).items():
            if not isinstance(impl, JITImpl) or impl._eager:
                continue
            ours, theirs = emitted_or_tag(impl, target), by_tl(path, name, target)
            assert ours.strip() == theirs.strip(), "%s: %s differs" % (file, name)
            seen += not ours.startswith("[")
    return seen


def test_same_text_on_cpus():
    assert same("cpu -mcpu=x86-64-v3") > 15


def test_same_text_on_gpus():
    assert same("cuda -arch=sm_80") > 15
