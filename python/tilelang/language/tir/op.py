"""Expressions and calls below the tile level, as far as all targets have them."""

from .._dialect import make as _make

_make(__name__, "common")
