"""tilelang.tileop.base"""

from . import GemmWarpPolicy  # noqa: F401
