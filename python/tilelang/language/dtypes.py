"""tilelang.language.dtypes"""

from . import __getattr__ as _language, _TYPES as _all_dtypes, dtype  # noqa: F401


def __getattr__(name):
    return _language(name)
