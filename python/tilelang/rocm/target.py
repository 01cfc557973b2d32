"""Questions about AMD GPUs."""

from ..utils.target import (check_hip_availability, hip_arch, target_is_cdna,  # noqa: F401
                            target_is_hip)

target_is_rocm = target_is_hip


def target_is_rdna(target):
    return target_is_hip(target) and not target_is_cdna(target)


def target_is_gfx950(target):
    return hip_arch(target) == "gfx950"
