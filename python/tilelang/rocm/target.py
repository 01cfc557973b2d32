"""Questions about AMD GPUs, which there are none of here."""

from ..utils.target import check_hip_availability  # noqa: F401


def target_is_rocm(target):
    return False


target_is_hip = target_is_cdna = target_is_rdna = target_is_gfx950 = target_is_rocm
