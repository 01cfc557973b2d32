"""What a machine has: the fields examples read."""

from ..._target import Target, determine_target
from . import driver  # noqa: F401


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


_SMEM = {70: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 120: 99}


class CUDA(TileDevice):
    platform = "CUDA"
    reg_cap = 65536

    def __init__(self, target="cuda"):
        super().__init__(target)
        digits = "".join(c for c in (self.target.arch or driver._arch())[3:] if c.isdigit())
        self.sm_version = self.compute_capability = int(digits or 80)
        self.smem_cap = _SMEM.get(self.sm_version, 99) * 1024
        self.max_smem_usage = 2 * self.smem_cap
        self.compute_max_core = driver.get_num_sms()
        self.l2_cache_size_bytes = 50 << 20

    def get_avaliable_tensorintrin_shapes(self):
        return [[16, 16]] if self.sm_version >= 70 else []


class CPU(TileDevice):
    platform = "CPU"

    def __init__(self, target="cpu"):
        import os

        super().__init__(target)
        self.compute_max_core = os.cpu_count() or 1


def is_cuda_arch(arch):
    return isinstance(arch, CUDA)


def is_cdna_arch(arch):
    return False


def is_cpu_arch(arch):
    return isinstance(arch, CPU)


def is_ampere_arch(arch):
    return is_cuda_arch(arch) and 80 <= arch.sm_version < 90


def is_hopper_arch(arch):
    return is_cuda_arch(arch) and 90 <= arch.sm_version < 100


def is_volta_arch(arch):
    return is_cuda_arch(arch) and 70 <= arch.sm_version < 80


def is_ada_arch(arch):
    return is_cuda_arch(arch) and arch.sm_version == 89


def get_arch(target="cuda"):
    text = determine_target(target)
    return CPU(text) if text.startswith("cpu") else CUDA(text)


def auto_infer_current_arch():
    return get_arch("auto")


class CDNA(TileDevice):
    platform = "CDNA"

    def __init__(self, target="hip"):
        raise NotImplementedError("AMD GPUs are not supported")


RDNA = METAL = CDNA
