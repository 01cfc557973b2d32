"""Which float8 formats the target has."""

from .. import _core
from . import dtype

_of_kernel = _core.builtin("tilelang.determine_fp8_type")


def determine_fp8_type(fp8_format="e4m3"):
    """The 8-bit float of that format: of the target that is compiled for, outside of a kernel of the default one."""
    if not _core.tracing():
        from .._target import determine_target

        found = _core.target(determine_target(None))
        if found["float8_fnuz"]:
            return dtype({"e4m3": "float8_e4m3fnuz", "e5m2": "float8_e5m2fnuz"}[fp8_format])
    return _of_kernel(fp8_format)


def determine_torch_fp8_type(fmt="e4m3"):
    return dtype(determine_fp8_type(fmt)).as_torch()
