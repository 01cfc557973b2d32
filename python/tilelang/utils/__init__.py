"""Small helpers around arrays, targets and devices."""

from .._refused import refusal
from .tensor import TensorSupplyType, map_torch_type, torch_assert_close  # noqa: F401
from .target import determine_target  # noqa: F401


def __getattr__(name):
    if name == "determine_fp8_type":  # where it was before
        from ..language.fp8 import determine_fp8_type

        return determine_fp8_type
    raise refusal(__name__, name)
