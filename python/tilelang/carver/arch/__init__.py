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
        self.smem_cap = 1 << 20  # tiles stay in the second cache of a core
        self.compute_max_core = os.cpu_count() or 1


class CDNA(TileDevice):
    """AMD GPUs."""
    platform = "CDNA"

    def __init__(self, target="hip"):
        super().__init__(target)


class WebGPU(TileDevice):
    platform = "WebGPU"

    def __init__(self, target="webgpu"):
        super().__init__(target)


class RDNA(TileDevice):
    def __init__(self, target="rdna"):
        raise NotImplementedError("%s: there is no such target" % target)


class METAL(TileDevice):
    """Apple's GPUs."""
    platform = "Metal"

    def __init__(self, target="metal"):
        super().__init__(target)


def is_metal_arch(arch):
    return isinstance(arch, METAL)


def is_cdna_arch(arch):
    return isinstance(arch, CDNA)


def is_cpu_arch(arch):
    return isinstance(arch, CPU)


def get_arch(target="cuda"):
    text = determine_target(target)
    kinds = {"cuda": CUDA, "cutedsl": CUDA, "sim": CUDA, "cpu": CPU, "hip": CDNA, "metal": METAL, "webgpu": WebGPU}
    return kinds.get(text.split()[0], TileDevice)(text)


def auto_infer_current_arch():
    return get_arch("auto")
