"""See tilelang.carver.roller."""

from . import Hint  # noqa: F401
