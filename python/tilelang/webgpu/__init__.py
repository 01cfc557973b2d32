"""tilelang.webgpu: the language of that target."""

from .._refused import names_of

__getattr__ = names_of(__name__, language="")
