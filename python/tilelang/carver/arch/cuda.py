"""GPUs of NVIDIA."""

from . import driver
from .arch_base import TileDevice

_SMEM = {70: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 120: 99}


class CUDA(TileDevice):
    platform = "CUDA"
    reg_cap = 65536

    def __init__(self, target="cuda"):
        super().__init__(target)
        self.sm_version = max(check_sm_version(self.target.arch or driver._arch()), 0) or 80
        self.compute_capability = self.sm_version
        self.smem_cap = _SMEM.get(self.sm_version, 99) * 1024
        self.max_smem_usage = 2 * self.smem_cap
        self.compute_max_core = driver.get_num_sms()
        self.l2_cache_size_bytes = driver.get_device_attribute(38) or 50 << 20

    def get_avaliable_tensorintrin_shapes(self):
        return [[16, 16]] if self.sm_version >= 70 else []


def check_sm_version(arch):
    """90 of "sm_90a", and -1 of what names no such GPU."""
    digits = arch[3:] if arch.startswith("sm_") else arch
    if digits[-1:].isalpha() and digits[-1:].islower():
        digits = digits[:-1]
    return int(digits) if digits.isdigit() else -1


def is_cuda_arch(arch):
    return isinstance(arch, CUDA)


def is_volta_arch(arch):
    return is_cuda_arch(arch) and 70 <= arch.sm_version < 80


def is_ampere_arch(arch):
    return is_cuda_arch(arch) and 80 <= arch.sm_version < 89


def is_ada_arch(arch):
    return is_cuda_arch(arch) and arch.sm_version == 89


def is_hopper_arch(arch):
    return is_cuda_arch(arch) and 90 <= arch.sm_version < 100


def has_mma_support(arch):
    return is_cuda_arch(arch) and arch.sm_version >= 80
