"""tilelang.analysis: nothing of it is here."""

from .._refused import names_of

__getattr__ = names_of(__name__)
