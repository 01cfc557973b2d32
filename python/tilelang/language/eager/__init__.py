"""Names that kernels written for the original's internals import."""

from ..._errors import EagerJITBuildError, JITNoBuilderError  # noqa: F401
from .. import Macro, PrimFunc, macro, prim_func  # noqa: F401

const = None


def __getattr__(name):
    from .. import __getattr__ as language

    return language(name)


del const
