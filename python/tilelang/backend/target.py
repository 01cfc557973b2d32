"""See tilelang.utils.target."""

from ..utils.target import *  # noqa: F401,F403
from ..utils.target import determine_target  # noqa: F401
