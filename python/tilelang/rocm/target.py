"""Questions about AMD GPUs, which there are none of here."""

from ..utils.target import (Target, check_hip_availability, target_is_cdna,  # noqa: F401
                            target_is_hip)

target_is_rocm = target_is_hip


def target_is_rdna(target):
    return target_is_hip(target) and not target_is_cdna(target)


def target_is_gfx950(target):
    return Target(target).arch == "gfx950"
