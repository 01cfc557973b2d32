"""Helpers of tests; pytest is used when it is installed."""

import functools
import random
import sys
import unittest

from ..utils.target import check_cuda_availability, determine_target
from ..utils.tensor import torch_assert_close  # noqa: F401


def main():
    """Run the tests of the calling file."""
    module = sys.modules["__main__"]
    try:
        import pytest
    except ImportError:
        failed = 0
        for name, fn in list(vars(module).items()):
            if name.startswith("test_") and callable(fn):
                try:
                    fn()
                    print("PASS", name)
                except unittest.SkipTest as why:
                    print("SKIP", name, why)
                except Exception as why:
                    failed += 1
                    print("FAIL", name, type(why).__name__, why)
        sys.exit(failed != 0)
    sys.exit(pytest.main([module.__file__] + sys.argv[1:]))


def set_random_seed(seed=42):
    random.seed(seed)
    for name, call in (("numpy", "random.seed"), ("torch", "manual_seed")):
        module = sys.modules.get(name)
        if module is not None:
            target = module
            for word in call.split("."):
                target = getattr(target, word)
            target(seed)


def _requires(have, what):
    def decorate(fn):
        if isinstance(fn, type):
            return fn if have() else unittest.skip(what)(fn)

        @functools.wraps(fn)
        def wrapper(*args, **keys):
            if not have():
                raise unittest.SkipTest("needs " + what)
            return fn(*args, **keys)

        return wrapper

    return decorate


requires_cuda = _requires(check_cuda_availability, "a CUDA GPU")
requires_rocm = _requires(lambda: False, "an AMD GPU")
requires_metal = _requires(lambda: False, "Metal")
requires_llvm = _requires(lambda: True, "LLVM")
requires_cdna = requires_gfx950 = requires_rocm


def _version():
    from .._target import device_arch

    arch = device_arch() or ""
    digits = "".join(c for c in arch[3:] if c.isdigit())
    return (int(digits[:-1]), int(digits[-1])) if digits else (0, 0)


_MODES = {
    "ge": lambda have, want: have >= want,
    "gt": lambda have, want: have > want,
    "eq": lambda have, want: have == want,
    "le": lambda have, want: (0, 0) < have <= want,
    "lt": lambda have, want: (0, 0) < have < want,
}


def requires_cuda_compute_version(major_version, minor_version=0, mode="ge"):
    """Skipped unless the GPU's compute capability compares like that."""
    test, want = _MODES[mode], (major_version, minor_version)
    return _requires(lambda: test(_version(), want),
                     "another compute capability than %d.%d" % want)


def _compute(mode):
    def factory(major_version, minor_version=0):
        return requires_cuda_compute_version(major_version, minor_version, mode)

    return factory


requires_cuda_compute_version_ge = _compute("ge")
requires_cuda_compute_version_gt = _compute("gt")
requires_cuda_compute_version_eq = _compute("eq")
requires_cuda_compute_version_le = _compute("le")
requires_cuda_compute_version_lt = _compute("lt")


def requires_package(*names):
    """Skipped unless all of these can be imported."""
    import importlib.util

    return _requires(lambda: all(importlib.util.find_spec(n) is not None for n in names),
                     " and ".join(names))


def is_cuda():
    return determine_target("auto").startswith("cuda")


def process_func(fn, name=None, /, **keys):
    """Run one measurement and print it."""
    got = fn(**keys)
    print("%s: %s" % (name or fn.__module__, got))
    return got


def regression(prefixes=("regression_",), verbose=True):
    """Run the functions regression_* of the calling file."""
    module = sys.modules["__main__"]
    for name, fn in list(vars(module).items()):
        if name.startswith(tuple(prefixes)) and callable(fn):
            if verbose:
                print("running", name)
            fn()


requires_cuda_or_cdna = requires_cuda
