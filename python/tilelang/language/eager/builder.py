"""See tilelang.language.eager."""

from . import *  # noqa: F401,F403
from . import EagerJITBuildError, JITNoBuilderError, macro, prim_func  # noqa: F401
