"""Hints for what has a template."""

from .roller.policy import DefaultPolicy


def get_roller_hints_from_func(func_or_module, arch, topk=10, tensorcore_only=False,
                               allow_gemv=False):
    """Hints of a template; the compiler finds products inside of functions by itself."""
    if not hasattr(func_or_module, "recommend_hints"):
        raise NotImplementedError("hints are made for the templates of tilelang.carver, not for %s"
                                  % type(func_or_module).__name__)
    return DefaultPolicy(func_or_module, arch).emit_config(topk)


def get_roller_hints_from_output_nodes(output_nodes, arch, topk=10, extra_tags=None):
    return DefaultPolicy.from_output_nodes(output_nodes, arch).emit_config(topk)
