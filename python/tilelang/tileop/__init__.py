"""tilelang.tileop"""

from ..language import __getattr__ as _language

GemmWarpPolicy = _language("GemmWarpPolicy")
