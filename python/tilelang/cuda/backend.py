"""CUDA text to code for a target, by nvcc."""

from ..contrib import nvcc
from ..utils.target import determine_target


def tilelang_callback_cuda_compile(code, target, pass_config=None):
    """A cubin, or a fatbin where the target names several architectures."""
    if pass_config:
        raise NotImplementedError("pass_config: text that is compiled by hand goes through no pass")
    target = determine_target(target, return_object=True) if isinstance(target, dict) else target
    places = nvcc._gencode(target)
    if not places:
        places = ["-arch=" + (getattr(target, "arch", "") or "sm_" + nvcc.get_target_arch(
            nvcc.get_target_compute_version(target)))]
    several = any("code=[" in p for p in places)
    return nvcc.compile_cuda(code, "fatbin" if several else "cubin", places)
