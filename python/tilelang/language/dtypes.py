"""tilelang.language.dtypes"""

import sys

from . import __getattr__ as _language, _TYPES as _all_dtypes, dtype  # noqa: F401


def _torch_names():
    """torch's dtypes -> names, for those torch has."""
    torch = sys.modules.get("torch")
    return {getattr(torch, n): n for n in _all_dtypes if hasattr(torch, n)} if torch else {}


def resolve_torch_storage_dtype(name):
    """The dtype whose elements torch stores for it."""
    return {"int4": dtype("int8"), "uint4": dtype("uint8")}.get(str(name), dtype(name))


def __getattr__(name):
    if name == "_TORCH_DTYPE_TO_STR":
        return _torch_names()
    return _language(name)
