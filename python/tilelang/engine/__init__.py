"""tilelang.lower: the emitted text and what a launch needs, without running anything."""

import re

from ..jit import _finish


class _Name(str):
    """A kernel's name where the original has a GlobalVar."""

    name_hint = property(str)


class _Module(str):
    """IR as text; `functions` are the kernels of the emitted text, by name."""

    functions = {}


def _module(kernel, source):
    module = _Module(kernel.get_ir())
    names = re.findall(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)", source)
    module.functions = {_Name(name): source for name in names}
    return module


class CompiledArtifact:
    """What lower gives: kernel_source, params, target, and IR text as host and device modules."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.kernel_source = kernel.get_kernel_source()
        self.params = kernel.params
        self.target = kernel.target
        self.target_host = "c"
        self.device_mod = _module(kernel, self.kernel_source)
        self.host_mod = kernel.get_ir()
        self.rt_mod = kernel


def lower(func_or_mod, target="auto", target_host=None, runtime_only=False,
          enable_host_codegen=False, enable_device_compile=False):
    """Lower and emit a @T.prim_func."""
    kernel, _ = _finish(func_or_mod, func_or_mod._take, func_or_mod.attrs.get("tilelang_out_idx"),
                        target, func_or_mod.attrs.get("tilelang_pass_configs"), None,
                        func_or_mod.__name__, no_build=not enable_device_compile)
    return CompiledArtifact(kernel)


def extrac_params(func):
    """The parameters of a @T.prim_func."""
    return func.params


def _refuse(name):
    def register(*args, **keys):
        raise NotImplementedError(
            "tilelang.%s is not supported: emitted text is not changed by hooks; use "
            "T.import_source for text of your own" % name
        )

    register.__name__ = name
    return register


for _kind in ("cuda", "hip", "c", "metal"):
    for _tail in ("", "_callback"):
        _name = "register_%s_postproc%s" % (_kind, _tail)
        globals()[_name] = _refuse(_name)
