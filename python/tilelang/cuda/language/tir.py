"""Calls below the tile level that NVIDIA GPUs alone have."""

from ...language._dialect import of_cuda as _of_cuda, part as _part

_part(__name__, _of_cuda)
