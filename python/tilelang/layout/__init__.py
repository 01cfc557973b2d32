"""tilelang.layout: maps from a tile's indices to storage."""

import enum as _enum

from .. import _core
from ..language import __getattr__ as _language

_NAMES = [r[0][7:] for r in _core.rows() if r[0].startswith("layout.")]
for _name in _NAMES:
    globals()[_name] = _core.builtin("layout." + _name)
Layout = _language("Layout")
Fragment = _language("Fragment")


class SwizzleMode(_enum.IntEnum):
    NONE = 0
    SWIZZLE_32B = 32
    SWIZZLE_64B = 64
    SWIZZLE_128B = 128


def __getattr__(name):
    raise AttributeError("tilelang.layout has nothing called %r" % name)
