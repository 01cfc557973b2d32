"""Hints for what has a template."""

from .arch import has_mma_support
from .roller.policy import DefaultPolicy


def get_roller_hints_from_func(func_or_module, arch, topk=10, tensorcore_only=False,
                               allow_gemv=False):
    """Hints of a template; the compiler finds products inside of functions by itself."""
    if not hasattr(func_or_module, "recommend_hints"):
        raise NotImplementedError("hints are made for the templates of tilelang.carver, not for %s"
                                  % type(func_or_module).__name__)
    if tensorcore_only and not has_mma_support(arch):
        raise ValueError("tensorcore_only=True: %s has no matrix instructions" % arch.platform)
    if allow_gemv:
        raise NotImplementedError("allow_gemv=True: hints for products by vectors use no matrix "
                                  "instructions")
    return DefaultPolicy(func_or_module, arch).emit_config(topk)


def get_roller_hints_from_output_nodes(output_nodes, arch, topk=10, extra_tags=None):
    return DefaultPolicy.from_output_nodes(output_nodes, arch, extra_tags).emit_config(topk)
