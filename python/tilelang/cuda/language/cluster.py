"""Blocks of a cluster."""

from ...language._dialect import part as _part

_part(__name__, ("cluster_", "block_rank_in_cluster", "clc_",))
