"""See tilelang.layout."""

from . import SwizzleMode  # noqa: F401
