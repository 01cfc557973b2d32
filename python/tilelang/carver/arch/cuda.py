"""GPUs of NVIDIA."""

from ... import _core
from . import driver
from .arch_base import TileDevice


class CUDA(TileDevice):
    platform = "CUDA"

    def __init__(self, target="cuda"):
        super().__init__(target)
        here = "-arch=" not in self.name and "-model=" not in self.name
        if here:
            self.told = self.name + " -arch=" + driver._arch()
        machine = _core.target(self.told)
        self._facts(machine)
        self.sm_version = self.compute_capability = machine["level"]
        self.peak_tflops = 2e-3 * machine["mma_rate"] * machine["units"] * machine["clock_ghz"]
        if here:
            self.compute_max_core = driver.get_num_sms()
            self.l2_cache_size_bytes = driver.get_device_attribute(38) or self.l2_cache_size_bytes

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
