"""tilelang.contrib: what finds and runs compilers."""

from .._refused import names_of
from . import nvcc  # noqa: F401

__getattr__ = names_of(__name__)
