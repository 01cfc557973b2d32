"""See tilelang.intrinsics."""

from ...intrinsics import *  # noqa: F401,F403
from ...intrinsics import __getattr__  # noqa: F401
