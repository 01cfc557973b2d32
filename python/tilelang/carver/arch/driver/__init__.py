"""Questions to the GPU of this machine."""

from .cuda_driver import *  # noqa: F401,F403
from .cuda_driver import _arch  # noqa: F401
