"""Tuning: spaces of configurations, a cost model, searches, and a library of what was measured."""

from .library import Library, LibraryError
from .search import Search
from .space import Space

__all__ = ["Library", "LibraryError", "Search", "Space"]
