"""See tilelang.intrinsics.mma_layout."""

from ....intrinsics.mma_layout import *  # noqa: F401,F403
from ....intrinsics.mma_layout import __getattr__  # noqa: F401
