"""What all machines have: their target's facts."""

from ... import _core
from ..._target import Target, determine_target


class TileDevice:
    platform = "unknown"
    sm_partition = 4
    transaction_size = [32, 128]

    def __init__(self, target="cpu"):
        self.target = Target(determine_target(target))
        self.name = self.told = str(self.target)
        self._facts(_core.target(self.told))

    def _facts(self, machine):
        self.reg_cap = machine["registers"] or 32768
        self.warp_size = machine["lanes"]
        self.smem_cap = machine["shared_block"]
        self.max_smem_usage = 2 * self.smem_cap
        self.compute_max_core = max(machine["units"], 1)
        self.l2_cache_size_bytes = machine["cache_bytes"]
        self.bandwidth = [machine["memory_gbs"] or 750, 12080]
