"""See tilelang.layout."""

from . import Fragment, Layout  # noqa: F401
