"""`import tvm` in kernels written for the original means the names of tilelang.tvm.  A tvm that is
installed comes first: this finder is the last one."""

import importlib
import importlib.machinery
import sys


# What tvm has; whatever lies below them is taken as well.
NAMES = ("arith", "contrib", "ffi", "ir", "runtime", "script", "target", "te", "testing", "tir",
         "tirx")


class TvmFinder:
    def find_spec(self, name, path=None, target=None):
        words = name.split(".")
        if words[0] != "tvm" or len(words) > 1 and words[1] not in NAMES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        ours = importlib.import_module("tilelang.tvm")
        sys.modules[name] = ours if name == "tvm" else ours.submodule(name)


def install():
    if not any(isinstance(f, TvmFinder) for f in sys.meta_path):
        sys.meta_path.append(TvmFinder())
