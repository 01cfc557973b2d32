"""What a machine has: the fields examples read."""

from ..._target import determine_target
from . import driver  # noqa: F401
from .arch_base import TileDevice
from .cuda import (CUDA, has_mma_support, is_ada_arch, is_ampere_arch,  # noqa: F401
                   is_cuda_arch, is_hopper_arch, is_volta_arch)


class CPU(TileDevice):
    platform = "CPU"

    def __init__(self, target="cpu"):
        import os

        super().__init__(target)
        self.compute_max_core = os.cpu_count() or 1


def is_cdna_arch(arch):
    return isinstance(arch, CDNA)


def is_cpu_arch(arch):
    return isinstance(arch, CPU)


def get_arch(target="cuda"):
    text = determine_target(target)
    return CPU(text) if text.startswith("cpu") else CUDA(text)


def auto_infer_current_arch():
    return get_arch("auto")


class CDNA(TileDevice):
    platform = "CDNA"

    def __init__(self, target="hip"):
        raise NotImplementedError("%s: AMD GPUs are not supported" % target)


RDNA = METAL = CDNA
