"""See tilelang.layout."""

from . import Layout  # noqa: F401
