"""See tilelang.layout."""

from . import *  # noqa: F401,F403
from . import SwizzleMode  # noqa: F401
