"""tilelang.language.dtypes"""

import sys

from . import __getattr__ as _language, _TYPES as _all_dtypes, dtype  # noqa: F401


def _torch_names():
    """torch's dtypes -> names, for those torch has."""
    torch = sys.modules.get("torch")
    return {getattr(torch, n): n for n in _all_dtypes if hasattr(torch, n)} if torch else {}


def resolve_torch_storage_dtype(name):
    """The dtype whose elements torch stores for it."""
    import torch

    fp4 = "float4_e2m1fnx2" if hasattr(torch, "float4_e2m1fn_x2") else "int8"
    stored = {"int4": "int8", "uint4": "uint8", "float4_e2m1fn": fp4}
    return dtype(stored.get(str(name), name))


def __getattr__(name):
    if name == "_TORCH_DTYPE_TO_STR":
        return _torch_names()
    return _language(name)
