"""See tilelang.transform."""

from . import simplify_prim_func  # noqa: F401

apply_simplify = simplify_prim_func
