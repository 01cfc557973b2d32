"""See tilelang.intrinsics.mma_layout."""

from .mma_layout import *  # noqa: F401,F403
from .mma_layout import __getattr__, get_mma_micro_size, mma_store_index_map  # noqa: F401
