"""See tilelang.carver.roller."""

from . import NoRasterization, Rasterization2DColumn, Rasterization2DRow  # noqa: F401
