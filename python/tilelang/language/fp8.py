"""Which float8 formats the target has."""

from .. import _core
from . import dtype

determine_fp8_type = _core.builtin("tilelang.determine_fp8_type")


def determine_torch_fp8_type(fmt="e4m3"):
    return dtype(determine_fp8_type(fmt)).as_torch()
