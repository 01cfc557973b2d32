"""tilelang.cuda.language has the names of tilelang.language, the same objects."""

from ... import language as _language
from . import cluster, intrinsics, pdl, random, tir, warpgroup  # noqa: F401


def __getattr__(name):
    return getattr(_language, name)


def __dir__():
    return dir(_language)
