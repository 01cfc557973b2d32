"""What all targets have of T."""

from ._dialect import make as _make

_make(__name__, "common")
