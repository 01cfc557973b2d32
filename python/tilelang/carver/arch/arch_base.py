"""What all machines have."""

from ..._target import Target, determine_target


class TileDevice:
    platform = "unknown"
    reg_cap = 32768
    smem_cap = 49152
    compute_max_core = 1
    warp_size = 32
    sm_partition = 4
    transaction_size = [32, 128]
    max_smem_usage = 2 * 49152
    bandwidth = [750, 12080]
    l2_cache_size_bytes = 0

    def __init__(self, target="cpu"):
        self.target = Target(determine_target(target))
        self.name = str(self.target)
