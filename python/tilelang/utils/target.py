"""Which target, and what kind of machine it is."""

from .. import _core
from .._target import Target, determine_target, device_arch, has_gpu  # noqa: F401

AVALIABLE_TARGETS = SUPPORTED_TARGETS = {
    "auto": "the GPU of this machine, else the CPU",
    **{name: doc for name, doc, words in _core.target_table()},
    "c": "the same as cpu",
    "llvm": "the same as cpu",
    "sim": "a kernel lowered for a GPU, run by the simulator",
}


def check_cuda_availability():
    return has_gpu()


def check_hip_availability():
    return False


def check_metal_availability():
    return False


def _word(target):
    """The first word of a target, be it one of ours or not."""
    return (str(Target(target)).lower().split() or ["auto"])[0]


def _kind(target):
    return str(determine_target(target)).split()[0]


def target_is_cuda(target):
    return _kind(target) in ("cuda", "sim")


def target_is_hip(target):
    return _word(target) in ("hip", "rocm")


def target_is_c(target):
    return _kind(target) == "cpu"


def _arch(target):
    text = Target(determine_target(target))
    arch = text.arch or device_arch() or "sm_80"
    return int("".join(c for c in arch[3:] if c.isdigit()))


def target_get_compute_version(target):
    return _arch(target)


def target_has_async_copy(target):
    return target_is_cuda(target) and _arch(target) >= 80


def target_has_ldmatrix(target):
    return target_is_cuda(target) and _arch(target) >= 75


def target_is_hopper(target):
    return target_is_cuda(target) and 90 <= _arch(target) < 100


def target_is_ampere(target):
    return target_is_cuda(target) and 80 <= _arch(target) < 90


def hip_arch(target):
    """Of -mcpu=, of the product, or what is built for where nothing is said; "" of another vendor's."""
    return _core.target(str(Target(target)))["arch"] if target_is_hip(target) else ""


def target_is_cdna(target):
    return hip_arch(target).startswith("gfx9")
