"""See tilelang.intrinsics.mma_layout."""

from .mma_layout import *  # noqa: F401,F403
from .mma_layout import __getattr__, get_mma_micro_size, mma_store_index_map  # noqa: F401


def index_to_coordinates(index, shape):
    """The coordinates of an element by its number, rows first; numbers or expressions."""
    found = []
    for extent in reversed(list(shape)):
        found.insert(0, index % extent)
        index = index // extent
    return found
