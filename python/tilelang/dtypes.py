"""The dtypes by name, as in tilelang.language."""

from .language import dtype, __getattr__  # noqa: F401
from .language import dtype as AnyDType  # noqa: F401
