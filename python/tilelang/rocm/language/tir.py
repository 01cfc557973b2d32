"""Calls below the tile level that AMD GPUs alone have."""

from ...language._dialect import of_rocm as _of_rocm, part as _part

_part(__name__, _of_rocm)
