"""Expressions below the tile level: the names of T."""

from .._dialect import make as _make

_VALID_CAST_ROUNDING_MODES = ("", "rn", "rz", "rp", "rm", "rs")

_make(__name__, "common")
