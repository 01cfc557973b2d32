"""`import tvm` in kernels written for the original means the names of tilelang.tvm.  A tvm that is
installed comes first: this finder is the last one.  Files that do not speak of tilelang get nothing:
who looks whether there is a TVM must not find one."""

import importlib
import importlib.machinery
import sys


# What tvm has; whatever lies below them is taken as well.
NAMES = ("arith", "contrib", "ffi", "ir", "runtime", "script", "target", "te", "testing", "tir",
         "tirx")


def _asked_by_kernels():
    """Whether the file that imports is one of tilelang's, or has its name in the text."""
    import linecache

    frame = sys._getframe(2)
    while frame is not None:
        names, file = frame.f_globals, frame.f_code.co_filename
        name = names.get("__name__") or ""
        if not file.startswith("<frozen") and not name.startswith("importlib"):
            lines = linecache.getlines(file, names)
            if name.split(".")[0] == "tilelang" or any("tilelang" in x for x in lines):
                return True
            values = [v for v in list(names.values()) if isinstance(v, type(sys))]
            if any(v.__name__.split(".")[0] == "tilelang" for v in values):
                return True
            if lines:
                return False  # text that exec was given is its caller's
        frame = frame.f_back
    return False


class TvmFinder:
    def find_spec(self, name, path=None, target=None):
        words = name.split(".")
        if words[0] != "tvm" or len(words) > 1 and words[1] not in NAMES:
            return None
        if words == ["tvm"] and not _asked_by_kernels():
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
