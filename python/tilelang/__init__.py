"""TileLang: kernels written as tiles, compiled for CPUs and GPUs."""

from . import _beside, _core

_beside.warn()
__version__ = _core.version
build_date = ""

from . import language  # noqa: E402
from ._errors import IgnoredWarning, SlowWarning, TileLangError  # noqa: E402
from .env import disable_cache, enable_cache, env, is_cache_enabled  # noqa: E402
from . import _finder  # noqa: E402
from .jit import JITKernel, compile, compile_async, jit, par_compile, wait  # noqa: E402

from .tensor import TensorProgram, grad, tensor_program, value_and_grad  # noqa: E402

inf = float("inf")
nan = float("nan")

_finder.install()

_LAZY = {
    "Profiler": "profiler",
    "do_bench": "profiler",
    "TensorSupplyType": "utils.tensor",
    "autotune": "autotuner",
    "AutoTuner": "autotuner",
    "PassConfigKey": "transform",
    "Layout": "layout",
    "Fragment": "layout",
    "lower": "engine",
    "register_cuda_postproc": "engine",
    "register_hip_postproc": "engine",
    "register_c_postproc": "engine",
    "register_metal_postproc": "engine",
    "register_cuda_postproc_callback": "engine",
    "register_hip_postproc_callback": "engine",
    "register_c_postproc_callback": "engine",
    "register_metal_postproc_callback": "engine",
    "set_log_level": "_log",
    "deprecated": "_log",
    "next_power_of_2": "math",
    "cdiv": "math",
    "DataType": "tvm",
    "get_runtime_library_dirs": "env",
}
_MODULES = (
    "analysis autotuner cache carver contrib cpu cuda dtypes engine intrinsics ir language layout "
    "math metal profiler quantize rocm testing tileop tools transform tvm utils webgpu backend"
).split()


def __getattr__(name):
    import importlib

    if name == "Carver":
        name = "carver"
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _LAZY:
        found = getattr(importlib.import_module("." + _LAZY[name], __name__), name)
        if isinstance(found, type(importlib)):  # imported beside the function of its name
            found = getattr(found, name)
        globals()[name] = found
        return found
    row = _core.builtin("tilelang." + name)
    if row is not None:
        return row
    raise AttributeError("module 'tilelang' has no attribute %r" % name)


def __dir__():
    return sorted(set(globals()) | set(_LAZY) | set(_MODULES))
