"""See tilelang.autotuner."""

from . import get_autotune_inputs, set_autotune_inputs  # noqa: F401
