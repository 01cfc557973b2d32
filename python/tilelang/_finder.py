"""`import tvm` in kernels written for the original means the names of tilelang.tvm.  A tvm that is
installed comes first: this finder is the last one."""

import importlib
import importlib.machinery
import sys


class TvmFinder:
    def find_spec(self, name, path=None, target=None):
        if name == "tvm" or name in ("tvm.tir", "tvm.tirx", "tvm.script", "tvm.target",
                                     "tvm.testing"):
            return importlib.machinery.ModuleSpec(name, self, is_package=name == "tvm")
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        ours = importlib.import_module("tilelang." + module.__name__)
        sys.modules[module.__name__] = ours


def install():
    if not any(isinstance(f, TvmFinder) for f in sys.meta_path):
        sys.meta_path.append(TvmFinder())
