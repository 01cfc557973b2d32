"""See tilelang.layout."""

from . import make_cutlass_metadata_layout  # noqa: F401
