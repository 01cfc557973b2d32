"""Launches that begin before their predecessors end."""

from ...language._dialect import part as _part

_part(__name__, ("pdl_",))
