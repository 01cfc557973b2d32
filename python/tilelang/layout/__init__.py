"""tilelang.layout: maps from a tile's indices to storage."""

import enum as _enum

from .. import _core
from .._refused import names_of
from ..language import __getattr__ as _language

_NAMES = [r[0][7:] for r in _core.rows() if r[0].startswith("layout.")]
for _name in _NAMES:
    globals()[_name] = _core.builtin("layout." + _name)
Layout = _language("Layout")
Fragment = _language("Fragment")


class SwizzleMode(_enum.IntEnum):
    """How bulk copies and matrix instructions exchange pieces of 16 bytes; the value is the span."""

    NONE = 0
    SWIZZLE_32B = 32
    SWIZZLE_64B = 64
    SWIZZLE_128B = 128

    def is_none(self):
        return self is SwizzleMode.NONE

    def is_swizzle_32b(self):
        return self is SwizzleMode.SWIZZLE_32B

    def is_swizzle_64b(self):
        return self is SwizzleMode.SWIZZLE_64B

    def is_swizzle_128b(self):
        return self is SwizzleMode.SWIZZLE_128B

    def swizzle_byte_size(self):
        return int(self)

    def swizzle_atom_size(self):
        return int(self) // 16 or 1

    def wgmma_layout_type(self):
        """The number in a descriptor of wgmma."""
        return {0: 0, 32: 3, 64: 2, 128: 1}[self.value]

    def tcgen05_layout_type(self):
        return {0: 0, 32: 6, 64: 4, 128: 2}[self.value]

    def smem_alignment(self):
        return {0: 128, 32: 256, 64: 512, 128: 1024}[self.value]

    @staticmethod
    def from_ordinal(ordinal):
        return list(SwizzleMode)[ordinal]


__getattr__ = names_of(__name__, cute="")
