"""Work of some warps."""

from ...language._dialect import part as _part

_part(__name__, ("ws", "WarpSpecialize", "warpgroup_",))
