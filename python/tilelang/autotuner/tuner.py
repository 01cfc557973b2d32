"""Where the original keeps AutoTuner."""

from . import *  # noqa: F401,F403
from . import AutoTuner, autotune  # noqa: F401
